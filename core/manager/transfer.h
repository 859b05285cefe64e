/* transfer.h - the caller's callbacks behind the sinks and sources of a backend. */
#ifndef CORE_MANAGER_TRANSFER_H
#define CORE_MANAGER_TRANSFER_H

#include "core/manager/call.h"
#include "sdk/base/buffer.h"

typedef int berth_byte_sink (void *context, const void *bytes, size_t size);
typedef int64_t berth_byte_source (void *context, void *bytes, size_t size);

/* From a backend to the caller.  A sink blocks for as long as its reader likes; once the call
 * is cancelled it takes nothing more. */
struct berth_outflow
{
  struct berth_host_call *call;
  berth_byte_sink *sink;
  void *context;
  struct berth_tar_report *report; /* of a workspace; may be NULL */
  uint32_t reports;
  uint64_t taken; /* bytes */
};
int berth_outflow_data (void *context, const void *bytes, size_t size);
int berth_outflow_info (void *context, const struct berth_file_info *info);
int berth_outflow_report (void *context, const struct berth_tar_report *report);

/* From the caller to a backend, held to its size and its limit.  The first bytes are kept, so that a
 * call that was refused after it had taken them can be made again. */
#define BERTH_INFLOW_KEPT 65536
struct berth_inflow
{
  struct berth_host_call *call;
  berth_byte_source *source;
  void *context;
  uint64_t size;  /* or BERTH_UNKNOWN_SIZE */
  uint64_t limit; /* PAYLOAD_TOO_LARGE above it */
  uint64_t given;
  uint64_t at;    /* how many of those this call has had */
  struct berth_buffer kept;
};
int64_t berth_inflow_read (void *context, void *bytes, size_t size);
/* False: more was given than is kept. */
bool berth_inflow_rewind (struct berth_inflow *flow);
void berth_inflow_clear (struct berth_inflow *flow);

/* Entries of a directory to the caller, who may stop. */
struct berth_entries
{
  struct berth_host_call *call;
  int (*visit) (void *context, const struct berth_file_info *info);
  void *context;
  uint64_t told;
};
int berth_entries_entry (void *context, const struct berth_file_info *info);

/* 0, or -1 with CANCELLED in the call's slot. */
int berth_check_cancel (struct berth_host_call *call);

#endif
