/* backend.c - the table of the `fake` backend: it executes nothing and is for tests only.
 *
 * The files `faults`, `clock` and `script` of an instance's state directory go before the settings
 * of these names and are read each time, so that a test can change them while the instance is
 * open.  What the settings hold is said in faults.c and script.c. */
#include "config.h"

#include "plugins/fake/fake.h"

/* Everything there is but what is reserved, and what every backend has. */
#define FAKE_CAPABILITIES ((BERTH_CAP_GPU << 1) - BERTH_CAP_PROBE)

static const struct berth_setting settings[] = {
  { "faults", "BERTH_FAKE_FAULTS", NULL, "What goes wrong: POINT=ACTION[:ARGUMENT], separated by commas.", NULL,
    BERTH_SETTING_TEXT, 0 },
  { "clock", "BERTH_FAKE_CLOCK", "real", "`real`, or a file that holds the time in milliseconds.", NULL,
    BERTH_SETTING_TEXT, 0 },
  { "script", "BERTH_FAKE_SCRIPT", NULL, "A JSON file that says what commands print and how they end.", NULL,
    BERTH_SETTING_PATH, 0 },
  { "capabilities", "BERTH_FAKE_CAPABILITIES", "all", "The capabilities that sandboxes have: `all`, `none` or names.",
    NULL, BERTH_SETTING_TEXT, 0 },
  { "unenforced", "BERTH_FAKE_UNENFORCED", NULL, "Limits that cannot be enforced, such as `pids,disk`.", NULL,
    BERTH_SETTING_TEXT, 0 },
  { "tier", "BERTH_FAKE_TIER", "container", "The isolation tier that it answers.", "container|unknown",
    BERTH_SETTING_CHOICE, 0 },
  { "gpu", "BERTH_FAKE_GPU", NULL, "The model of the GPU that there is.", NULL, BERTH_SETTING_TEXT, 0 },
  { "volumes", "BERTH_FAKE_VOLUMES", NULL, "The names of the workspace volumes that there are.", NULL,
    BERTH_SETTING_TEXT, 0 },
  { "price", "BERTH_FAKE_PRICE", "1", "Millionths of a euro that a second of a sandbox costs.", NULL,
    BERTH_SETTING_INTEGER, 0 },
  { "require_private", "BERTH_FAKE_REQUIRE_PRIVATE", "false",
    "Refuse calls that do not show the private data of a sandbox.", NULL, BERTH_SETTING_BOOLEAN, 0 },
};

static const struct berth_claim claims[] = {
  { "always: nothing is executed", NULL, NULL, BERTH_TIER_CONTAINER, 0 },
};

static const struct berth_backend backend = {
  .abi = { BERTH_ABI_MAGIC, sizeof backend, BERTH_ABI_MAJOR, BERTH_ABI_MINOR, 0 },
  .name = "fake",
  .version = PACKAGE_VERSION,
  .summary = "Scripted sandboxes that execute nothing, for tests",
  .capabilities = FAKE_CAPABILITIES,
  .flags = BERTH_BACKEND_EXECUTES_NOTHING,
  .concurrency = BERTH_PARALLEL,
  .claims = BERTH_ARRAY (claims),
  .settings = BERTH_ARRAY (settings),
  .lifecycle = &fake_lifecycle,
  .commands = &fake_commands,
  .files = &fake_files,
  .workspace = &fake_workspace,
  .probe = &fake_probe,
  .inventory = &fake_inventory,
  .expiry = &fake_expiry,
  .correlation = &fake_correlation,
  .pause = &fake_pause,
  .restart = &fake_restart,
  .processes = &fake_processes,
  .dial = &fake_dial,
  .endpoints = &fake_endpoints,
  .signing = &fake_signing,
  .network = &fake_network,
  .network_update = &fake_network_update,
  .credentials = &fake_credentials,
  .isolated = &fake_isolated,
  .recovery = &fake_recovery,
  .pool = &fake_pool,
  .snapshots = &fake_snapshots,
  .fork = &fake_fork,
  .code = &fake_code,
  .contexts = &fake_contexts,
  .volumes = &fake_volumes,
  .metrics = &fake_metrics,
  .diagnostics = &fake_diagnostics,
  .watch = &fake_watch,
  .costs = &fake_costs,
  .native = &fake_native,
};

const struct berth_backend *
berth_backend_v1 (const struct berth_services *services)
{
  return services != NULL ? &backend : NULL;
}
