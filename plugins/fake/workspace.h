/* workspace.h - the two halves of the group `workspace`. */
#ifndef BERTH_FAKE_WORKSPACE_H
#define BERTH_FAKE_WORKSPACE_H

#include "plugins/fake/fake.h"

#define FAKE_WORKSPACE "/workspace"

int fake_import (struct berth_call *call, struct berth_handle *handle, const struct berth_tar_limits *limits,
                 const struct berth_source *source);

#endif
