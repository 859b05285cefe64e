#include "core/manager/audit.h"
#include "core/manager/workspace.h"

#include "core/manager/still.h"
#include "core/manager/transfer.h"

int
berth_workspace_export_within (struct berth_sandbox *sandbox, const struct berth_tar_limits *limits,
                               struct berth_cancel *cancel, berth_byte_sink *sink, void *context,
                               struct berth_tar_report *report, uint64_t *bytes, struct berth_error *error)
{
  struct berth_manager_call call;
  struct berth_handle *handle = NULL;
  struct berth_outflow flow = { .call = &call.host, .sink = sink, .context = context, .report = report };
  struct berth_tar_sink out
      = { .struct_size = sizeof out, .context = &flow, .data = berth_outflow_data, .report = berth_outflow_report };

  struct berth_still_patience patience = { 0 };
  int result;

  do
    {
      if (berth_data_begin_within (&call, sandbox, cancel, BERTH_NO_DEADLINE, &handle, error) != 0)
        return -1;
      result = berth_call_backend (&call)->workspace->export_tar (&call.host.call, handle, limits, &out);
      if (result == 0 && flow.reports != 1)
        result = berth_host_call_fail (&call.host, BERTH_E_INTERNAL, "the backend did not say that the tar is complete");
      result = berth_call_end (&call, result, error);
    }
  while (result != 0 && flow.taken == 0 && (limits->asks & BERTH_TAR_FROZEN) == 0
         && berth_still_wait (&patience, sandbox, call.code, cancel, error));
  *bytes = flow.taken;
  return result;
}

int
berth_workspace_import_within (struct berth_sandbox *sandbox, const struct berth_tar_limits *limits,
                               struct berth_cancel *cancel, berth_byte_source *source, void *context, uint64_t *bytes,
                               struct berth_error *error)
{
  struct berth_manager_call call;
  struct berth_handle *handle = NULL;

  struct berth_inflow flow = { .call = &call.host,
                               .source = source,
                               .context = context,
                               .size = BERTH_UNKNOWN_SIZE,
                               .limit = limits->max_bytes };
  struct berth_source in
      = { .struct_size = sizeof in, .context = &flow, .size = BERTH_UNKNOWN_SIZE, .read = berth_inflow_read };
  struct berth_still_patience patience = { 0 };
  int result;

  do
    {
      result = berth_data_begin_within (&call, sandbox, cancel, BERTH_NO_DEADLINE, &handle, error);
      if (result != 0)
        break;
      result = berth_call_end (&call, berth_call_backend (&call)->workspace->import_tar (&call.host.call, handle, limits, &in),
                               error);
    }
  while (result != 0 && berth_inflow_rewind (&flow) && berth_still_wait (&patience, sandbox, call.code, cancel, error));
  berth_inflow_clear (&flow);
  *bytes = flow.given;
  return result;
}

static int
make_limits (const struct berth_sandbox *sandbox, const struct berth_workspace_options *options,
             struct berth_workspace_options *ours, struct berth_tar_limits *limits, struct berth_error *error)
{
  const struct berth_limits *all = &sandbox->host->limits;
  int64_t most = 0;

  *ours = (struct berth_workspace_options) BERTH_WORKSPACE_OPTIONS_INIT;
  if (berth_options_take (ours, options, error) != 0
      || berth_limit_apply ("workspace", ours->max_bytes, all->default_workspace, all->max_workspace, &most, error) != 0)
    return -1;
  *limits = (struct berth_tar_limits) { .struct_size = sizeof *limits,
                                        .max_bytes = (uint64_t) most,
                                        .max_entries = (uint64_t) all->max_entries };
  return 0;
}

static int
export_all (struct berth_sandbox *sandbox, const struct berth_workspace_options *options,
            int (*sink) (void *context, const void *bytes, size_t size), void *context,
            struct berth_tar_report *report, uint64_t *bytes, struct berth_error *error)
{
  BERTH_AUTO_USE struct berth_use use = BERTH_USE_NONE;
  struct berth_workspace_options ours;
  struct berth_tar_limits limits;

  if (make_limits (sandbox, options, &ours, &limits, error) != 0
      || berth_use_begin (sandbox, ours.cancel, &use, error) != 0)
    return -1;
  return berth_workspace_export_within (sandbox, &limits, ours.cancel, sink, context, report, bytes, error);
}

int
berth_workspace_export (struct berth_sandbox *sandbox, const struct berth_workspace_options *options,
                        int (*sink) (void *context, const void *bytes, size_t size), void *context,
                        struct berth_tar_report *report, struct berth_error *error)
{
  struct berth_audit audit = { 0 };

  if (berth_audit_begin (&audit, sandbox->host, "workspace.export", sandbox, &error) != 0)
    return -1;
  return berth_audit_end (&audit, export_all (sandbox, options, sink, context, report, &audit.bytes_out, error));
}

static int
import_all (struct berth_sandbox *sandbox, const struct berth_workspace_options *options,
            int64_t (*source) (void *context, void *bytes, size_t size), void *context, uint64_t *bytes,
            struct berth_error *error)
{
  BERTH_AUTO_USE struct berth_use use = BERTH_USE_NONE;
  struct berth_workspace_options ours;
  struct berth_tar_limits limits;

  if (make_limits (sandbox, options, &ours, &limits, error) != 0
      || berth_use_begin (sandbox, ours.cancel, &use, error) != 0)
    return -1;
  return berth_workspace_import_within (sandbox, &limits, ours.cancel, source, context, bytes, error);
}

int
berth_workspace_import (struct berth_sandbox *sandbox, const struct berth_workspace_options *options,
                        int64_t (*source) (void *context, void *bytes, size_t size), void *context,
                        struct berth_error *error)
{
  struct berth_audit audit = { 0 };

  if (berth_audit_begin (&audit, sandbox->host, "workspace.import", sandbox, &error) != 0)
    return -1;
  return berth_audit_end (&audit, import_all (sandbox, options, source, context, &audit.bytes_in, error));
}
