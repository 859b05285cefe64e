#include "core/manager/interrupted.h"

#include "core/manager/answer.h"
#include "core/manager/expiry.h"
#include "core/manager/idle.h"
#include "core/manager/inventory.h"

/* A service may list late what it makes, and go on making when our process is dead. */
#define SETTLE_MS (20 * 1000)

/* What is made in our own process ends with it; what a service makes does not. */
static bool
may_go_on (struct berth_instance *instance)
{
  return (berth_instance_backend (instance)->flags & BERTH_BACKEND_USES_LIBCURL) != 0;
}

/* "Nothing found" counts only when it was asked late enough.  The first who finds nothing moves the
 * record's own deadline to that moment. */
static int
settle (struct berth_host *host, struct berth_instance *instance, struct berth_record *record,
        struct berth_error *error)
{
  if (!may_go_on (instance))
    return 0;
  if (record->left_ms != 0)
    return berth_expiry_has_passed (record) ? 0 : 1;
  record->left_ms = SETTLE_MS;
  berth_expiry_set (record, SETTLE_MS);
  return berth_store_update (host->store, record, error) != 0 ? -1 : 1;
}

int
berth_interrupted_look_locked (struct berth_host *host, struct berth_instance *instance,
                               struct berth_record *record, bool *certain, struct berth_error *error)
{
  BERTH_AUTO_INVENTORY struct berth_inventory inventory = { 0 };

  *certain = true;
  if (record->assignment_id == NULL || record->native_count > 0)
    return 0;
  int correlated = berth_inventory_look (host, instance, record->assignment_id, &inventory, error);
  if (correlated < 0)
    return -1;
  for (size_t i = 0; i < inventory.count; i++)
    if (berth_inventory_is_of (&inventory.items[i], record)
        && berth_inventory_write_down (host, &inventory.items[i], record->generation, record, error) != 0)
      return -1;
  *certain = record->native_count > 0 || correlated == 1;
  return record->native_count > 0 ? 0 : settle (host, instance, record, error);
}

/* ---- going on ---- */

static bool
is_running (struct berth_instance *instance, const struct berth_native *native)
{
  struct berth_manager_call call;

  berth_call_begin (&call, instance, native->id, NULL, BERTH_CONTROL_MS);
  int result = berth_call_backend (&call)->lifecycle->is_running (&call.host.call, berth_instance_state (instance),
                                                                  native);
  return berth_call_end (&call, result, NULL) == 1;
}

int
berth_interrupted_continue_locked (struct berth_host *host, struct berth_instance *instance,
                                   const struct berth_wish *wish, struct berth_record *record,
                                   struct berth_error *error)
{
  struct berth_answer answer = { 0 };
  int result = 1;

  /* an owned one ends with the process that made it; of several, none is better than another; nobody
   * knows how much of a snapshot is in it */
  if (record->assignment_id == NULL || record->owned != 0 || record->native_count != 1 || wish->options.snapshot != NULL)
    return 1;
  struct berth_native native = berth_native_of (instance, berth_record_current (record));
  if (is_running (instance, &native) && berth_answer_ask (instance, &native, &answer) == 0
      && berth_answer_check (wish, instance, &answer, NULL) == 0)
    {
      record->state = BERTH_RECORD_RUNNING;
      record->left_ms = 0;
      berth_expiry_set (record, record->ttl_ms);
      result = berth_answer_record (&answer, instance, record, error) != 0
                       || berth_idle_begin_locked (host, record, error) != 0
                       || berth_expiry_tell_backend (instance, record, record->ttl_ms, error) != 0
                       || berth_store_update (host->store, record, error) != 0
                   ? -1
                   : 0;
    }
  berth_answer_clear (&answer);
  return result;
}
