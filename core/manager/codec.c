#include "config.h"

#include "core/manager/codec.h"

#include <pthread.h>

#include "core/registry/error.h"
#include "sdk/base/library.h"

/* Filled once, only read afterwards. */
static struct
{
  pthread_once_t once;
  struct berth_codec table;
  bool complete;
  char reason[256];
} library = { .once = PTHREAD_ONCE_INIT };

static void
load (void)
{
#define SYMBOL(name) { #name, &library.table.name },
  const struct berth_library_symbol zstd[] = { CODEC_ZSTD_FUNCTIONS (SYMBOL) };
  const struct berth_library_symbol sha256[] = { CODEC_SHA256_FUNCTIONS (SYMBOL) };
#undef SYMBOL

  library.complete = berth_library_load (LIBZSTD_SONAME, zstd, sizeof zstd / sizeof *zstd, library.reason,
                                         sizeof library.reason)
                     && berth_library_load (LIBNETTLE_SONAME, sha256, sizeof sha256 / sizeof *sha256, library.reason,
                                            sizeof library.reason);
}

const struct berth_codec *
berth_codec (struct berth_error *error)
{
  pthread_once (&library.once, load);
  if (library.complete)
    return &library.table;
  berth_error_set (error, BERTH_E_CONFIGURATION, "snapshots need libzstd and nettle, which cannot be loaded: %s",
                   library.reason);
  berth_error_hint (error, "install them: libzstd1 and libnettle8 on Debian and Ubuntu, libzstd and nettle on Fedora");
  return NULL;
}
