#include "sdk/base/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

bool
berth_library_load (const char *soname, const struct berth_library_symbol *symbols, size_t count, char *reason,
                    size_t size)
{
  /* taking it away while another thread loads it again gains nothing: it stays */
  void *handle = dlopen (soname, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

  if (handle == NULL)
    {
      snprintf (reason, size, "%s", dlerror ());
      return false;
    }
  for (size_t i = 0; i < count; i++)
    {
      void *symbol = dlsym (handle, symbols[i].name);
      if (symbol == NULL)
        {
          snprintf (reason, size, "%s has no %s", soname, symbols[i].name);
          return false;
        }
      /* A pointer to an object is no pointer to a function in C; their bytes are the same in POSIX. */
      memcpy (symbols[i].slot, &symbol, sizeof symbol);
    }
  return true;
}
