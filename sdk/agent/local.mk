# sdk/agent
