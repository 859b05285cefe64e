#include "core/registry/load.h"

#include <dlfcn.h>
#include <ltdl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "core/registry/elf.h"
#include "core/registry/instance.h"
#include "core/registry/registered.h"
#include "core/registry/secure.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/string.h"

/* libltdl has one list of modules and one text of the last error for the whole process. */
static pthread_mutex_t ltdl_mutex = PTHREAD_MUTEX_INITIALIZER;

typedef int curl_global_init_function (long flags);
#define CURL_EVERYTHING 3L

/* libltdl says "file not found" of whatever fails, so the loader is asked itself.  It has just been
 * asked the same: nothing runs now that has not run then. */
static void
complain_of_load (const char *file, const char *ltdl_says, struct berth_problems *problems)
{
  void *handle = dlopen (file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  const char *says = handle == NULL ? dlerror () : NULL;

  if (says == NULL)
    says = ltdl_says != NULL ? ltdl_says : "no reason given";
  if (strstr (says, "failed to map segment") != NULL)
    berth_problem (problems, "take the mount option noexec away", "cannot be loaded: %s", says);
  else
    berth_problem (problems, "install what is missing, or build it with -Wl,-z,defs", "cannot be loaded: %s", says);
}

/* The absolute path with its extension, local and resident: never a search, never a .la file. */
static lt_dlhandle
open_locked (const char *file)
{
  lt_dladvise advise = NULL;
  lt_dlhandle handle = NULL;

  if (lt_dlinit () != 0 || lt_dladvise_init (&advise) != 0)
    return NULL;
  if (lt_dladvise_local (&advise) == 0 && lt_dladvise_resident (&advise) == 0)
    handle = lt_dlopenadvise (file, advise);
  lt_dladvise_destroy (&advise);
  return handle;
}

/* The entry of FILE, and libcurl's initialiser where the file links it. */
static berth_backend_function *
load_locked (const char *file, curl_global_init_function **initialise, struct berth_problems *problems)
{
  berth_backend_function *entry = NULL;
  lt_dlhandle handle = open_locked (file);
  void *symbol;

  if (handle == NULL)
    {
      complain_of_load (file, lt_dlerror (), problems);
      return NULL;
    }
  /* Through a library of its own, which nobody sees in its file. */
  if (lt_dlsym (handle, "berth_version") != NULL)
    berth_problem (problems, "leave that library out: a backend gets everything through its services",
                   "brings a second libberth into the process, through a library that it links");
  symbol = lt_dlsym (handle, BERTH_BACKEND_SYMBOL);
  memcpy (&entry, &symbol, sizeof entry);
  if (entry == NULL)
    berth_problem (problems, "define and export that function", "does not export %s", BERTH_BACKEND_SYMBOL);
  symbol = lt_dlsym (handle, "curl_global_init");
  memcpy (initialise, &symbol, sizeof *initialise);
  return entry;
}

/* Plugins never do it themselves.  It counts, and is done before any thread of the backend's. */
static void
initialise_libcurl (const struct berth_registered *registered, curl_global_init_function *initialise,
                    struct berth_problems *problems)
{
  int result;

  if ((berth_registered_backend (registered)->flags & BERTH_BACKEND_USES_LIBCURL) == 0)
    return;
  if (initialise == NULL)
    {
      berth_problem (problems, "link libcurl, or leave the flag out", "says that it uses libcurl and does not link it");
      return;
    }
  pthread_mutex_lock (&ltdl_mutex);
  result = initialise (CURL_EVERYTHING);
  pthread_mutex_unlock (&ltdl_mutex);
  if (result != 0)
    berth_problem (problems, NULL, "libcurl cannot be initialised (error %d)", result);
}

static int
check_file (const char *file, struct berth_problems *problems, struct berth_problems *warnings)
{
  BERTH_AUTO_FD int fd = berth_secure_open (file, problems);

  /* Also a file that will be refused is looked at, so that all that is wrong is told at once. */
  if (fd >= 0)
    berth_elf_check (fd, problems, warnings);
  return berth_problems_any (problems) ? -1 : 0;
}

int
berth_load (const char *file, struct berth_registered **out, struct berth_problems *problems,
            struct berth_problems *warnings)
{
  curl_global_init_function *initialise = NULL;
  berth_backend_function *entry;

  if (check_file (file, problems, warnings) < 0)
    return -1;
  pthread_mutex_lock (&ltdl_mutex);
  entry = load_locked (file, &initialise, problems);
  pthread_mutex_unlock (&ltdl_mutex);
  if (berth_problems_any (problems) || berth_registered_make (file, entry (berth_services_table ()), out, problems, warnings) < 0)
    return -1;
  initialise_libcurl (*out, initialise, problems);
  if (!berth_problems_any (problems))
    return 0;
  berth_registered_free (*out);
  *out = NULL;
  return -1;
}
