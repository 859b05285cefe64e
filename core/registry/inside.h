/* Inside of the registry: shared by the files that make it up. */
#ifndef CORE_REGISTRY_INSIDE_H
#define CORE_REGISTRY_INSIDE_H

#include <pthread.h>

#include "core/registry/config.h"
#include "core/registry/instance.h"
#include "core/registry/problems.h"
#include "core/registry/registry.h"
#include "core/registry/search.h"

/* Something that one thread makes while others that want it wait; no lock is held meanwhile. */
struct berth_work
{
  int started;
  int done;
  pthread_t by;
};

/* A backend file. */
struct berth_plugin
{
  struct berth_plugin *next;
  char *file;
  struct berth_work work;
  /* Set once `work` is done. */
  struct berth_registered *registered; /* NULL: refused */
  struct berth_problems problems;
  struct berth_problems warnings;
};

/* An instance that was asked for. */
struct berth_slot
{
  struct berth_slot *next;
  char *name;
  struct berth_work work;
  /* Set once `work` is done. */
  struct berth_instance *instance; /* NULL: see `error` */
  struct berth_error error;
  struct berth_problems problems; /* of its settings */
};

struct berth_registry
{
  struct berth_registry_facts facts;
  struct berth_config *config;
  struct berth_search search;
  char **enabled; /* ends with NULL; NULL: every backend that executes something */
  char *enabled_origin;
  char *default_name;
  char *default_origin; /* who named it; NULL: the build */
  uint32_t allow_test_backends;
  pthread_mutex_t mutex; /* guards the lists and what `work` says; never held while a backend runs */
  pthread_cond_t changed;
  struct berth_plugin *plugins;
  struct berth_slot *slots;
};

/* With the mutex held: 1 when the caller is to do the work, and then to call berth_work_end; 0 once it
 * is done; -1 when this very thread is doing it. */
int berth_work_begin_locked (struct berth_registry *registry, struct berth_work *work);
void berth_work_end (struct berth_registry *registry, struct berth_work *work);

/* The plugin of FILE, loaded or refused.  NULL with *ERROR without memory, or when this thread is
 * just loading it. */
struct berth_plugin *berth_plugin_get (struct berth_registry *registry, const char *file, struct berth_error *error);
void berth_plugins_free (struct berth_registry *registry);

/* Fills *ERROR with the refusal of FILE, the file of backend NAME; returns -1. */
int berth_plugin_refusal (const struct berth_plugin *plugin, const char *name, struct berth_error *error);

/* The slot of NAME, opened or failed; as berth_plugin_get. */
struct berth_slot *berth_slot_get (struct berth_registry *registry, const char *name, struct berth_error *error);
void berth_slots_free (struct berth_registry *registry);

/* The backend that instance NAME is one of; lives as long as the registry, or is NAME. */
const char *berth_registry_plugin_name (const struct berth_registry *registry, const char *name);
/* The plugin of instance NAME.  NULL with NOT_FOUND, or with its refusal. */
struct berth_plugin *berth_registry_plugin (struct berth_registry *registry, const char *name,
                                            struct berth_error *error);
/* Whether the list of enabled backends has NAME, or there is none. */
int berth_registry_is_listed (const struct berth_registry *registry, const char *name);
/* 0 when instances of PLUGIN may be opened; else BACKEND_DISABLED. */
int berth_registry_allows (const struct berth_registry *registry, const char *name, const struct berth_backend *backend,
                           struct berth_error *error);

/* Warnings for each variable of BACKEND's own that is set while the instance NAME is not enabled. */
void berth_owned_settings (const struct berth_backend *backend, const char *name, struct berth_problems *warnings);

/* A line of the registry's own. */
void berth_registry_log (const struct berth_registry *registry, uint32_t level, const char *format, ...)
    BERTH_FORMAT (3, 4);

#endif
