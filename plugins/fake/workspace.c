/* workspace.c - the group `workspace`. */
#include "plugins/fake/fake.h"

static int
fake_export (struct berth_call *call, struct berth_handle *handle, const struct berth_tar_limits *limits,
             const struct berth_tar_sink *sink)
{
  return call->services->fail (call, BERTH_E_CAPABILITY_NOT_SUPPORTED, "the fake backend has no archives");
}

static int
fake_import (struct berth_call *call, struct berth_handle *handle, const struct berth_tar_limits *limits,
             const struct berth_source *source)
{
  return call->services->fail (call, BERTH_E_CAPABILITY_NOT_SUPPORTED, "the fake backend has no archives");
}

const struct berth_workspace_ops fake_workspace = {
  .struct_size = sizeof fake_workspace,
  .export_tar = fake_export,
  .import_tar = fake_import,
};
