#include <string.h>

#include "core/registry/check.h"
#include "core/registry/config.h"
#include "core/registry/table.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"

static void
check_name (struct berth_check *check, const char *file)
{
  const char *name = check->backend->name, *base = berth_path_last (file);
  BERTH_AUTO_FREE char *want = NULL;

  if (!berth_name_is_valid (name))
    {
      berth_problem (check->problems, "rename the backend", "name \"%.64s\" is not valid (want [a-z][a-z0-9-]{0,30})",
                     BERTH_CHECK_TEXT (name));
      return;
    }
  want = berth_string_format ("%s%s%s", BERTH_BACKEND_PREFIX, name, BERTH_BACKEND_SUFFIX);
  if (!berth_string_equal (want, base))
    berth_problem (check->problems, "rename the file", "the table says it is \"%s\" (got file %s, want %s)", name, base,
                   BERTH_CHECK_TEXT (want));
}

static void
check_text (struct berth_check *check, const char *what, const char *text)
{
  if (text == NULL || text[0] == '\0')
    berth_problem (check->problems, "fill it in", "%s is %s (want a text)", what, text == NULL ? "NULL" : "empty");
}

static void
check_flags (struct berth_check *check)
{
  uint64_t unknown = check->backend->flags & ~BERTH_BACKEND_FLAGS_KNOWN_1_0;

  if (unknown == 0)
    return;
  if (check->newer)
    berth_problem (check->warnings, "update Berth", "flags 0x%llx are of ABI %u.%u and left out (have %u.%u)",
                   (unsigned long long) unknown, BERTH_ABI_MAJOR, check->backend->abi.abi_minor, BERTH_ABI_MAJOR,
                   BERTH_ABI_MINOR);
  else
    berth_problem (check->problems, "leave them out", "unknown flags 0x%llx (want only bits of 0x%llx)",
                   (unsigned long long) unknown, (unsigned long long) BERTH_BACKEND_FLAGS_KNOWN_1_0);
  check->backend->flags &= BERTH_BACKEND_FLAGS_KNOWN_1_0;
}

void
berth_check_identity (struct berth_check *check, const char *file)
{
  check_name (check, file);
  check_text (check, "version", check->backend->version);
  check_text (check, "summary", check->backend->summary);
  check_flags (check);
}

void
berth_check_concurrency (struct berth_check *check)
{
  uint32_t concurrency = check->backend->concurrency;

  if (concurrency != BERTH_PARALLEL && concurrency != BERTH_ONE_PER_SANDBOX && concurrency != BERTH_ONE_AT_A_TIME)
    berth_problem (check->problems, "declare its concurrency",
                   "concurrency is %u (want 1 parallel, 2 one call per sandbox or 3 one call at a time)", concurrency);
}

void
berth_check_capabilities (struct berth_check *check)
{
  uint64_t *bits = &check->backend->capabilities, unknown = *bits & ~berth_capabilities_known ();
  BERTH_AUTO_BUFFER struct berth_buffer names = { 0 };

  berth_bits_describe (0, unknown, &names);
  if (unknown != 0 && check->newer)
    berth_problem (check->warnings, "update Berth", "capability %s is of ABI %u.%u and left out (have %u.%u)",
                   berth_buffer_string (&names), BERTH_ABI_MAJOR, check->backend->abi.abi_minor, BERTH_ABI_MAJOR,
                   BERTH_ABI_MINOR);
  else if (unknown != 0)
    berth_problem (check->problems, "leave it out", "unknown capability: %s", berth_buffer_string (&names));
  *bits &= ~unknown;
}
