/* The traps of dynamic loading: libltdl's own (L1 to L12), and files that are not what they seem. Where a
 * trap could close unseen, the test first shows that it is there. */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <ltdl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/broken/tests.h"
#include "core/registry/elf.h"
#include "sdk/base/fd.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

/* What each test opens once, and closes. */
static uint32_t
open_code (const char *path, const char *name, struct berth_error *error)
{
  struct berth_registry *registry = open_registry (path, NULL, NULL, NULL);
  struct berth_instance *instance = NULL;

  if (berth_registry_instance (registry, name, NULL, &instance, error) == 0)
    error->code = 0;
  berth_registry_close (registry);
  return error->code;
}

static int
count_mapped (struct dl_phdr_info *info, size_t size, void *context)
{
  const char **name_and_count = context;

  if (strstr (info->dlpi_name, name_and_count[0]) != NULL)
    name_and_count[1] = "yes";
  return 0;
}

static bool
is_mapped (const char *name)
{
  const char *name_and_count[2] = { name, NULL };

  dl_iterate_phdr (count_mapped, name_and_count);
  return name_and_count[1] != NULL;
}

static lt_dlhandle
ltdl_open (const char *file)
{
  lt_dladvise advise = NULL;
  lt_dlhandle handle = NULL;

  CU_ASSERT_EQUAL_FATAL (lt_dlinit (), 0);
  CU_ASSERT_EQUAL_FATAL (lt_dladvise_init (&advise), 0);
  lt_dladvise_local (&advise);
  lt_dladvise_resident (&advise);
  handle = lt_dlopenadvise (file, advise);
  lt_dladvise_destroy (&advise);
  return handle;
}

/* L1: libltdl looks along three variables for a name without a slash; the registry never gives it one. */
static void
test_bare_name (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer log = { 0 };
  AUTO_PLACE struct place place;
  struct berth_registry *registry;
  struct berth_instance *instance = NULL;
  struct berth_error error = { 0 };

  place_make (&place);
  place_copy (&place, "good", "bare", &content);
  setenv ("LTDL_LIBRARY_PATH", place.path, 1);
  setenv ("LD_LIBRARY_PATH", place.path, 1);
  CU_ASSERT_PTR_NOT_NULL (ltdl_open ("berth-backend-bare.so"));
  CU_ASSERT_EQUAL (open_code ("/nonexistent", "bare", &error), BERTH_E_NOT_FOUND);
  CU_ASSERT_STRING_EQUAL (error.message, "backend \"bare\" is not installed (looked for berth-backend-bare.so in "
                                         "/nonexistent, /nonexistent)");
  unsetenv ("LTDL_LIBRARY_PATH");
  unsetenv ("LD_LIBRARY_PATH");
  registry = open_registry ("conformance:.:plugins/ns", NULL, NULL, &log);
  CU_ASSERT_EQUAL (berth_registry_instance (registry, "bare", NULL, &instance, &error), -1);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&log),
                          "2 backend path: \"conformance\" is not absolute and is left out: write it from the root\n"
                          "2 backend path: \".\" is not absolute and is left out: write it from the root\n"
                          "2 backend path: \"plugins/ns\" is not absolute and is left out: write it from the root\n");
  berth_registry_close (registry);
}

/* L2 L3 L12: a text file beside the backend would redirect the load; the registry names the .so itself. */
static void
test_redirect (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };
  AUTO_PLACE struct place place;
  BERTH_AUTO_FREE char *trace = NULL, *stem = NULL, *text = NULL;
  struct berth_error error = { 0 };

  place_make (&place);
  trace = place_file (&place, "trace");
  stem = place_file (&place, "berth-backend-good");
  place_copy (&place, "constructor", "constructor", &content);
  place_copy (&place, "good", "good", &content);
  text = berth_string_format ("# berth-backend-good.la - a libtool library file\ndlname='berth-backend-constructor.so'\n"
                              "library_names='berth-backend-constructor.so'\nold_library=''\ninstalled=yes\n"
                              "shouldnotlink=yes\ndependency_libs=' -L/evil -levil'\nlibdir='%s'\n",
                              place.path);
  place_write (&place, "berth-backend-good.la", text, strlen (text), 0644);
  setenv ("BERTH_TEST_TRACE", trace, 1);
  CU_ASSERT_EQUAL (open_code (place.path, "good", &error), 0);
  CU_ASSERT_EQUAL (access (trace, F_OK), -1);
  /* The control: with its way of adding extensions the text file wins. */
  CU_ASSERT_EQUAL (lt_dlinit (), 0);
  CU_ASSERT_PTR_NOT_NULL (lt_dlopenext (stem));
  CU_ASSERT_EQUAL (access (trace, F_OK), 0);
  unsetenv ("BERTH_TEST_TRACE");
  place_write (&place, "berth-backend-text.so", text, strlen (text), 0755);
  expect_refused (place.path, "text", "is a text file of libtool (want a shared object)");
}

/* L4 L5: it loads what is not complete, and calls everything "file not found". */
static void
test_lazy (void)
{
  BERTH_AUTO_FREE char *lazy = broken_file ("lazy"), *undefined = broken_file ("undefined");

  CU_ASSERT_PTR_NOT_NULL (ltdl_open (lazy));
  CU_ASSERT_PTR_NULL (ltdl_open (undefined));
  CU_ASSERT_STRING_EQUAL (lt_dlerror (), "file not found");
}

/* L6: only names that are exactly a backend's count; what is left out is told to who debugs. */
static void
test_suffixes (void)
{
  static const char *const strays[]
      = { ".berth-backend-good.so", "README",          "berth-backend-.so",        "berth-backend-Good.so",
          "berth-backend-good.so.dpkg-new", "berth-backend-good.so~", "berth-backend-good_x.so", "libberth-backend-good.so" };
  BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer log = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer want = { 0 };
  AUTO_PLACE struct place place;
  struct berth_registry *registry;

  place_make (&place);
  place_copy (&place, "good", "good", &content);
  for (size_t i = 0; i < sizeof strays / sizeof strays[0]; i++)
    place_write (&place, strays[i], content.data, content.size, 0755);
  registry = open_registry (place.path, NULL, NULL, &log);
  CU_ASSERT_EQUAL (scan_for (registry, "good", &text), BERTH_BACKEND_READY);
  CU_ASSERT_EQUAL (text.size, 0);
  for (size_t i = 0; i < sizeof strays / sizeof strays[0]; i++)
    {
      berth_buffer_clear (&want);
      berth_buffer_appendf (&want, "4 %s/%s is not named like a backend and is left out\n", place.path, strays[i]);
      CU_ASSERT_PTR_NOT_NULL (strstr (berth_buffer_string (&log), berth_buffer_string (&want)));
    }
  berth_registry_close (registry);
}

static void *
open_many (void *context)
{
  const char *names[] = { "good", "older", "magic", "undefined", "exports", "newer-minor", "no-symbol", "settings" };
  struct berth_registry *shared = context;

  for (int i = 0; i < 24; i++)
    {
      struct berth_registry *own = i % 3 == 0 ? open_registry (broken_directory (), NULL, NULL, NULL) : NULL;
      struct berth_instance *instance = NULL;
      struct berth_error error;

      berth_registry_instance (own != NULL ? own : shared, names[i % 8], NULL, &instance, &error);
      if (own != NULL)
        berth_registry_close (own);
    }
  return NULL;
}

/* L7: it has one list and one error text for all threads. */
static void
test_threads (void)
{
  struct berth_registry *shared = open_registry (broken_directory (), NULL, NULL, NULL);
  struct berth_instance *instance = NULL;
  pthread_t threads[8];

  for (size_t i = 0; i < 8; i++)
    CU_ASSERT_EQUAL_FATAL (pthread_create (&threads[i], NULL, open_many, shared), 0);
  for (size_t i = 0; i < 8; i++)
    pthread_join (threads[i], NULL);
  CU_ASSERT_EQUAL (berth_registry_instance (shared, "good", NULL, &instance, NULL), 0);
  CU_ASSERT_EQUAL (berth_registry_instance (shared, "magic", NULL, &instance, NULL), -1);
  berth_registry_close (shared);
}

/* L8: a second spelling of the symbol is found first. */
static void
test_spelling (void)
{
  BERTH_AUTO_FREE char *file = broken_file ("ltx");
  /* The registry leaves the mangled name to libltdl: it is made from the file's. */
  lt_dlhandle handle = ltdl_open (file);

  CU_ASSERT_PTR_NOT_NULL_FATAL (handle);
  CU_ASSERT_PTR_NOT_NULL (lt_dlsym (handle, "berth_backend_ltx_LTX_berth_backend_v1"));
  expect_refused (broken_directory (), "ltx",
                  "exports berth_backend_ltx_LTX_berth_backend_v1, which libltdl would take for berth_backend_v1");
}

/* L10 L11 D-156: nothing is unloaded when its last user is gone. */
static void *
cling (void *context)
{
  for (int i = 0; i < 100; i++)
    {
      struct berth_error error = { 0 };

      CU_ASSERT_EQUAL (open_code (broken_directory (), "clings", &error), 0);
    }
  return NULL;
}

static void
test_resident (void)
{
  pthread_t thread;
  int status = -1;
  pid_t child;

  CU_ASSERT_EQUAL_FATAL (pthread_create (&thread, NULL, cling, NULL), 0);
  pthread_join (thread, NULL);
  CU_ASSERT_TRUE (is_mapped ("berth-backend-clings.so"));
  /* Its fork handlers, its key's destructor and its exit handlers still point into it. */
  child = fork ();
  if (child == 0)
    exit (0);
  CU_ASSERT_EQUAL (waitpid (child, &status, 0), child);
  CU_ASSERT_TRUE (WIFEXITED (status) && WEXITSTATUS (status) == 0);
}

/* D-157: a file that is replaced is judged anew; what runs is what was loaded. */
static void
test_replaced (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };
  AUTO_PLACE struct place place;
  struct berth_error error = { 0 };

  place_make (&place);
  place_copy (&place, "good", "good", &content);
  CU_ASSERT_EQUAL (open_code (place.path, "good", &error), 0);
  place_write (&place, "berth-backend-good.so", "", 0, 0755);
  expect_refused (place.path, "good", "is empty");
  place_write (&place, "berth-backend-good.so", content.data, content.size, 0755);
  CU_ASSERT_EQUAL (open_code (place.path, "good", &error), 0);
}

/* D-154: what is refused for what it is has run nothing; the control leaves its trace. */
static void
test_constructor (void)
{
  AUTO_PLACE struct place place;
  BERTH_AUTO_FREE char *trace = NULL;
  struct berth_error error = { 0 };

  place_make (&place);
  trace = place_file (&place, "trace");
  setenv ("BERTH_TEST_TRACE", trace, 1);
  expect_refused (broken_directory (), "constructor-major",
                  "is for another ABI (got berth_backend_v2, want berth_backend_v1)");
  CU_ASSERT_EQUAL (access (trace, F_OK), -1);
  CU_ASSERT_FALSE (is_mapped ("berth-backend-constructor-major.so"));
  CU_ASSERT_EQUAL (open_code (broken_directory (), "constructor", &error), 0);
  CU_ASSERT_EQUAL (access (trace, F_OK), 0);
  unsetenv ("BERTH_TEST_TRACE");
}

/* D-154: its `malloc` aborts; nobody in the process calls it. */
static void
test_exports (void)
{
  void *(*volatile allocate) (size_t) = malloc;
  struct berth_error error = { 0 };
  void *pointer;

  CU_ASSERT_EQUAL (open_code (broken_directory (), "exports", &error), 0);
  pointer = allocate (100);
  CU_ASSERT_PTR_NOT_NULL (pointer);
  free (pointer);
  /* Of no backend that is loaded can anybody else see a symbol, its entry neither. */
  CU_ASSERT_PTR_NULL (dlsym (RTLD_DEFAULT, BERTH_BACKEND_SYMBOL));
}

/* ---- D-158: files ---- */

static void
test_files (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };
  AUTO_PLACE struct place place;
  BERTH_AUTO_FREE char *directory = NULL, *pipe_file = NULL, *self = NULL, *link = NULL, *target = NULL, *what = NULL;
  struct berth_error error = { 0 };

  place_make (&place);
  place_copy (&place, "good", "good", &content);
  place_write (&place, "berth-backend-empty.so", "", 0, 0755);
  expect_refused (place.path, "empty", "is empty");
  place_write (&place, "berth-backend-script.so", "#!/bin/sh\n", 10, 0755);
  expect_refused (place.path, "script", "is not an ELF file");
  place_write (&place, "berth-backend-short.so", content.data, 40, 0755);
  expect_refused (place.path, "short", "ends inside the ELF header");
  place_write (&place, "berth-backend-cut.so", content.data, 200, 0755);
  expect_refused (place.path, "cut", "has no dynamic section: it is damaged or not a shared object");
  directory = place_file (&place, "berth-backend-dir.so");
  CU_ASSERT_EQUAL (mkdir (directory, 0755), 0);
  expect_refused (place.path, "dir", "is a directory");
  pipe_file = place_file (&place, "berth-backend-pipe.so");
  CU_ASSERT_EQUAL (mkfifo (pipe_file, 0600), 0);
  expect_refused (place.path, "pipe", "is not a regular file");
  self = place_file (&place, "berth-backend-loop.so");
  CU_ASSERT_EQUAL (symlink (self, self), 0);
  expect_refused (place.path, "loop", "is a symbolic link that leads to itself");
  link = place_file (&place, "berth-backend-link.so");
  target = place_file (&place, "berth-backend-good.so");
  CU_ASSERT_EQUAL (symlink (target, link), 0);
  what = berth_string_format ("is a symbolic link to %s", target);
  expect_refused (place.path, "link", what);
  CU_ASSERT_EQUAL (open_code (place.path, "good", &error), 0);
}

static void
patch (const struct place *place, const char *name, const struct berth_buffer *content, size_t offset, unsigned char byte)
{
  BERTH_AUTO_FREE char *file = berth_string_format ("berth-backend-%s.so", name);
  unsigned char saved = (unsigned char) content->data[offset];

  content->data[offset] = (char) byte;
  place_write (place, file, content->data, content->size, 0755);
  content->data[offset] = (char) saved;
}

static void
test_machine (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };
  AUTO_PLACE struct place place;
  struct berth_error error = { 0 };

  place_make (&place);
  place_copy (&place, "good", "good", &content);
  patch (&place, "bits", &content, EI_CLASS, ELFCLASS64 + ELFCLASS32 - (unsigned char) content.data[EI_CLASS]);
  patch (&place, "machine", &content, offsetof (ElfW (Ehdr), e_machine), EM_MIPS);
  patch (&place, "program", &content, offsetof (ElfW (Ehdr), e_type), ET_EXEC);
  CU_ASSERT_EQUAL (open_code (place.path, "bits", &error), BERTH_E_CONFIGURATION);
  CU_ASSERT_PTR_NOT_NULL (strstr (error.message, sizeof (void *) == 8 ? "is 32-bit " : "is 64-bit "));
  CU_ASSERT_STRING_EQUAL (error.hint, "install the backend for this machine");
  CU_ASSERT_EQUAL (open_code (place.path, "machine", &error), BERTH_E_CONFIGURATION);
  CU_ASSERT_PTR_NOT_NULL (strstr (error.message, "is for machine 8 other (want "));
  expect_refused (place.path, "program", "is ELF type 2 (want 3, a shared object)");
}

/* The bytes of a dynamic entry with TAG in the file. */
static ElfW (Dyn) *
find_dynamic (struct berth_buffer *content, ElfW (Sxword) tag)
{
  ElfW (Ehdr) *header = (void *) content->data;
  ElfW (Phdr) *segment = (void *) (content->data + header->e_phoff);

  for (unsigned int i = 0; i < header->e_phnum; i++)
    if (segment[i].p_type == PT_DYNAMIC)
      for (ElfW (Dyn) *entry = (void *) (content->data + segment[i].p_offset); entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == tag)
          return entry;
  return NULL;
}

static void
test_text_relocations (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };
  AUTO_PLACE struct place place;
  ElfW (Dyn) *flags;

  place_make (&place);
  place_copy (&place, "good", "textrel", &content);
  flags = find_dynamic (&content, DT_FLAGS);
  CU_ASSERT_PTR_NOT_NULL_FATAL (flags);
  flags->d_un.d_val |= DF_TEXTREL;
  place_write (&place, "berth-backend-textrel.so", content.data, content.size, 0755);
  expect_refused (place.path, "textrel", "has relocations in its code (TEXTREL)");
}

static void
test_owners (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };
  AUTO_PLACE struct place place;
  BERTH_AUTO_FREE char *file = NULL, *what = NULL;
  struct berth_error error = { 0 };

  place_make (&place);
  place_copy (&place, "good", "good", &content);
  file = place_file (&place, "berth-backend-good.so");
  chmod (file, 0757);
  expect_refused (place.path, "good", "the file can be written by everybody (mode 0757)");
  chmod (file, 0755);
  chmod (place.path, 0707);
  what = berth_string_format ("directory %s can be written by everybody (mode 0707)", place.path);
  expect_refused (place.path, "good", what);
  chmod (place.path, 0700);
  CU_ASSERT_EQUAL (open_code (place.path, "good", &error), 0);
}

static void
test_other_owners (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };
  AUTO_PLACE struct place place;
  BERTH_AUTO_FREE char *file = NULL, *what = NULL;
  struct berth_error error = { 0 };

  if (geteuid () != 0)
    {
      berth_test_skip ("only root can give a file away");
      return;
    }
  place_make (&place);
  place_copy (&place, "good", "good", &content);
  file = place_file (&place, "berth-backend-good.so");
  CU_ASSERT_EQUAL (chown (file, 54321, 54321), 0);
  expect_refused (place.path, "good", "the file belongs to uid 54321 (want root)");
  CU_ASSERT_EQUAL (chown (file, 0, 54321), 0);
  chmod (file, 0775);
  expect_refused (place.path, "good", "the file can be written by group 54321 (mode 0775)");
  chmod (file, 0755);
  CU_ASSERT_EQUAL (chown (place.path, 54321, 0), 0);
  what = berth_string_format ("directory %s belongs to uid 54321 (want root)", place.path);
  expect_refused (place.path, "good", what);
  CU_ASSERT_EQUAL (chown (place.path, 0, 0), 0);
  /* Sticky and root's: others may make files there and take none away. */
  chmod (place.path, 01777);
  CU_ASSERT_EQUAL (open_code (place.path, "good", &error), 0);
  chmod (place.path, 0700);
}

/* What another user gets: the exit status is that of the checks. */
static int
try_as_other (const struct place *place)
{
  struct berth_error error = { 0 };

  if (setresgid (54321, 54321, 54321) < 0 || setresuid (54321, 54321, 54321) < 0)
    return 2;
  return open_code (place->path, "good", &error) == BERTH_E_CONFIGURATION
                 && strstr (error.message, "cannot be opened: Permission denied") != NULL
                 && strcmp (error.hint, "give the user the right to read it") == 0
             ? 0
             : 1;
}

static void
test_unreadable (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };
  AUTO_PLACE struct place place;
  BERTH_AUTO_FREE char *file = NULL;
  int status = -1;
  pid_t child;

  if (geteuid () != 0)
    {
      berth_test_skip ("needs another user");
      return;
    }
  place_make (&place);
  place_copy (&place, "good", "good", &content);
  file = place_file (&place, "berth-backend-good.so");
  chmod (file, 0600);
  chmod (place.path, 0755);
  child = fork ();
  if (child == 0)
    _exit (try_as_other (&place));
  CU_ASSERT_EQUAL (waitpid (child, &status, 0), child);
  CU_ASSERT_TRUE (WIFEXITED (status) && WEXITSTATUS (status) == 0);
}

/* Links above the file are followed, and where they lead is checked. */
static void
test_directory_link (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };
  AUTO_PLACE struct place place;
  AUTO_PLACE struct place other;
  BERTH_AUTO_FREE char *link = NULL;
  struct berth_error error = { 0 };

  place_make (&place);
  place_make (&other);
  place_copy (&other, "good", "good", &content);
  link = place_file (&place, "backends");
  CU_ASSERT_EQUAL (symlink (other.path, link), 0);
  CU_ASSERT_EQUAL (open_code (link, "good", &error), 0);
  chmod (other.path, 0722);
  CU_ASSERT_EQUAL (open_code (link, "good", &error), BERTH_E_CONFIGURATION);
  CU_ASSERT_PTR_NOT_NULL (strstr (error.message, other.path));
  chmod (other.path, 0700);
}

/* Four bytes changed, half of them where headers and tables are; one file in ten is cut short. */
static void
damage (int fd, size_t size, unsigned int *seed)
{
  for (int i = 0; i < 4; i++)
    {
      unsigned char byte = (unsigned char) rand_r (seed);
      size_t at = (size_t) rand_r (seed) % (i % 2 == 0 ? 1024 : size);

      CU_ASSERT_EQUAL (pwrite (fd, &byte, 1, (off_t) at), 1);
    }
  if (rand_r (seed) % 10 == 0)
    CU_ASSERT_EQUAL (ftruncate (fd, (off_t) ((size_t) rand_r (seed) % size)), 0);
}

static void
test_damaged (void)
{
  BERTH_AUTO_FREE char *file = broken_file ("good");
  BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };
  unsigned int seed = 1, told = 0;

  CU_ASSERT_EQUAL_FATAL (berth_fs_read (AT_FDCWD, file, &content, (size_t) 16 << 20), 0);
  for (int i = 0; i < 3000; i++)
    {
      BERTH_AUTO_FD int fd = memfd_create ("damaged", MFD_CLOEXEC);
      struct berth_problems problems = { 0 }, warnings = { 0 };

      CU_ASSERT_EQUAL_FATAL (berth_fd_write_all (fd, content.data, content.size), 0);
      damage (fd, content.size, &seed);
      berth_elf_check (fd, &problems, &warnings);
      told += berth_problems_any (&problems) != 0;
      berth_problems_clear (&problems);
      berth_problems_clear (&warnings);
    }
  CU_ASSERT_TRUE (told > 300);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "L1 never a bare name, never a relative directory", test_bare_name },
    { "L2 L3 L12 no text file redirects a load", test_redirect },
    { "L4 L5 libltdl loads the incomplete and names no reason", test_lazy },
    { "L6 exact prefix and suffix", test_suffixes },
    { "L7 many threads and hosts load at once", test_threads },
    { "L8 the second spelling of the symbol", test_spelling },
    { "L10 L11 D-156 nothing is ever unloaded", test_resident },
    { "D-157 a replaced file is judged anew", test_replaced },
    { "D-154 what is refused has run nothing", test_constructor },
    { "D-154 exported names are nobody else's", test_exports },
    { "D-158 files that are no shared objects", test_files },
    { "D-158 another machine", test_machine },
    { "S10 relocations in the code", test_text_relocations },
    { "who may write the file and its directory", test_owners },
    { "whose the file and its directory are", test_other_owners },
    { "D-158 a file that cannot be read", test_unreadable },
    { "links above the file are followed and checked", test_directory_link },
    { "damaged ELF files", test_damaged },
    { NULL, NULL },
  };

  return berth_test_main ("traps", tests);
}
