/* What every backend gets: the table of services, and those that belong to an instance. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/registry/call.h"
#include "core/registry/instance.h"
#include "sdk/base/string.h"

static void
log_redacted (struct berth_instance *instance, uint32_t level, const char *format, va_list arguments)
{
  BERTH_AUTO_BUFFER struct berth_buffer line = { 0 };

  if (instance == NULL || instance->facts->log == NULL)
    return;
  if (level < BERTH_LOG_ERROR || level > BERTH_LOG_DEBUG)
    level = BERTH_LOG_INFO;
  berth_buffer_appendf (&line, "%s: ", instance->name);
  berth_buffer_vappendf (&line, format, arguments);
  berth_redactor_apply (&instance->redactor, &line);
  if (line.error == 0)
    instance->facts->log (instance->facts->log_context, level, berth_buffer_string (&line));
}

void
berth_instance_log (struct berth_instance *instance, uint32_t level, const char *format, ...)
{
  va_list arguments;
  int saved = errno;

  va_start (arguments, format);
  log_redacted (instance, level, format, arguments);
  va_end (arguments);
  errno = saved;
}

void
berth_instance_redact (struct berth_instance *instance, const void *bytes, size_t size)
{
  if (size == 0)
    return;
  if (berth_redactor_add (&instance->redactor, bytes, size) < 0)
    berth_instance_log (instance, BERTH_LOG_WARNING, "a secret of %zu bytes cannot be kept out of messages: %s", size,
                        errno == EINVAL ? "it is too short" : "no memory");
}

void
berth_instance_clean (struct berth_instance *instance, const char *text, char *to, size_t room)
{
  BERTH_AUTO_BUFFER struct berth_buffer clean = { 0 };

  berth_buffer_append_string (&clean, text);
  berth_redactor_apply (&instance->redactor, &clean);
  snprintf (to, room, "%s", clean.error == 0 ? berth_buffer_string (&clean) : "");
}

static const char *
service_instance_name (struct berth_instance *instance)
{
  return instance->name;
}

static const char *
service_setting (struct berth_instance *instance, const char *name)
{
  const struct berth_setting_value *value = berth_settings_find (&instance->settings, name);

  return value != NULL ? value->text : NULL;
}

static int64_t
service_setting_number (struct berth_instance *instance, const char *name)
{
  const struct berth_setting_value *value = berth_settings_find (&instance->settings, name);

  return value != NULL ? value->number : 0;
}

static const char *
service_directory (struct berth_instance *instance, uint32_t which)
{
  return which < sizeof instance->directories / sizeof instance->directories[0] ? instance->directories[which] : NULL;
}

static const char *
service_installation_id (struct berth_instance *instance)
{
  return instance->facts->installation_id;
}

/* Agents of other machines lie beside this machine's: berth-agent-aarch64. */
static const char *
service_agent_path (struct berth_instance *instance, const char *machine)
{
  BERTH_AUTO_FREE char *other = NULL;
  const char *path = instance->facts->agent_path;
  struct utsname here;

  if (path == NULL)
    return NULL;
  if (machine != NULL && (uname (&here) < 0 || strcmp (here.machine, machine) != 0))
    {
      if (machine[0] == '\0' || machine[strspn (machine, "abcdefghijklmnopqrstuvwxyz0123456789_")] != '\0')
        return NULL;
      other = berth_string_format ("%s-%s", path, machine);
      path = other;
    }
  return path != NULL && access (path, R_OK) == 0 ? berth_instance_intern (instance, path) : NULL;
}

static const struct berth_services table = {
  .abi = { BERTH_ABI_MAGIC, sizeof (struct berth_services), BERTH_ABI_MAJOR, BERTH_ABI_MINOR, 0 },
  .fail = berth_call_fail,
  .vfail = berth_call_vfail,
  .refuse = berth_call_refuse,
  .hint = berth_call_hint,
  .upstream = berth_call_upstream,
  .retry_after = berth_call_retry_after,
  .failed = berth_call_failed,
  .forgive = berth_call_forgive,
  .cancelled = berth_call_cancelled,
  .cancel_fd = berth_call_cancel_fd,
  .deadline = berth_call_deadline,
  .shield = berth_call_shield,
  .unshield = berth_call_unshield,
  .log = berth_instance_log,
  .progress = berth_call_progress,
  .redact = berth_instance_redact,
  .instance_name = service_instance_name,
  .setting = service_setting,
  .setting_number = service_setting_number,
  .directory = service_directory,
  .installation_id = service_installation_id,
  .agent_path = service_agent_path,
};

const struct berth_services *
berth_services_table (void)
{
  return &table;
}
