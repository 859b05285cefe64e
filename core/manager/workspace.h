/* workspace.h - the workspace as a whole, out and in as a tar, within limits of the host's own. */
#ifndef CORE_MANAGER_WORKSPACE_H
#define CORE_MANAGER_WORKSPACE_H

#include "core/manager/transfer.h"

/* *BYTES: how many went through, also when it fails. */
int berth_workspace_export_within (struct berth_sandbox *sandbox, const struct berth_tar_limits *limits,
                                   struct berth_cancel *cancel, berth_byte_sink *sink, void *context,
                                   struct berth_tar_report *report, uint64_t *bytes, struct berth_error *error);
int berth_workspace_import_within (struct berth_sandbox *sandbox, const struct berth_tar_limits *limits,
                                   struct berth_cancel *cancel, berth_byte_source *source, void *context,
                                   uint64_t *bytes, struct berth_error *error);

#endif
