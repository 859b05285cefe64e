/* isolated.h - `ns` with one function changed, for clauses about what `plain` does not have. */
#ifndef CONFORMANCE_VARIANTS_ISOLATED_H
#define CONFORMANCE_VARIANTS_ISOLATED_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "conformance/variants/variant.h"

#define ISOLATED_SETTINGS 32

/* ns's tables, to be written on. */
struct isolated
{
  const struct berth_backend *ns;
  struct berth_backend backend;
  struct berth_commands_ops commands;
  struct berth_pause_ops pause;
  struct berth_restart_ops restart;
  struct berth_setting settings[ISOLATED_SETTINGS];
};

static inline void
isolated_fill (struct isolated *isolated, const char *name, const struct berth_services *services)
{
  char path[4096];
  void *library;
  const struct berth_backend *(*entry) (const struct berth_services *);

  snprintf (path, sizeof path, "%s/plugins/ns/.libs/berth-backend-ns.so", getenv ("BERTH_TEST_BUILDDIR"));
  library = dlopen (path, RTLD_NOW | RTLD_LOCAL);
  *(void **) &entry = library != NULL ? dlsym (library, "berth_backend_v1") : NULL;
  isolated->ns = entry != NULL ? entry (services) : NULL;
  if (isolated->ns == NULL)
    return;
  isolated->backend = *isolated->ns;
  isolated->commands = *isolated->ns->commands;
  isolated->pause = *isolated->ns->pause;
  isolated->restart = *isolated->ns->restart;
  isolated->backend.name = name;
  isolated->backend.commands = &isolated->commands;
  isolated->backend.pause = &isolated->pause;
  isolated->backend.restart = &isolated->restart;
  /* The variables of settings begin with the backend's name, which is another now. */
  for (size_t i = 0; i < isolated->ns->settings.count && i < ISOLATED_SETTINGS; i++)
    {
      isolated->settings[i] = ((const struct berth_setting *) isolated->ns->settings.first)[i];
      isolated->settings[i].environment = NULL;
    }
  isolated->backend.settings.first = isolated->settings;
}

/* What says that it was done, of a function that takes a sandbox to another state. */
static inline int
isolated_only_say (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
                   const struct berth_options *options)
{
  (void) call;
  (void) state;
  (void) native;
  (void) options;
  return 0;
}

/* The entry of the backend NAME, whose `isolated` is ns but for CHANGE. */
#define ISOLATED(name, change)                                                                    \
  static struct isolated isolated;                                                                \
                                                                                                  \
  const struct berth_backend *berth_backend_v1 (const struct berth_services *services)            \
  {                                                                                               \
    if (isolated.ns == NULL)                                                                      \
      {                                                                                           \
        isolated_fill (&isolated, name, services);                                                \
        change;                                                                                   \
      }                                                                                           \
    return isolated.ns != NULL ? &isolated.backend : NULL;                                        \
  }

#endif
