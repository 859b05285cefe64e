# sdk/agentlink
