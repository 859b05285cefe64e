#include "conformance/plain/plain.h"

static const struct berth_backend backend = {
  .abi = { BERTH_ABI_MAGIC, sizeof backend, BERTH_ABI_MAJOR, BERTH_ABI_MINOR, 0 },
  .name = "plain",
  .version = "1",
  .summary = "the agent without isolation, for tests only",
  .capabilities = PLAIN_CAPABILITIES,
  .concurrency = BERTH_PARALLEL,
  .lifecycle = &plain_lifecycle,
  .commands = &agentlink_commands,
  .files = &agentlink_files,
  .workspace = &agentlink_workspace,
  .probe = &plain_probe,
  .expiry = &plain_expiry,
};

const struct berth_backend *
berth_backend_v1 (const struct berth_services *services)
{
  (void) services;
  return &backend;
}
