/* Environments: specifications that are saved under a name.  What a backend could not give is refused
 * when it is saved, not when it is first used. */
#include <string.h>

#include "core/manager/audit.h"
#include "core/manager/creation.h"
#include "core/manager/environment.h"
#include "core/manager/ids.h"
#include "sdk/base/clock.h"

uint64_t
berth_sessions_capabilities (uint32_t sessions)
{
  return sessions == BERTH_SESSIONS_SHARED        ? BERTH_CAP_ISOLATED_SESSIONS
         : sessions == BERTH_SESSIONS_TERMINAL    ? BERTH_CAP_PROCESS_SESSIONS | BERTH_CAP_PTY
         : sessions == BERTH_SESSIONS_INTERACTIVE ? BERTH_CAP_PROCESS_SESSIONS
                                                  : 0;
}

/* ---- saving ---- */

static int
refuse_unkept (const char *what, const char *instead, struct berth_error *error)
{
  berth_error_set (error, BERTH_E_CONFIGURATION, "environment: this version of Berth does not keep %s", what);
  berth_error_hint (error, "%s", instead);
  return -1;
}

static int
check_pool (struct berth_instance *instance, const char *pool, struct berth_error *error)
{
  struct berth_manager_call call;

  berth_call_begin (&call, instance, NULL, NULL, BERTH_CONTROL_MS);
  int ready = berth_call_backend (&call)->pool->readiness (&call.host.call, berth_instance_state (instance), pool);
  if (berth_call_end (&call, ready < 0 ? -1 : 0, error) != 0)
    return -1;
  if (ready > 0)
    return 0;
  berth_error_set (error, BERTH_E_CONFIGURATION, "environment: the pool %s of backend %s is not ready", pool,
                   berth_instance_name (instance));
  berth_error_hint (error, "save it when there is prepared capacity, or without");
  return -1;
}

/* First what the backend lacks, then what this host would not do with it. */
static int
check_wishes (const struct berth_creation *creation, const struct berth_environment_options *options,
              struct berth_error *error)
{
  struct berth_instance *instance = creation->instance;
  const char *backend = berth_instance_name (instance);
  uint64_t have = berth_instance_capabilities (instance) & creation->validated.effective.capabilities;
  uint64_t needs = berth_sessions_capabilities (options->sessions);

  if (options->pool != NULL)
    needs |= BERTH_CAP_CLIENT_POOL;
  if (options->workspace_volume != NULL)
    needs |= BERTH_CAP_WORKSPACE_VOLUME;
  if (berth_require_capability (backend, have, needs, error) != 0
      || (options->pool != NULL && check_pool (instance, options->pool, error) != 0))
    return -1;
  if (options->pool != NULL)
    return refuse_unkept ("prepared sandboxes", "leave the pool out", error);
  if (options->workspace_volume != NULL)
    return refuse_unkept ("workspaces on volumes", "leave the volume out, and keep what is needed with `berth snapshot`",
                          error);
  return 0;
}

/* A secret stands for itself: its name is known, its value is not. */
static int
name_secrets (struct berth_create_options *create, struct berth_pair **out, struct berth_error *error)
{
  *out = calloc (create->environment_count + 1, sizeof **out);
  if (*out == NULL)
    return berth_no_memory (error);
  for (uint64_t i = 0; i < create->environment_count; i++)
    {
      (*out)[i] = create->environment[i];
      if (((*out)[i].flags & BERTH_PAIR_SECRET) != 0)
        (*out)[i].value = "";
    }
  create->environment = *out;
  return 0;
}

static int
check_options (const struct berth_environment_options *options, const struct berth_create_options *create,
               struct berth_error *error)
{
  if (options->sessions > BERTH_SESSIONS_SHARED)
    return berth_error_set (error, BERTH_E_INVALID_REQUEST, "environment: no such sessions");
  if (create->name != NULL || create->request_id != NULL || create->owned != 0 || create->base != NULL)
    return berth_error_set (error, BERTH_E_INVALID_REQUEST,
                            "environment: a name, a request id, an owner and another environment belong to one sandbox");
  return 0;
}

static int
check (struct berth_host *host, const struct berth_environment_options *options,
       const struct berth_create_options *create, struct berth_error *error)
{
  struct berth_creation creation = { .host = host, .lock = BERTH_LOCK_NONE };
  int result = -1;

  if (berth_creation_prepare (&creation, create, error) == 0 && berth_creation_validate (&creation, error) == 0)
    result = check_wishes (&creation, options, error);
  berth_creation_clear (&creation);
  return result;
}

static int
write_record (struct berth_host *host, const char *name, const struct berth_environment_options *options,
              const struct berth_create_options *create, struct berth_error *error)
{
  BERTH_AUTO_ENVIRONMENT struct berth_environment_record record
      = { .owner = strdup (host->owner), .name = strdup (name), .created_wall_ms = berth_clock_wall_ms () };

  if (record.owner == NULL || record.name == NULL || berth_saved_describe (create, options->sessions, &record) != 0)
    return berth_no_memory (error);
  return berth_store_save_environment (host->store, &record, error);
}

static int
save (struct berth_host *host, const char *name, const struct berth_environment_options *options,
      struct berth_error *error)
{
  struct berth_environment_options ours = BERTH_ENVIRONMENT_OPTIONS_INIT;
  struct berth_create_options create = BERTH_CREATE_OPTIONS_INIT;
  BERTH_AUTO_FREE struct berth_pair *pairs = NULL;

  if (berth_name_check (name, error) != 0 || berth_options_take (&ours, options, error) != 0
      || berth_options_take (&create, ours.create, error) != 0 || check_options (&ours, &create, error) != 0
      || name_secrets (&create, &pairs, error) != 0 || check (host, &ours, &create, error) != 0)
    return -1;
  return write_record (host, name, &ours, &create, error);
}

int
berth_environment_save (struct berth_host *host, const char *name, const struct berth_environment_options *options,
                        struct berth_error *error)
{
  struct berth_audit audit = { .to = name };

  if (berth_audit_begin (&audit, host, "environment.save", NULL, &error) != 0)
    return -1;
  return berth_audit_end (&audit, save (host, name, options, error));
}

/* ---- what is there ---- */

static void
tell (const struct berth_saved *saved, struct berth_environment_info *info)
{
  *info = (struct berth_environment_info) { .struct_size = sizeof *info,
                                            .sessions = saved->sessions,
                                            .name = saved->record.name,
                                            .owner = saved->record.owner,
                                            .created_wall_ms = saved->record.created_wall_ms,
                                            .create = &saved->options };
}

int
berth_environment_inspect (struct berth_host *host, const char *name,
                           void (*visit) (void *context, const struct berth_environment_info *info), void *context,
                           struct berth_error *error)
{
  BERTH_AUTO_SAVED struct berth_saved saved = { 0 };
  struct berth_environment_info info;

  if (berth_saved_load (host, name, &saved, error) != 0)
    return -1;
  tell (&saved, &info);
  visit (context, &info);
  return 0;
}

int
berth_environment_list (struct berth_host *host,
                        int (*visit) (void *context, const struct berth_environment_info *info), void *context,
                        struct berth_error *error)
{
  BERTH_AUTO_IDS struct berth_store_ids names = { 0 };

  if (berth_store_list_environments (host->store, host->owner, &names, error) != 0)
    return -1;
  for (size_t i = 0; i < names.count; i++)
    {
      BERTH_AUTO_SAVED struct berth_saved saved = { 0 };
      struct berth_environment_info info;
      struct berth_error gone = { 0 };
      if (berth_saved_load (host, names.items[i], &saved, &gone) != 0)
        {
          if (gone.code == BERTH_E_NOT_FOUND)
            continue;
          if (error != NULL)
            *error = gone;
          return -1;
        }
      tell (&saved, &info);
      if (visit (context, &info) != 0)
        break;
    }
  return 0;
}

static int
remove_named (struct berth_host *host, const char *name, struct berth_error *error)
{
  return berth_store_remove_environment (host->store, host->owner, name, error);
}

int
berth_environment_remove (struct berth_host *host, const char *name, struct berth_error *error)
{
  struct berth_audit audit = { .to = name };

  if (berth_audit_begin (&audit, host, "environment.remove", NULL, &error) != 0)
    return -1;
  return berth_audit_end (&audit, remove_named (host, name, error));
}
