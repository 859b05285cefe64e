/* library.h - libraries that are opened when they are first needed, and never linked. */
#ifndef BERTH_BASE_LIBRARY_H
#define BERTH_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

struct berth_library_symbol
{
  const char *name;
  void *slot; /* a pointer to a function */
};

/* Opens SONAME, which stays loaded, and fills every slot.  False with the REASON, which names what
 * is missing. */
bool berth_library_load (const char *soname, const struct berth_library_symbol *symbols, size_t count, char *reason,
                         size_t size);

#endif
