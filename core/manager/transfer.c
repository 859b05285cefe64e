#include "core/manager/transfer.h"

#include <inttypes.h>
#include <string.h>

int
berth_check_cancel (struct berth_host_call *call)
{
  if (call->cancel != NULL && berth_cancel_triggered (call->cancel))
    return berth_host_call_fail (call, BERTH_E_CANCELLED, "cancelled");
  return 0;
}

int
berth_outflow_data (void *context, const void *bytes, size_t size)
{
  struct berth_outflow *flow = context;

  if (berth_check_cancel (flow->call) != 0)
    return -1;
  if (flow->sink (flow->context, bytes, size) != 0)
    return berth_host_call_fail (flow->call, BERTH_E_CANCELLED, "the reader wants no more");
  flow->taken += size;
  return 0;
}

int
berth_outflow_info (void *context, const struct berth_file_info *info)
{
  (void) info;
  return berth_check_cancel (((struct berth_outflow *) context)->call);
}

int
berth_outflow_report (void *context, const struct berth_tar_report *report)
{
  struct berth_outflow *flow = context;
  size_t size = report->struct_size < sizeof *report ? report->struct_size : sizeof *report;

  flow->reports++;
  if (flow->report != NULL)
    {
      memset (flow->report, 0, sizeof *flow->report);
      memcpy (flow->report, report, size);
      flow->report->struct_size = sizeof *flow->report;
    }
  return 0;
}

static void
keep (struct berth_inflow *flow, const void *bytes, size_t size)
{
  if (flow->kept.size == flow->at && flow->kept.size + size <= BERTH_INFLOW_KEPT)
    berth_buffer_append (&flow->kept, bytes, size);
}

static int64_t
give_kept (struct berth_inflow *flow, void *bytes, size_t size)
{
  size_t left = flow->kept.size - (size_t) flow->at, part = size < left ? size : left;

  memcpy (bytes, flow->kept.data + flow->at, part);
  flow->at += part;
  return (int64_t) part;
}

bool
berth_inflow_rewind (struct berth_inflow *flow)
{
  if (flow->given != flow->kept.size)
    return false;
  flow->at = 0;
  return true;
}

void
berth_inflow_clear (struct berth_inflow *flow)
{
  berth_buffer_free (&flow->kept);
}

int64_t
berth_inflow_read (void *context, void *bytes, size_t size)
{
  struct berth_inflow *flow = context;

  if (berth_check_cancel (flow->call) != 0)
    return -1;
  if (flow->at < flow->given)
    return give_kept (flow, bytes, size);
  int64_t got = flow->source (flow->context, bytes, size);
  if (got < 0)
    return berth_host_call_fail (flow->call, BERTH_E_CANCELLED, "the source gave up after %" PRIu64 " bytes", flow->given);
  if ((uint64_t) got > size)
    return berth_host_call_fail (flow->call, BERTH_E_INVALID_REQUEST, "the source returned more bytes than it was asked for");
  flow->given += (uint64_t) got;
  if (flow->size != BERTH_UNKNOWN_SIZE && (flow->given > flow->size || (got == 0 && flow->given < flow->size)))
    return berth_host_call_fail (flow->call, BERTH_E_INVALID_REQUEST,
                                 "the source gave %s%" PRIu64 " bytes, its size was said to be %" PRIu64,
                                 got == 0 ? "only " : "", flow->given, flow->size);
  if (flow->given > flow->limit)
    return berth_host_call_fail (flow->call, BERTH_E_PAYLOAD_TOO_LARGE, "more than %" PRIu64 " bytes", flow->limit);
  keep (flow, bytes, (size_t) got);
  flow->at = flow->given;
  return got;
}

int
berth_entries_entry (void *context, const struct berth_file_info *info)
{
  struct berth_entries *entries = context;

  if (berth_check_cancel (entries->call) != 0)
    return -1;
  entries->told++;
  if (entries->visit (entries->context, info) != 0)
    return berth_host_call_fail (entries->call, BERTH_E_CANCELLED, "the reader wants no more");
  return 0;
}
