/* backend.c - the table of the `fake` backend: it executes nothing and is for tests only.
 *
 * The files `faults`, `clock` and `script` of an instance's state directory go before the settings
 * of these names and are read each time, so that a test can change them while the instance is
 * open.  What the settings hold is said in faults.c and script.c. */
#include "config.h"

#include "plugins/fake/fake.h"

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
  .capabilities = BERTH_CAP_PROBE | BERTH_CAP_INVENTORY | BERTH_CAP_EXPIRY | BERTH_CAP_CORRELATED_CREATE
                  | BERTH_CAP_PAUSE | BERTH_CAP_RESTART | BERTH_CAP_NETWORK_POLICY | BERTH_CAP_NETWORK_RULES
                  | BERTH_CAP_NETWORK_UPDATE | BERTH_CAP_EGRESS_CREDENTIALS | BERTH_CAP_WORKSPACE_VOLUME
                  | BERTH_CAP_FILE_WATCH | BERTH_CAP_GPU,
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
  .network = &fake_network,
  .network_update = &fake_network_update,
  .credentials = &fake_credentials,
  .volumes = &fake_volumes,
  .watch = &fake_watch,
};

const struct berth_backend *
berth_backend_v1 (const struct berth_services *services)
{
  return services != NULL ? &backend : NULL;
}
