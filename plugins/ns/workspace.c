/* workspace.c - stands in until agentlink carries the workspace; its table then wins. */
#include "plugins/ns/ns.h"

static int
refuse (struct berth_call *call)
{
  return call->services->fail (call, BERTH_E_CAPABILITY_NOT_SUPPORTED, "the workspace cannot be carried yet");
}

static int
export_tar (struct berth_call *call, struct berth_handle *handle, const struct berth_tar_limits *limits,
            const struct berth_tar_sink *sink)
{
  return refuse (call);
}

static int
import_tar (struct berth_call *call, struct berth_handle *handle, const struct berth_tar_limits *limits,
            const struct berth_source *source)
{
  return refuse (call);
}

__attribute__ ((weak)) const struct berth_workspace_ops agentlink_workspace
    = { .struct_size = sizeof agentlink_workspace, .export_tar = export_tar, .import_tar = import_tar };
