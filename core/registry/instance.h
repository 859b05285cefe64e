/* Inside of an instance: shared by the files that open it and those that serve its calls. */
#ifndef CORE_REGISTRY_INSTANCE_H
#define CORE_REGISTRY_INSTANCE_H

#include <pthread.h>

#include "core/registry/gate.h"
#include "core/registry/redact.h"
#include "core/registry/registry.h"
#include "core/registry/settings.h"

/* What the options of the registry told, owned by the registry. */
struct berth_registry_facts
{
  char *state_dir;   /* these three may be NULL: then instances have no such directory */
  char *runtime_dir;
  char *cache_dir;
  char *agent_path;
  char *installation_id;
  void (*log) (void *context, uint32_t level, const char *line);
  void *log_context;
};

struct berth_interned;
struct berth_instance
{
  const struct berth_registry_facts *facts;
  char *name;
  const struct berth_registered *registered; /* the plugin's; resident */
  struct berth_state *state;
  struct berth_settings settings;
  char *directories[4]; /* by enum berth_directory; made before `open` */
  struct berth_redactor redactor;
  struct berth_gate gate;
  pthread_mutex_t mutex; /* guards `interned` */
  struct berth_interned *interned;
};

/* Makes and opens the instance NAME of a plugin.  SETTINGS become its own (also on failure).
 * On failure *ERROR says why and nothing is left. */
int berth_instance_open (const struct berth_registry_facts *facts, const char *name,
                         const struct berth_registered *registered, struct berth_settings *settings,
                         struct berth_instance **out, struct berth_error *error);
/* NULL is allowed.  No call and no handle of it may be left. */
void berth_instance_close (struct berth_instance *instance);

/* A copy of TEXT that lives until the instance is closed; NULL without memory. */
const char *berth_instance_intern (struct berth_instance *instance, const char *text);

/* The table that every backend gets. */
const struct berth_services *berth_services_table (void);

#endif
