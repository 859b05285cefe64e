/* A backend's table against every rule, into the host's own storage. */
#include "core/registry/check.h"

#include <stdlib.h>
#include <string.h>

#include "core/registry/registered.h"
#include "core/registry/table.h"
#include "sdk/base/string.h"

/* What struct berth_backend held at ABI 1.0 up to the required groups: an older table ends there or later. */
#define BACKEND_FLOOR (offsetof (struct berth_backend, workspace) + sizeof (void *))

struct berth_registered
{
  struct berth_backend backend; /* its texts and arrays are the plugin's, which stays loaded */
  char name[32];
  void *groups[]; /* by row of berth_rules; NULL where nothing was copied */
};

static int
check_header (const struct berth_abi *abi, struct berth_problems *problems)
{
  if (abi->magic != BERTH_ABI_MAGIC)
    berth_problem (problems, "build it with <berth/backend.h>", "not a backend's table (magic 0x%08x, want 0x%08x)",
                   abi->magic, BERTH_ABI_MAGIC);
  else if (abi->abi_major != BERTH_ABI_MAJOR)
    berth_problem (problems, "build the backend for this version of Berth", "built for ABI %u.%u (want %u.x)",
                   abi->abi_major, abi->abi_minor, BERTH_ABI_MAJOR);
  else if (abi->struct_size < BACKEND_FLOOR || abi->struct_size > BERTH_ABI_SIZE_MAX
           || abi->struct_size % sizeof (void *) != 0)
    berth_problem (problems, "set struct_size to sizeof (struct berth_backend)",
                   "struct_size of the table is %u (want %zu to %u, a multiple of %zu)", abi->struct_size,
                   (size_t) BACKEND_FLOOR, BERTH_ABI_SIZE_MAX, sizeof (void *));
  else
    return 0;
  return -1;
}

int
berth_check_array (struct berth_check *check, const char *what, struct berth_array *array, uint32_t most, size_t size)
{
  if (array->count == 0)
    return 1;
  if (array->first != NULL && array->count <= most && array->stride >= size && array->stride <= BERTH_ABI_SIZE_MAX)
    return 1;
  berth_problem (check->problems, "use BERTH_ARRAY",
                 "array of %s is not sane (%u elements of %u bytes, want at most %u of at least %zu)", what, array->count,
                 array->stride, most, size);
  *array = (struct berth_array) { NULL, 0, 0 };
  return 0;
}

static void
check_body (struct berth_registered *registered, const char *file, const struct berth_backend *theirs,
            struct berth_problems *problems, struct berth_problems *warnings)
{
  struct berth_backend *backend = &registered->backend;
  struct berth_check check = { backend, problems, warnings, theirs->abi.abi_minor > BERTH_ABI_MINOR };
  uint32_t size = theirs->abi.struct_size < sizeof *backend ? theirs->abi.struct_size : (uint32_t) sizeof *backend;

  memcpy (backend, theirs, size);
  backend->abi.struct_size = size;
  if (backend->needs_host_minor > BERTH_ABI_MINOR)
    berth_problem (problems, "update Berth", "needs ABI %u.%u of the host (have %u.%u)", BERTH_ABI_MAJOR,
                   backend->needs_host_minor, BERTH_ABI_MAJOR, BERTH_ABI_MINOR);
  berth_check_identity (&check, file);
  berth_check_concurrency (&check);
  berth_check_capabilities (&check);
  berth_check_claims (&check);
  berth_check_settings (&check);
  if (berth_check_groups (&check, theirs, registered->groups) < 0)
    berth_problem (problems, NULL, "no memory for its table");
  snprintf (registered->name, sizeof registered->name, "%s", backend->name != NULL ? backend->name : "");
}

int
berth_registered_make (const char *file, const struct berth_backend *theirs, struct berth_registered **out,
                       struct berth_problems *problems, struct berth_problems *warnings)
{
  struct berth_registered *registered;

  if (theirs == NULL)
    berth_problem (problems, "ask the authors of the backend", "its entry function %s returned NULL: it refuses this host",
                   BERTH_BACKEND_SYMBOL);
  if (theirs == NULL || check_header (&theirs->abi, problems) < 0)
    return -1;
  registered = calloc (1, sizeof *registered + berth_rule_count * sizeof registered->groups[0]);
  if (registered == NULL)
    {
      berth_problem (problems, NULL, "no memory for its table");
      return -1;
    }
  check_body (registered, file, theirs, problems, warnings);
  if (berth_problems_any (problems))
    {
      berth_registered_free (registered);
      return -1;
    }
  registered->backend.name = registered->name;
  registered->backend.capabilities |= berth_capabilities_given ();
  *out = registered;
  return 0;
}

static void
tell (const struct berth_problems *list, void (*visit) (void *context, const char *text), void *context)
{
  for (uint32_t i = 0; visit != NULL && i < list->count; i++)
    visit (context, list->items[i].text);
}

int
berth_backend_check (const char *file, const struct berth_backend *theirs, struct berth_registered **out,
                     void (*problem) (void *context, const char *text),
                     void (*warning) (void *context, const char *text), void *context)
{
  BERTH_AUTO_PROBLEMS struct berth_problems problems = { 0 };
  BERTH_AUTO_PROBLEMS struct berth_problems warnings = { 0 };
  int result = berth_registered_make (file, theirs, out, &problems, &warnings);

  tell (&problems, problem, context);
  tell (&warnings, warning, context);
  return result;
}

void
berth_registered_free (struct berth_registered *registered)
{
  if (registered == NULL)
    return;
  for (uint32_t i = 0; i < berth_rule_count; i++)
    free (registered->groups[i]);
  free (registered);
}

const struct berth_backend *
berth_registered_backend (const struct berth_registered *registered)
{
  return &registered->backend;
}
