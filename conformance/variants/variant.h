/* variant.h - `plain` with one function changed.
 *
 * Each variant errs in one thing that a backend may well get wrong, and exactly the clause about
 * it must fail: so a suite that passes has been seen to fail.  A variant knows nothing of the
 * suites. */
#ifndef CONFORMANCE_VARIANTS_VARIANT_H
#define CONFORMANCE_VARIANTS_VARIANT_H

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include <berth/backend.h>

/* plain's own entry, renamed where its sources are compiled for the variants. */
const struct berth_backend *plain_backend_v1 (const struct berth_services *services);

#define PLAIN (plain_backend_v1 (NULL))

/* plain's tables, to be written on. */
struct variant
{
  struct berth_backend backend;
  struct berth_lifecycle_ops lifecycle;
  struct berth_commands_ops commands;
  struct berth_files_ops files;
  struct berth_workspace_ops workspace;
};

static inline void
variant_fill (struct variant *variant, const char *name)
{
  variant->backend = *PLAIN;
  variant->lifecycle = *PLAIN->lifecycle;
  variant->commands = *PLAIN->commands;
  variant->files = *PLAIN->files;
  variant->workspace = *PLAIN->workspace;
  variant->backend.name = name;
  variant->backend.lifecycle = &variant->lifecycle;
  variant->backend.commands = &variant->commands;
  variant->backend.files = &variant->files;
  variant->backend.workspace = &variant->workspace;
}

/* Sinks that pass on to the one that their context is. */
static inline int
variant_pass_output (void *context, uint32_t stream, const void *bytes, size_t size)
{
  const struct berth_run_sink *sink = context;

  return sink->output (sink->context, stream, bytes, size);
}

static inline int
variant_pass_exit (void *context, const struct berth_exit *exit)
{
  const struct berth_run_sink *sink = context;

  return sink->exit (sink->context, exit);
}

struct variant_sought
{
  const char *id;
  bool found;
};

static inline int
variant_look (void *context, const struct berth_found *found)
{
  struct variant_sought *sought = context;

  sought->found = sought->found || strcmp (found->native_id, sought->id) == 0;
  return 0;
}

/* Whether plain lists a sandbox of this id. */
static inline bool
variant_knows (struct berth_call *call, struct berth_state *state, const char *id)
{
  struct variant_sought sought = { .id = id };
  struct berth_found_sink sink = { sizeof sink, 0, &sought, variant_look, NULL };

  return PLAIN->lifecycle->list_ids (call, state, &sink) == 0 && sought.found;
}

/* The entry of the backend NAME, whose `variant` is plain but for CHANGE. */
#define VARIANT(name, change)                                                                     \
  static struct variant variant;                                                                  \
  static pthread_once_t once = PTHREAD_ONCE_INIT;                                                 \
                                                                                                  \
  static void fill (void)                                                                         \
  {                                                                                               \
    variant_fill (&variant, name);                                                                \
    change;                                                                                       \
  }                                                                                               \
                                                                                                  \
  const struct berth_backend *berth_backend_v1 (const struct berth_services *services)            \
  {                                                                                               \
    (void) services;                                                                              \
    pthread_once (&once, fill);                                                                   \
    return &variant.backend;                                                                      \
  }

#endif
