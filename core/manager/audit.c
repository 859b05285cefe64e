/* What a record of an operation says. */
#include "core/manager/audit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/manager/call.h"
#include "core/registry/redact.h"
#include "sdk/base/buffer.h"
#include "sdk/base/clock.h"
#include "sdk/base/json.h"

#define ARGUMENT_MAX 4096 /* bytes that are told of one text */
#define ARGUMENTS_MAX 64

/* ---- texts ---- */

struct writer
{
  const struct berth_audit *audit;
  struct berth_redactor redactor; /* of what this very call must not tell */
  struct berth_json *record;
};

/* In full, since a secret must be seen whole to be found; then cut. */
static struct berth_json *
new_text (struct writer *writer, const char *text)
{
  struct berth_sandbox *sandbox = writer->audit->sandbox;
  BERTH_AUTO_BUFFER struct berth_buffer clean = { 0 };
  struct berth_instance *instance = NULL;
  char told[ARGUMENT_MAX];

  if (text == NULL)
    return berth_json_new_null ();
  berth_buffer_append_string (&clean, text);
  berth_redactor_apply (&writer->redactor, &clean);
  if (clean.error != 0)
    return berth_json_new_null ();
  if (sandbox != NULL && berth_sandbox_instance (sandbox, &instance, NULL) == 0)
    berth_instance_clean (instance, berth_buffer_string (&clean), told, sizeof told);
  else
    snprintf (told, sizeof told, "%s", berth_buffer_string (&clean));
  return berth_json_new_string (told);
}

static void
set_text (struct writer *writer, const char *key, const char *text)
{
  if (text != NULL)
    berth_json_set (writer->record, key, new_text (writer, text));
}

static void
set_count (struct writer *writer, const char *key, uint64_t count)
{
  if (count > 0)
    berth_json_set_int64 (writer->record, key, (int64_t) count);
}

static void
add_arguments (struct writer *writer)
{
  const struct berth_audit *audit = writer->audit;
  struct berth_json *array = audit->argument_count > 0 ? berth_json_new_array () : NULL;

  if (array == NULL)
    return;
  for (uint64_t i = 0; i < audit->argument_count && i < ARGUMENTS_MAX; i++)
    berth_json_append (array, new_text (writer, audit->arguments[i]));
  berth_json_set (writer->record, "argv", array);
  if (audit->argument_count > ARGUMENTS_MAX)
    set_count (writer, "argc", audit->argument_count);
}

/* ---- the record ---- */

static void
add_sandbox (struct writer *writer)
{
  const struct berth_audit *audit = writer->audit;
  const struct berth_record *record = audit->sandbox != NULL ? &audit->sandbox->record : NULL;

  berth_json_set_string (writer->record, "sandbox", record != NULL ? record->id : audit->id);
  berth_json_set_string (writer->record, "backend", record != NULL ? record->backend : audit->backend);
  if (record != NULL && record->tier != 0)
    berth_json_set_string (writer->record, "tier", berth_tier_name ((uint32_t) record->tier));
}

static void
add_end (struct writer *writer, int result)
{
  static const char *const networks[] = { NULL, "deny", "allow", "learn" };
  static const char *const outcomes[] = { NULL, "confirmed", "unconfirmed", "refused", "retained", "nothing_named" };
  static const char *const reasons[] = { NULL, "exited", "signal", "timeout", "oom", "cancelled" };
  const struct berth_audit *audit = writer->audit;
  const struct berth_exec_result *exit = result == 0 ? audit->result : NULL;

  berth_json_set_int64 (writer->record, "duration_us", (berth_clock_monotonic_ns () - audit->started_ns) / 1000);
  berth_json_set_string (writer->record, "error", result != 0 ? berth_error_name (audit->error->code) : NULL);
  if (exit != NULL)
    {
      berth_json_set_int64 (writer->record, "status", exit->status);
      berth_json_set_string (writer->record, "ended",
                             exit->reason < sizeof reasons / sizeof *reasons ? reasons[exit->reason] : NULL);
    }
  set_count (writer, "bytes_in", audit->bytes_in);
  set_count (writer, "bytes_out", audit->bytes_out);
  if (audit->outcome > 0 && audit->outcome < sizeof outcomes / sizeof *outcomes)
    berth_json_set_string (writer->record, "outcome", outcomes[audit->outcome]);
  if (audit->network > 0 && audit->network < sizeof networks / sizeof *networks)
    berth_json_set_string (writer->record, "network", networks[audit->network]);
}

static void
add_all (struct writer *writer, const char *phase, int result)
{
  const struct berth_audit *audit = writer->audit;
  char when[BERTH_CLOCK_TEXT_SIZE];
  int64_t now_ms = berth_clock_wall_ms ();

  berth_clock_format_wall (now_ms, when);
  berth_json_set_string (writer->record, "time", when);
  berth_json_set_int64 (writer->record, "at_ms", now_ms);
  berth_json_set_string (writer->record, "phase", phase);
  berth_json_set_string (writer->record, "operation", audit->operation);
  berth_json_set_string (writer->record, "owner", audit->host->owner);
  berth_json_set_int64 (writer->record, "uid", (int64_t) getuid ());
  berth_json_set_int64 (writer->record, "pid", (int64_t) getpid ());
  add_sandbox (writer);
  set_text (writer, "path", audit->path);
  set_text (writer, "to", audit->to);
  set_text (writer, "reason", audit->reason);
  add_arguments (writer);
  if (phase[0] == 'e')
    add_end (writer, result);
}

static int
write_record (const struct berth_audit *audit, const char *phase, int result)
{
  BERTH_AUTO_BUFFER struct berth_buffer line = { 0 };
  struct writer writer = { .audit = audit, .record = berth_json_new_object () };

  berth_redactor_init (&writer.redactor);
  for (uint64_t i = 0; i < audit->secret_count; i++)
    if ((audit->secrets[i].flags & BERTH_PAIR_SECRET) != 0 && audit->secrets[i].value != NULL)
      (void) berth_redactor_add (&writer.redactor, audit->secrets[i].value, strlen (audit->secrets[i].value));
  add_all (&writer, phase, result);
  int printed = berth_json_print (writer.record, false, &line) == 0 ? berth_buffer_append_byte (&line, '\n') : -1;
  berth_redactor_clear (&writer.redactor);
  berth_json_free (writer.record);
  if (printed != 0)
    {
      errno = ENOMEM;
      return -1;
    }
  return berth_audit_append (audit->host, line.data, line.size);
}

/* ---- around an operation ---- */

int
berth_audit_begin (struct berth_audit *audit, struct berth_host *host, const char *operation,
                   struct berth_sandbox *sandbox, struct berth_error **error)
{
  audit->host = host;
  audit->operation = operation;
  audit->sandbox = sandbox;
  audit->started_ns = berth_clock_monotonic_ns ();
  if (*error == NULL)
    *error = &audit->local;
  audit->error = *error;
  if (!host->audit.required || write_record (audit, "begin", 0) == 0)
    return 0;
  berth_error_set (audit->error, BERTH_E_CONFIGURATION, "%s: it cannot be recorded, and [audit] required is yes: %m",
                   operation);
  berth_error_hint (audit->error, "make room for the records, or have somebody look at [audit] of berth.conf");
  return -1;
}

int
berth_audit_end (struct berth_audit *audit, int result)
{
  int saved = errno;

  if (audit->host->audit.target != BERTH_AUDIT_OFF && write_record (audit, "end", result) != 0)
    berth_host_logf (audit->host, BERTH_LOG_WARNING, "%s was not recorded: %m", audit->operation);
  errno = saved;
  return result;
}

/* ---- settings ---- */

static int
refuse (const char *origin, const char *key, const char *got, const char *want, struct berth_error *error)
{
  berth_error_set (error, BERTH_E_CONFIGURATION, "%s: [audit] %s: got \"%s\", want %s", origin, key, got, want);
  berth_error_hint (error, "correct the line, or remove it to get the default");
  return -1;
}

/* INDEX of the word that it is, FALLBACK where nothing is said, or -1. */
static int
read_word (struct berth_registry *registry, const char *key, const char *const *words, const char *want, int fallback,
           struct berth_error *error)
{
  const char *origin = "berth.conf", *text = berth_registry_config (registry, "audit", key, &origin);

  if (text == NULL)
    return fallback;
  for (int i = 0; words[i] != NULL; i++)
    if (strcmp (words[i], text) == 0)
      return i;
  return refuse (origin, key, text, want, error);
}

int
berth_audit_read_settings (struct berth_registry *registry, struct berth_audit_settings *out,
                           struct berth_error *error)
{
  static const char *const keys[] = { "to", "required", "size", "keep", "socket", NULL };
  static const char *const targets[] = { "file", "journald", "off", NULL }, *const answers[] = { "no", "yes", NULL };
  const char *origin = "berth.conf", *text;
  uint64_t size = UINT64_C (16) << 20;

  if (berth_registry_config_check (registry, "audit", keys, error) != 0)
    return -1;
  int target = read_word (registry, "to", targets, "file, journald or off", 0, error);
  int required = target >= 0 ? read_word (registry, "required", answers, "yes or no", 0, error) : -1;
  if (required < 0)
    return -1;
  out->target = (uint32_t) target + 1;
  out->required = required > 0;
  if (out->required && out->target == BERTH_AUDIT_OFF)
    return refuse (origin, "required", "yes", "no, where nothing is recorded", error);
  text = berth_registry_config (registry, "audit", "size", &origin);
  if (text != NULL && berth_string_to_size (text, 4096, UINT64_C (1) << 40, &size) != 0)
    return refuse (origin, "size", text, "a size from 4K on, such as 16M", error);
  out->size = (int64_t) size;
  out->keep = 4;
  text = berth_registry_config (registry, "audit", "keep", &origin);
  if (text != NULL && berth_string_to_int64 (text, 1, 1000, &out->keep) != 0)
    return refuse (origin, "keep", text, "a number of files from 1 to 1000", error);
  text = berth_registry_config (registry, "audit", "socket", &origin);
  out->socket = strdup (text != NULL ? text : "/run/systemd/journal/socket");
  return out->socket != NULL ? 0 : berth_no_memory (error);
}
