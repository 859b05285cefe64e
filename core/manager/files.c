/* Files inside a sandbox. */
#include <inttypes.h>

#include "core/manager/audit.h"
#include "core/manager/path.h"
#include "core/manager/still.h"
#include "core/manager/transfer.h"

#define READ_FLAGS BERTH_FILE_OPTION_FOLLOW
#define CHANGE_FLAGS                                                                                                   \
  (BERTH_FILE_OPTION_NEW | BERTH_FILE_OPTION_PARENTS | BERTH_FILE_OPTION_RECURSIVE | BERTH_FILE_OPTION_MISSING_OK)

/* ---- options ---- */

static int
check_number (const char *what, int64_t value, int64_t least, int64_t most, struct berth_error *error)
{
  if (value == BERTH_UNSET || (value >= least && value <= most))
    return 0;
  return berth_error_set (error, BERTH_E_INVALID_REQUEST, "%s: got %" PRId64 ", want %" PRId64 " to %" PRId64, what,
                          value, least, most);
}

static int
take_options (const struct berth_file_options *options, struct berth_file_options *ours, struct berth_error *error)
{
  *ours = (struct berth_file_options) BERTH_FILE_OPTIONS_INIT;
  if (berth_options_take (ours, options, error) != 0)
    return -1;
  if ((ours->flags & ~(READ_FLAGS | CHANGE_FLAGS)) != 0)
    return berth_error_set (error, BERTH_E_INVALID_REQUEST, "file options: unknown flags %#" PRIx32,
                            ours->flags & ~(READ_FLAGS | CHANGE_FLAGS));
  if ((ours->owner != NULL && ours->owner[0] == '\0') || (ours->group != NULL && ours->group[0] == '\0'))
    return berth_error_set (error, BERTH_E_INVALID_REQUEST, "owner and group may be left out, but not empty");
  return check_number ("mode", ours->mode, 0, 07777, error) != 0
                 || check_number ("offset", ours->offset, 0, INT64_MAX, error) != 0
                 || check_number ("length", ours->length, 0, INT64_MAX, error) != 0
             ? -1
             : 0;
}

static int
make_read (const struct berth_sandbox *sandbox, const struct berth_file_options *options, struct berth_read *how,
           struct berth_error *error)
{
  const struct berth_limits *limits = &sandbox->host->limits;
  int64_t most = 0;

  if (berth_limit_apply ("file", options->max_bytes, limits->default_file, limits->max_file, &most, error) != 0)
    return -1;
  *how = (struct berth_read) { .struct_size = sizeof *how, .max_bytes = (uint64_t) most };
  if (options->offset != BERTH_UNSET || options->length != BERTH_UNSET)
    {
      how->asks |= BERTH_READ_RANGE;
      how->offset = options->offset != BERTH_UNSET ? (uint64_t) options->offset : 0;
      how->length = options->length != BERTH_UNSET ? (uint64_t) options->length : BERTH_UNKNOWN_SIZE;
    }
  if ((options->flags & BERTH_FILE_OPTION_FOLLOW) != 0)
    how->asks |= BERTH_READ_FOLLOW;
  return 0;
}

static void
make_change (const struct berth_file_options *options, const char *beneath, struct berth_change *how)
{
  static const struct
  {
    uint32_t flag;
    uint64_t bit;
  } bits[] = {
    { BERTH_FILE_OPTION_NEW, BERTH_CHANGE_NEW },
    { BERTH_FILE_OPTION_PARENTS, BERTH_CHANGE_PARENTS },
    { BERTH_FILE_OPTION_RECURSIVE, BERTH_CHANGE_RECURSIVE },
    { BERTH_FILE_OPTION_MISSING_OK, BERTH_CHANGE_MISSING_OK },
  };

  *how = (struct berth_change) { .struct_size = sizeof *how, .beneath = beneath };
  for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
    if ((options->flags & bits[i].flag) != 0)
      how->asks |= bits[i].bit;
  if (options->mode != BERTH_UNSET)
    {
      how->asks |= BERTH_CHANGE_MODE;
      how->mode = (uint32_t) options->mode;
    }
  if ((how->owner = options->owner) != NULL)
    how->asks |= BERTH_CHANGE_OWNER;
  if ((how->group = options->group) != NULL)
    how->asks |= BERTH_CHANGE_GROUP;
}

/* ---- reading ---- */

static int
read_file (struct berth_sandbox *sandbox, const char *path, const struct berth_file_options *options,
           int (*sink) (void *context, const void *bytes, size_t size), void *context, uint64_t *bytes,
           struct berth_error *error)
{
  BERTH_AUTO_FREE char *clean = berth_path_clean (path, error);
  struct berth_file_options ours;
  struct berth_read how;
  struct berth_manager_call call;
  struct berth_handle *handle = NULL;
  struct berth_outflow flow = { .call = &call.host, .sink = sink, .context = context };
  struct berth_read_sink out
      = { .struct_size = sizeof out, .context = &flow, .info = berth_outflow_info, .data = berth_outflow_data };

  struct berth_still_patience patience = { 0 };
  int result;

  if (clean == NULL || take_options (options, &ours, error) != 0 || make_read (sandbox, &ours, &how, error) != 0)
    return -1;
  do
    {
      if (berth_data_begin (&call, sandbox, ours.cancel, BERTH_NO_DEADLINE, &handle, error) != 0)
        return -1;
      result = berth_call_end (&call, berth_call_backend (&call)->files->read (&call.host.call, handle, clean, &how, &out),
                               error);
    }
  while (result != 0 && flow.taken == 0 && berth_still_wait (&patience, sandbox, call.code, ours.cancel, error));
  *bytes = flow.taken;
  return result;
}

int
berth_file_read (struct berth_sandbox *sandbox, const char *path, const struct berth_file_options *options,
                 int (*sink) (void *context, const void *bytes, size_t size), void *context, struct berth_error *error)
{
  struct berth_audit audit = { .path = path };

  if (berth_audit_begin (&audit, sandbox->host, "file.read", sandbox, &error) != 0)
    return -1;
  return berth_audit_end (&audit, read_file (sandbox, path, options, sink, context, &audit.bytes_out, error));
}

typedef int entry_function (struct berth_call *call, struct berth_handle *handle, const char *path,
                            const struct berth_read *how, const struct berth_entry_sink *sink);

enum entries
{
  LIST,
  STAT
};

static int
tell_entries (struct berth_sandbox *sandbox, const char *path, const struct berth_file_options *options,
              enum entries which, int (*visit) (void *context, const struct berth_file_info *info), void *context,
              struct berth_error *error)
{
  BERTH_AUTO_FREE char *clean = berth_path_clean (path, error);
  struct berth_file_options ours;
  struct berth_read how;
  struct berth_manager_call call;
  struct berth_handle *handle = NULL;
  struct berth_entries entries = { &call.host, visit, context, 0 };
  struct berth_entry_sink out = { .struct_size = sizeof out, .context = &entries, .entry = berth_entries_entry };

  struct berth_still_patience patience = { 0 };
  int result;

  if (clean == NULL || take_options (options, &ours, error) != 0 || make_read (sandbox, &ours, &how, error) != 0)
    return -1;
  do
    {
      if (berth_data_begin (&call, sandbox, ours.cancel, BERTH_FILE_MS, &handle, error) != 0)
        return -1;
      const struct berth_files_ops *files = berth_call_backend (&call)->files;
      entry_function *function = which == LIST ? files->list : files->stat;
      result = berth_call_end (&call, function (&call.host.call, handle, clean, &how, &out), error);
    }
  while (result != 0 && entries.told == 0 && berth_still_wait (&patience, sandbox, call.code, ours.cancel, error));
  return result;
}

int
berth_file_list (struct berth_sandbox *sandbox, const char *path, const struct berth_file_options *options,
                 int (*visit) (void *context, const struct berth_file_info *info), void *context,
                 struct berth_error *error)
{
  struct berth_audit audit = { .path = path };

  if (berth_audit_begin (&audit, sandbox->host, "file.list", sandbox, &error) != 0)
    return -1;
  return berth_audit_end (&audit, tell_entries (sandbox, path, options, LIST, visit, context, error));
}

int
berth_file_stat (struct berth_sandbox *sandbox, const char *path, const struct berth_file_options *options,
                 int (*visit) (void *context, const struct berth_file_info *info), void *context,
                 struct berth_error *error)
{
  struct berth_audit audit = { .path = path };

  if (berth_audit_begin (&audit, sandbox->host, "file.stat", sandbox, &error) != 0)
    return -1;
  return berth_audit_end (&audit, tell_entries (sandbox, path, options, STAT, visit, context, error));
}

/* ---- writing ---- */

static int
write_file (struct berth_sandbox *sandbox, const char *path, const struct berth_file_options *options,
            uint64_t size, int64_t (*source) (void *context, void *bytes, size_t size), void *context,
            uint64_t *bytes, struct berth_error *error)
{
  const struct berth_limits *limits = &sandbox->host->limits;
  const char *beneath = NULL;
  BERTH_AUTO_FREE char *clean = berth_path_clean_for_write (path, false, &beneath, error);
  struct berth_file_options ours;
  struct berth_change how;
  struct berth_manager_call call;
  struct berth_handle *handle = NULL;
  int64_t most = 0;

  if (clean == NULL || take_options (options, &ours, error) != 0
      || berth_limit_apply ("file", ours.max_bytes, limits->default_file, limits->max_file, &most, error) != 0)
    return -1;
  if (size != BERTH_UNKNOWN_SIZE && size > (uint64_t) most)
    return berth_error_set (error, BERTH_E_PAYLOAD_TOO_LARGE, "%s: got %" PRIu64 " bytes, want at most %" PRId64, clean,
                            size, most);
  ours.flags |= BERTH_FILE_OPTION_PARENTS;
  make_change (&ours, beneath, &how);
  struct berth_inflow flow
      = { .call = &call.host, .source = source, .context = context, .size = size, .limit = (uint64_t) most };
  struct berth_source in = { .struct_size = sizeof in, .context = &flow, .size = size, .read = berth_inflow_read };
  struct berth_still_patience patience = { 0 };
  int result;
  do
    {
      result = berth_data_begin (&call, sandbox, ours.cancel, BERTH_NO_DEADLINE, &handle, error);
      if (result != 0)
        break;
      result = berth_call_end (&call, berth_call_backend (&call)->files->write (&call.host.call, handle, clean, &how, &in),
                               error);
    }
  while (result != 0 && berth_inflow_rewind (&flow) && berth_still_wait (&patience, sandbox, call.code, ours.cancel, error));
  berth_inflow_clear (&flow);
  *bytes = flow.given;
  return result;
}

int
berth_file_write (struct berth_sandbox *sandbox, const char *path, const struct berth_file_options *options,
                  uint64_t size, int64_t (*source) (void *context, void *bytes, size_t size), void *context,
                  struct berth_error *error)
{
  struct berth_audit audit = { .path = path };

  if (berth_audit_begin (&audit, sandbox->host, "file.write", sandbox, &error) != 0)
    return -1;
  return berth_audit_end (&audit, write_file (sandbox, path, options, size, source, context, &audit.bytes_in, error));
}

/* The changes that move no bytes. */
enum change
{
  MAKE_DIRECTORY,
  REMOVE,
  SET_ATTRIBUTES,
  MOVE
};

static int
call_change (struct berth_manager_call *call, struct berth_handle *handle, enum change which, const char *path,
             const char *to, const struct berth_change *how)
{
  const struct berth_files_ops *files = berth_call_backend (call)->files;

  switch (which)
    {
    case MAKE_DIRECTORY:
      return files->make_directory (&call->host.call, handle, path, how);
    case REMOVE:
      return files->remove (&call->host.call, handle, path, how);
    case SET_ATTRIBUTES:
      return files->set_attributes (&call->host.call, handle, path, how);
    case MOVE:
      break;
    }
  return files->move (&call->host.call, handle, path, to, how);
}

/* The workspace itself may be "made" (it is there) and given other attributes, but neither moved
 * nor removed. */
static int
change (struct berth_sandbox *sandbox, enum change which, const char *path, const char *to,
        const struct berth_file_options *options, struct berth_error *error)
{
  bool root_too = which == MAKE_DIRECTORY || which == SET_ATTRIBUTES;
  const char *beneath = NULL;
  BERTH_AUTO_FREE char *clean = berth_path_clean_for_write (path, root_too, &beneath, error);
  BERTH_AUTO_FREE char *clean_to
      = clean != NULL && which == MOVE ? berth_path_clean_for_write (to, false, &beneath, error) : NULL;
  struct berth_file_options ours;
  struct berth_change how;
  struct berth_manager_call call;
  struct berth_handle *handle = NULL;

  if (clean == NULL || (which == MOVE && clean_to == NULL) || take_options (options, &ours, error) != 0)
    return -1;
  make_change (&ours, beneath, &how);
  struct berth_still_patience patience = { 0 };
  int result;
  do
    {
      if (berth_data_begin (&call, sandbox, ours.cancel, BERTH_FILE_MS, &handle, error) != 0)
        return -1;
      result = berth_call_end (&call, call_change (&call, handle, which, clean, clean_to, &how), error);
    }
  while (result != 0 && berth_still_wait (&patience, sandbox, call.code, ours.cancel, error));
  return result;
}

static int
audit_change (struct berth_sandbox *sandbox, const char *operation, enum change which, const char *path, const char *to,
              const struct berth_file_options *options, struct berth_error *error)
{
  struct berth_audit audit = { .path = path, .to = to };

  if (berth_audit_begin (&audit, sandbox->host, operation, sandbox, &error) != 0)
    return -1;
  return berth_audit_end (&audit, change (sandbox, which, path, to, options, error));
}

int
berth_file_make_directory (struct berth_sandbox *sandbox, const char *path, const struct berth_file_options *options,
                           struct berth_error *error)
{
  return audit_change (sandbox, "file.make_directory", MAKE_DIRECTORY, path, NULL, options, error);
}

int
berth_file_move (struct berth_sandbox *sandbox, const char *from, const char *to,
                 const struct berth_file_options *options, struct berth_error *error)
{
  return audit_change (sandbox, "file.move", MOVE, from, to, options, error);
}

int
berth_file_remove (struct berth_sandbox *sandbox, const char *path, const struct berth_file_options *options,
                   struct berth_error *error)
{
  return audit_change (sandbox, "file.remove", REMOVE, path, NULL, options, error);
}

int
berth_file_set_attributes (struct berth_sandbox *sandbox, const char *path, const struct berth_file_options *options,
                           struct berth_error *error)
{
  return audit_change (sandbox, "file.set_attributes", SET_ATTRIBUTES, path, NULL, options, error);
}
