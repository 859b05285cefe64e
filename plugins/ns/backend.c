/* backend.c - the table of the `ns` backend: Linux namespaces, no daemon. */
#include <sys/utsname.h>
#include <unistd.h>

#include "plugins/ns/ns.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/string.h"

static int
tell_ids (struct berth_call *call, const struct berth_state *state, const struct berth_text_sink *facts)
{
  BERTH_AUTO_FREE char *text = NULL;
  struct ns_range range;
  char why[256];

  if (!ns_is_ordinary_user ())
    text = berth_string_format ("user ids from %u on, 65536 for each sandbox", state->id_base);
  else
    {
      BERTH_AUTO_FD int space = ns_users_find (call, state, &range, why, sizeof why);
      if (space < 0 && state->uid_map == NS_UID_MAP_RANGE)
        return call->services->fail (call, BERTH_E_CONFIGURATION, "a range of user ids cannot be had: %s", why);
      text = space >= 0 ? berth_string_format ("user ids from %u on, groups from %u on", range.uid, range.gid)
                        : berth_string_format ("one user id, the caller's own: %s", why);
    }
  if (text == NULL)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no memory");
  return facts->text (facts->context, text);
}

static int
ns_ping (struct berth_call *call, struct berth_state *state, const struct berth_text_sink *facts)
{
  NS_AUTO_HIERARCHIES struct ns_hierarchies hierarchies = { 0 };
  BERTH_AUTO_FREE char *text = NULL;
  struct utsname machine;

  if (ns_ids_check (call, state) < 0)
    return -1;
  const char *agent = call->services->agent_path (call->instance, NULL);
  if (agent == NULL || access (agent, X_OK) != 0)
    {
      call->services->fail (call, BERTH_E_UNREACHABLE, "the agent %s cannot be executed: %m",
                            agent != NULL ? agent : "of this machine");
      call->services->hint (call, "install Berth completely, or set BERTH_AGENT");
      return -1;
    }
  uname (&machine);
  if (ns_hierarchies_find (state, &hierarchies) < 0)
    return call->services->fail (call, BERTH_E_INTERNAL, "cannot read /proc/self/mountinfo: %m");
  int version = ns_hierarchies_limiting (&hierarchies);
  text = berth_string_format ("Linux %s, cgroup %s", machine.release,
                              version == 2   ? "v2"
                              : version == 1 ? "v1"
                                             : "not there: no limit on cpu, memory and pids");
  if (text == NULL)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no memory");
  return facts->text (facts->context, text) < 0 ? -1 : tell_ids (call, state, facts);
}

static const struct berth_lifecycle_ops lifecycle = {
  .struct_size = sizeof lifecycle,
  .open = ns_open,
  .close = ns_close,
  .ping = ns_ping,
  .validate = ns_validate,
  .create = ns_create,
  .connect = ns_connect,
  .release = ns_release,
  .destroy = ns_destroy,
  .list_ids = ns_list_ids,
  .is_running = ns_is_running,
};

static const struct berth_probe_ops probe = {
  .struct_size = sizeof probe,
  .probe = ns_probe,
};

static const struct berth_inventory_ops inventory = {
  .struct_size = sizeof inventory,
  .list_page = ns_list_page,
  .describe = ns_describe,
};

static const struct berth_expiry_ops expiry = {
  .struct_size = sizeof expiry,
  .renew = ns_renew,
  .expires_at = ns_expires_at,
};

static const struct berth_correlation_ops correlation = {
  .struct_size = sizeof correlation,
  .find_by_assignment = ns_find_by_assignment,
};

static const struct berth_pause_ops pause_group = {
  .struct_size = sizeof pause_group,
  .pause = ns_pause,
  .resume = ns_resume,
};

static const struct berth_restart_ops restart = {
  .struct_size = sizeof restart,
  .stop = ns_stop,
  .start = ns_start,
};

static const struct berth_claim claims[] = {
  { .when = "always", .tier = BERTH_TIER_CONTAINER },
};

static const struct berth_backend backend = {
  .abi = { BERTH_ABI_MAGIC, sizeof backend, BERTH_ABI_MAJOR, BERTH_ABI_MINOR, 0 },
  .name = "ns",
  .version = "0.1.0",
  .summary = "Linux namespaces on this machine's own root file system, without a daemon",
  .capabilities = NS_CAPABILITIES,
  .concurrency = BERTH_PARALLEL,
  .claims = BERTH_ARRAY (claims),
  .settings = { ns_settings, NS_SETTING_COUNT, sizeof *ns_settings },
  .lifecycle = &lifecycle,
  .commands = &agentlink_commands,
  .files = &agentlink_files,
  .workspace = &ns_workspace,
  .probe = &probe,
  .inventory = &inventory,
  .expiry = &expiry,
  .correlation = &correlation,
  .pause = &pause_group,
  .restart = &restart,
  .network = &ns_network,
};

const struct berth_backend *
berth_backend_v1 (const struct berth_services *services)
{
  return services != NULL ? &backend : NULL;
}
