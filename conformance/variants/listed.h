/* listed.h - plain's list, with some entries left out. */
#ifndef CONFORMANCE_VARIANTS_LISTED_H
#define CONFORMANCE_VARIANTS_LISTED_H

#include "conformance/variants/variant.h"

struct listed
{
  const struct berth_entry_sink *sink;
  bool (*is_told) (const struct listed *listed, const char *name);
  unsigned int count; /* of those before */
};

static inline int
listed_entry (void *context, const struct berth_file_info *info)
{
  struct listed *listed = context;
  bool told = listed->is_told (listed, info->name);

  listed->count++;
  return told ? listed->sink->entry (listed->sink->context, info) : 0;
}

static inline int
listed_list (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_read *how,
             const struct berth_entry_sink *sink, bool (*is_told) (const struct listed *listed, const char *name))
{
  struct listed listed = { .sink = sink, .is_told = is_told };
  struct berth_entry_sink own = { sizeof own, 0, &listed, listed_entry };

  return PLAIN->files->list (call, handle, path, how, &own);
}

/* The backend NAME, whose list leaves out what IS_TOLD says no to. */
#define LISTED(name, is_told)                                                                     \
  static int list (struct berth_call *call, struct berth_handle *handle, const char *path,        \
                   const struct berth_read *how, const struct berth_entry_sink *sink)             \
  {                                                                                               \
    return listed_list (call, handle, path, how, sink, is_told);                                  \
  }                                                                                               \
                                                                                                  \
  VARIANT (name, variant.files.list = list)

#endif
