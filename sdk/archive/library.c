#include "config.h"

#include "sdk/archive/library.h"

#include <pthread.h>
#include <stdbool.h>

#include "sdk/base/library.h"

#ifndef ARCHIVE_LIBRARY /* a test names another */
#define ARCHIVE_LIBRARY LIBARCHIVE_SONAME
#endif

/* Tells package tools what is opened without being linked: an ELF note of the dlopen convention. */
#define NOTE                                                                                      \
  "[{\"soname\":[\"" ARCHIVE_LIBRARY "\"],\"feature\":\"archive\","                                   \
  "\"description\":\"workspaces as tar\",\"priority\":\"recommended\"}]"

static const struct
{
  uint32_t name_size;
  uint32_t text_size;
  uint32_t type;
  char name[4];
  char text[(sizeof NOTE + 3) / 4 * 4];
} note __attribute__ ((used, section (".note.dlopen"), aligned (4)))
= { sizeof note.name, sizeof NOTE, 0x407c0c0a, "FDO", NOTE };

/* Filled once, only read afterwards. */
static struct
{
  pthread_once_t once;
  struct berth_libarchive table;
  bool complete;
  char reason[256];
} library = { .once = PTHREAD_ONCE_INIT };

static void
load (void)
{
#define LIBARCHIVE_SYMBOL(name) { #name, &library.table.name },
  const struct berth_library_symbol symbols[] = { LIBARCHIVE_FUNCTIONS (LIBARCHIVE_SYMBOL) };
#undef LIBARCHIVE_SYMBOL

  library.table.writing = newlocale (LC_CTYPE_MASK, "C.UTF-8", (locale_t) 0);
  library.table.reading = newlocale (LC_CTYPE_MASK, "C", (locale_t) 0);
  library.complete = berth_library_load (ARCHIVE_LIBRARY, symbols, sizeof symbols / sizeof *symbols, library.reason,
                                         sizeof library.reason);
}

const struct berth_libarchive *
berth_libarchive (struct berth_call *call)
{
  pthread_once (&library.once, load);
  if (library.complete)
    return &library.table;
  call->services->fail (call, BERTH_E_CONFIGURATION, "archives need libarchive, which cannot be loaded: %s",
                        library.reason);
  call->services->hint (call, "install libarchive: libarchive13 on Debian and Ubuntu, libarchive on Fedora");
  return NULL;
}
