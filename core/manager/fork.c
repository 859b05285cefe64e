/* One workspace, many sandboxes. */
#include <inttypes.h>

#include "core/manager/audit.h"
#include "core/manager/ids.h"
#include "core/manager/snapshot.h"
#include "core/manager/spec.h"

#define CHILDREN_MAX 1000

struct forking
{
  struct berth_sandbox *sandbox;
  struct berth_fork_options options; /* of this library's size */
  struct berth_create_options child;
  struct berth_policy network;
  char snapshot[BERTH_ID_SIZE];
  struct berth_lock lock; /* of a snapshot of our own */
  void (*visit) (void *context, const struct berth_fork_result *result);
  void *context;
};

static int
make_snapshot (struct forking *forking, struct berth_error *error)
{
  struct berth_snapshot_options options = BERTH_SNAPSHOT_OPTIONS_INIT;

  options.cancel = forking->options.cancel;
  options.progress = forking->options.progress;
  options.progress_context = forking->options.progress_context;
  return berth_snapshot_lend (forking->sandbox, &options, &forking->lock, forking->snapshot, error);
}

static void
take_back (struct forking *forking)
{
  struct berth_error left = { 0 };

  if (forking->lock.fd < 0)
    return;
  if (forking->snapshot[0] == '\0')
    berth_lock_release (&forking->lock);
  else if (berth_snapshot_take_back (forking->sandbox->host, forking->snapshot, &forking->lock, &left) != 0)
    berth_host_logf (forking->sandbox->host, BERTH_LOG_WARNING, "snapshot %s of the fork is left: %s",
                     forking->snapshot, left.message);
}

/* What a child costs is told beforehand by nobody, so each is tried. */
static void
make_child (struct forking *forking, uint32_t index)
{
  struct berth_fork_result result = { .struct_size = sizeof result, .index = index };
  struct berth_sandbox *child = NULL;
  struct berth_error error = { 0 };

  if (berth_sandbox_create (forking->sandbox->host, &forking->child, &child, &error) == 0)
    result.id = berth_sandbox_id (child);
  else
    result.error = &error;
  if (forking->options.progress != NULL)
    forking->options.progress (forking->options.progress_context, "forking", index + 1, forking->options.count);
  forking->visit (forking->context, &result);
  berth_sandbox_close (child);
}

static int
prepare (struct forking *forking, struct berth_record *record, struct berth_error *error)
{
  struct berth_host *host = forking->sandbox->host;
  BERTH_AUTO_SNAPSHOT struct berth_snapshot_record snapshot = { 0 };

  if (forking->options.count < 1 || forking->options.count > CHILDREN_MAX)
    return berth_error_set (error, BERTH_E_INVALID_REQUEST, "count: got %" PRIu32 ", want 1 to %d", forking->options.count,
                            CHILDREN_MAX);
  if (berth_store_load (host->store, forking->sandbox->record.id, BERTH_STORE_PAIRS, record, error) != 0
      || berth_record_options (record, &forking->child, error) != 0)
    return -1;
  forking->network = (struct berth_policy) { .struct_size = sizeof forking->network,
                                             .default_action = berth_record_network (record) };
  forking->child.network = &forking->network;
  forking->child.cancel = forking->options.cancel;
  forking->child.snapshot = forking->snapshot;
  if (forking->options.snapshot == NULL)
    return make_snapshot (forking, error);
  if (berth_snapshot_open (host, forking->options.snapshot, &snapshot, error) != 0)
    return -1;
  snprintf (forking->snapshot, sizeof forking->snapshot, "%s", snapshot.id);
  return 0;
}

static int
fork_all (struct berth_sandbox *sandbox, const struct berth_fork_options *options,
          void (*visit) (void *context, const struct berth_fork_result *result), void *context,
          struct berth_error *error)
{
  BERTH_AUTO_RECORD struct berth_record record = { 0 };
  struct forking forking = { .sandbox = sandbox,
                             .options = BERTH_FORK_OPTIONS_INIT,
                             .lock = BERTH_LOCK_NONE,
                             .visit = visit,
                             .context = context };
  int result = -1;

  if (berth_options_take (&forking.options, options, error) == 0 && prepare (&forking, &record, error) == 0)
    {
      for (uint32_t i = 0; i < forking.options.count; i++)
        make_child (&forking, i);
      result = 0;
    }
  take_back (&forking);
  return result;
}

int
berth_sandbox_fork (struct berth_sandbox *sandbox, const struct berth_fork_options *options,
                    void (*visit) (void *context, const struct berth_fork_result *result), void *context,
                    struct berth_error *error)
{
  struct berth_audit audit = { 0 };

  if (berth_audit_begin (&audit, sandbox->host, "fork", sandbox, &error) != 0)
    return -1;
  return berth_audit_end (&audit, fork_all (sandbox, options, visit, context, error));
}
