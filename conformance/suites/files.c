/* F: reading, writing and listing files. */
#include "conformance/suites/files.h"

#include <sys/stat.h>

#include "conformance/suites/content.h"
#include "conformance/suites/platform.h"
#include "conformance/suites/run.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"

#define MIB ((size_t) 1 << 20)
#define FILE_PATH SUITE_WORKSPACE "/file"

/* Bytes that no block repeats. */
static unsigned char *
make_bytes (struct suite_context *suite, size_t size)
{
  unsigned char *bytes = malloc (size);
  uint32_t state = 2463534242u;

  SUITE_REQUIRE (suite, bytes != NULL, "no memory");
  for (size_t i = 0; i < size; i++)
    {
      state ^= state << 13;
      state ^= state >> 17;
      state ^= state << 5;
      bytes[i] = (unsigned char) state;
    }
  return bytes;
}

static void
f01 (struct suite_context *suite)
{
  static const size_t sizes[] = { 0, 1, 4095, 4096, 18000, 20000, 65536, 65537, 1048577, 50 * MIB };
  struct suite_box *box = suite_box_make (suite);
  BERTH_AUTO_FREE unsigned char *bytes = make_bytes (suite, 50 * MIB);

  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    {
      SUITE_CHECK_CODE (suite, "write", suite_write (box, FILE_PATH, bytes, sizes[i], NULL), 0);
      suite_check_content (box, FILE_PATH, bytes, sizes[i]);
    }
  SUITE_CHECK_CODE (suite, "write", suite_write (box, FILE_PATH, "a\0b\xff\xfe\r\n", 7, NULL), 0);
  suite_check_content (box, FILE_PATH, "a\0b\xff\xfe\r\n", 7);
}

static void
f01_inside (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  SUITE_AUTO_RAN struct suite_ran back = { 0 };
  BERTH_AUTO_FREE unsigned char *bytes = make_bytes (suite, 300000);

  SUITE_CHECK_CODE (suite, "write", suite_write (box, FILE_PATH, bytes, 300000, NULL), 0);
  suite_argv (box, &ran, (const char *const[]) { "cat", FILE_PATH, NULL });
  SUITE_CHECK (suite, ran.out.size == 300000 && memcmp (ran.out.data, bytes, 300000) == 0, "cat prints other bytes: %s",
               suite_ran_text (&ran));
  suite_argv (box, &back, (const char *const[]) { "cp", FILE_PATH, SUITE_WORKSPACE "/copy", NULL });
  SUITE_CHECK_EXIT (suite, &back, 0, "cp");
  suite_check_content (box, SUITE_WORKSPACE "/copy", bytes, 300000);
}

struct reader
{
  struct suite_box *box;
  size_t size;
  unsigned int reads;
  unsigned int torn;
  bool stop;
};

static void *
read_whole (void *context)
{
  struct reader *reader = context;

  while (!__atomic_load_n (&reader->stop, __ATOMIC_RELAXED))
    {
      BERTH_AUTO_BUFFER struct berth_buffer bytes = { 0 };

      if (suite_read (reader->box, FILE_PATH, &bytes) != 0 || bytes.size != reader->size
          || memchr (bytes.data, bytes.data[0] == 'a' ? 'b' : 'a', bytes.size) != NULL)
        reader->torn++;
      reader->reads++;
    }
  return NULL;
}

static void
f02 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  struct reader reader = { .box = box, .size = 200000 };
  BERTH_AUTO_FREE char *bytes = malloc (reader.size);
  pthread_t thread;

  SUITE_REQUIRE (suite, bytes != NULL, "no memory");
  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, FILE_PATH, "something long"), 0);
  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, FILE_PATH, "short"), 0);
  suite_check_content (box, FILE_PATH, "short", 5);
  memset (bytes, 'a', reader.size);
  SUITE_CHECK_CODE (suite, "write", suite_write (box, FILE_PATH, bytes, reader.size, NULL), 0);
  SUITE_REQUIRE (suite, pthread_create (&thread, NULL, read_whole, &reader) == 0, "no thread");
  for (int i = 0; i < 150; i++)
    {
      memset (bytes, i % 2 == 0 ? 'b' : 'a', reader.size);
      SUITE_CHECK_CODE (suite, "write", suite_write (box, FILE_PATH, bytes, reader.size, NULL), 0);
    }
  __atomic_store_n (&reader.stop, true, __ATOMIC_RELAXED);
  pthread_join (thread, NULL);
  SUITE_CHECK (suite, reader.reads > 10 && reader.torn == 0, "%u of %u reads saw a file that is neither", reader.torn,
               reader.reads);
}

/* ---- F04 to F07 ---- */

static void
f04 (struct suite_context *suite)
{
  static const uint32_t modes[] = { 0600, 0640, 0755, 0000, 0666, 0444 };
  struct suite_box *box = suite_box_make (suite);
  struct suite_entry entry;
  mode_t usual = umask (0077);

  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, FILE_PATH, "x"), 0);
  SUITE_CHECK_CODE (suite, "stat", suite_stat (box, FILE_PATH, false, &entry), 0);
  SUITE_CHECK (suite, entry.info.mode == 0644, "the default mode is %o", entry.info.mode);
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
    {
      struct berth_change how = suite_change (BERTH_CHANGE_MODE);

      how.mode = modes[i];
      SUITE_CHECK_CODE (suite, "write", suite_write (box, FILE_PATH, "y", 1, &how), 0);
      SUITE_CHECK_CODE (suite, "stat", suite_stat (box, FILE_PATH, false, &entry), 0);
      SUITE_CHECK (suite, (entry.info.has & BERTH_FILE_MODE) != 0 && entry.info.mode == modes[i], "mode %o asked, %o told",
                   modes[i], entry.info.mode);
      SUITE_CHECK_CODE (suite, "set", suite_set_attributes (box, FILE_PATH, &how), 0);
    }
  umask (usual);
}

static void
check_owner (struct suite_box *box, const char *path, const char *owner, const char *group)
{
  struct suite_entry entry;

  SUITE_CHECK_CODE (box->suite, path, suite_stat (box, path, false, &entry), 0);
  SUITE_CHECK (box->suite,
               berth_string_equal (entry.info.owner, owner) && berth_string_equal (entry.info.group, group),
               "%s is owned by %s:%s, not %s:%s", path, entry.owner, entry.group, owner, group);
}

static void
f05 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  struct berth_change how = suite_change (BERTH_CHANGE_OWNER | BERTH_CHANGE_GROUP | BERTH_CHANGE_MODE);
  struct suite_entry entry;

  how.owner = "root";
  how.group = "root";
  how.mode = 0600;
  if ((box->effective.posture & BERTH_POSTURE_SEPARATE_USERS) == 0)
    {
      SUITE_CHECK_CODE (suite, "write for another", suite_write (box, FILE_PATH, "x", 1, &how),
                        BERTH_E_CAPABILITY_NOT_SUPPORTED);
      SUITE_CHECK_CODE (suite, "after it", suite_stat (box, FILE_PATH, false, &entry), BERTH_E_PATH_NOT_FOUND);
      how.owner = how.group = "sandbox";
      SUITE_CHECK_CODE (suite, "write for itself", suite_write (box, FILE_PATH, "x", 1, &how), 0);
      check_owner (box, FILE_PATH, "sandbox", "sandbox");
      return;
    }
  SUITE_CHECK_CODE (suite, "write", suite_write (box, FILE_PATH, "x", 1, &how), 0);
  check_owner (box, FILE_PATH, "root", "root");
  how.owner = "sandbox";
  how.group = "sandbox";
  SUITE_CHECK_CODE (suite, "set_attributes", suite_set_attributes (box, FILE_PATH, &how), 0);
  check_owner (box, FILE_PATH, "sandbox", "sandbox");
  how.owner = "nobody-has-this-name";
  SUITE_CHECK_CODE (suite, "an unknown account", suite_write (box, SUITE_WORKSPACE "/other", "x", 1, &how),
                    BERTH_E_PATH_REJECTED);
  SUITE_CHECK_CODE (suite, "after it", suite_stat (box, SUITE_WORKSPACE "/other", false, &entry), BERTH_E_PATH_NOT_FOUND);
}

static void
f06 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  struct berth_change without = suite_change (0);

  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, SUITE_WORKSPACE "/a/b/c", "x"), 0);
  suite_check_content (box, SUITE_WORKSPACE "/a/b/c", "x", 1);
  check_owner (box, SUITE_WORKSPACE "/a", "sandbox", "sandbox");
  check_owner (box, SUITE_WORKSPACE "/a/b", "sandbox", "sandbox");
  check_owner (box, SUITE_WORKSPACE "/a/b/c", "sandbox", "sandbox");
  SUITE_CHECK_CODE (suite, "without PARENTS", suite_write (box, SUITE_WORKSPACE "/d/e", "x", 1, &without),
                    BERTH_E_PATH_NOT_FOUND);
  SUITE_CHECK_CODE (suite, "make_directory", suite_make_directory (box, SUITE_WORKSPACE "/g/h", BERTH_CHANGE_PARENTS), 0);
  check_owner (box, SUITE_WORKSPACE "/g", "sandbox", "sandbox");
}

static void
f07 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  BERTH_AUTO_BUFFER struct berth_buffer bytes = { 0 };

  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, SUITE_WORKSPACE "/d/f", "0123456789"), 0);
  SUITE_CHECK_CODE (suite, "missing", suite_read (box, SUITE_WORKSPACE "/none", &bytes), BERTH_E_PATH_NOT_FOUND);
  SUITE_CHECK_CODE (suite, "missing parent", suite_read (box, SUITE_WORKSPACE "/none/x", &bytes), BERTH_E_PATH_NOT_FOUND);
  SUITE_CHECK_CODE (suite, "a directory", suite_read (box, SUITE_WORKSPACE "/d", &bytes), BERTH_E_INVALID_REQUEST);
  SUITE_CHECK_CODE (suite, "write to a directory", suite_write_text (box, SUITE_WORKSPACE "/d", "x"),
                    BERTH_E_INVALID_REQUEST);
  SUITE_CHECK_CODE (suite, "10 bytes of at most 10", suite_read_some (box, SUITE_WORKSPACE "/d/f", 10, &bytes, NULL), 0);
  berth_buffer_clear (&bytes);
  SUITE_CHECK_CODE (suite, "10 bytes of at most 9", suite_read_some (box, SUITE_WORKSPACE "/d/f", 9, &bytes, NULL),
                    BERTH_E_PAYLOAD_TOO_LARGE);
  SUITE_CHECK (suite, bytes.size == 0, "%zu bytes came before the refusal", bytes.size);
}

/* ---- F10 to F15 ---- */

struct seen
{
  struct berth_buffer names;
  uint32_t kinds[256]; /* by first byte of the name */
  uint64_t size_of_f;
};

static void
see_entry (void *context, const struct berth_file_info *info)
{
  struct seen *seen = context;

  berth_buffer_append (&seen->names, info->name, strlen (info->name) + 1);
  seen->kinds[(unsigned char) info->name[0]] = info->kind;
  if (strcmp (info->name, "f") == 0)
    seen->size_of_f = info->size;
}

static void
f10 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  struct seen seen = { .size_of_f = 0 };
  struct suite_entry entry;
  int64_t now_s = berth_clock_wall_ms () / 1000;
  uint64_t count = 0;

  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, SUITE_WORKSPACE "/l/f", "12345"), 0);
  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, SUITE_WORKSPACE "/l/.dot", ""), 0);
  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, SUITE_WORKSPACE "/l/d/deep", "x"), 0);
  SUITE_CHECK_CODE (suite, "list", suite_list_files (box, SUITE_WORKSPACE "/l", see_entry, &seen, &count), 0);
  SUITE_CHECK (suite, count == 3, "%llu entries of 3", (unsigned long long) count);
  SUITE_CHECK (suite, seen.kinds['f'] == BERTH_KIND_FILE && seen.kinds['d'] == BERTH_KIND_DIRECTORY && seen.kinds['.'] == BERTH_KIND_FILE,
               "kinds: f %u, d %u, .dot %u", seen.kinds['f'], seen.kinds['d'], seen.kinds['.']);
  SUITE_CHECK (suite, seen.size_of_f == 5, "f has %llu bytes", (unsigned long long) seen.size_of_f);
  SUITE_CHECK_CODE (suite, "stat", suite_stat (box, SUITE_WORKSPACE "/l/f", false, &entry), 0);
  SUITE_CHECK (suite, (entry.info.has & BERTH_FILE_TIME) != 0 && entry.info.modified_s > now_s - 100 && entry.info.modified_s < now_s + 100,
               "modified at %lld, now is %lld", (long long) entry.info.modified_s, (long long) now_s);
  check_owner (box, SUITE_WORKSPACE "/l/f", "sandbox", "sandbox");
  SUITE_CHECK_CODE (suite, "list what is missing", suite_list_files (box, SUITE_WORKSPACE "/none", NULL, NULL, NULL),
                    BERTH_E_PATH_NOT_FOUND);
  SUITE_CHECK_CODE (suite, "list a file", suite_list_files (box, SUITE_WORKSPACE "/l/f", NULL, NULL, NULL),
                    BERTH_E_INVALID_REQUEST);
  berth_buffer_free (&seen.names);
}

static void
f10_kinds (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  struct seen seen = { .size_of_f = 0 };
  struct suite_entry entry;
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  suite_sh (box, &ran, 0, "mkdir k; cd k; ln -s 'to where' link; mkfifo pipe; echo > 'a\nb'; ln -s nothing broken");
  SUITE_REQUIRE_EXIT (suite, &ran, 0, "mkfifo");
  SUITE_CHECK_CODE (suite, "list", suite_list_files (box, SUITE_WORKSPACE "/k", see_entry, &seen, NULL), 0);
  SUITE_CHECK (suite, seen.kinds['l'] == BERTH_KIND_SYMLINK && seen.kinds['b'] == BERTH_KIND_SYMLINK && seen.kinds['p'] == BERTH_KIND_OTHER,
               "kinds: link %u, broken %u, pipe %u", seen.kinds['l'], seen.kinds['b'], seen.kinds['p']);
  SUITE_CHECK_CODE (suite, "stat of a link", suite_stat (box, SUITE_WORKSPACE "/k/link", false, &entry), 0);
  SUITE_CHECK (suite, strcmp (entry.link_target, "to where") == 0, "its target: \"%s\"", entry.link_target);
  SUITE_CHECK_CODE (suite, "its target", suite_stat (box, SUITE_WORKSPACE "/k/broken", true, &entry), BERTH_E_PATH_NOT_FOUND);
  berth_buffer_free (&seen.names);
}

static void
f11 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  uint64_t count = 0;

  suite_sh (box, &ran, 0, "mkdir many; cd many; seq 1 10000 | xargs touch");
  SUITE_REQUIRE_EXIT (suite, &ran, 0, "touch");
  SUITE_CHECK_CODE (suite, "list", suite_list_files (box, SUITE_WORKSPACE "/many", NULL, NULL, &count), 0);
  SUITE_CHECK (suite, count == 10000, "%llu entries of 10000", (unsigned long long) count);
}

static void
f12 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  const char *d = SUITE_WORKSPACE "/d";
  struct suite_entry entry;

  SUITE_CHECK_CODE (suite, "make", suite_make_directory (box, d, 0), 0);
  SUITE_CHECK_CODE (suite, "make again", suite_make_directory (box, d, 0), 0);
  SUITE_CHECK_CODE (suite, "make NEW", suite_make_directory (box, d, BERTH_CHANGE_NEW), BERTH_E_CONFLICT);
  SUITE_CHECK_CODE (suite, "make without its parent", suite_make_directory (box, SUITE_WORKSPACE "/x/y", 0), BERTH_E_PATH_NOT_FOUND);
  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, SUITE_WORKSPACE "/d/a", "a"), 0);
  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, SUITE_WORKSPACE "/d/b", "b"), 0);
  SUITE_CHECK_CODE (suite, "move NEW", suite_move (box, SUITE_WORKSPACE "/d/a", SUITE_WORKSPACE "/d/b", BERTH_CHANGE_NEW), BERTH_E_CONFLICT);
  SUITE_CHECK_CODE (suite, "move", suite_move (box, SUITE_WORKSPACE "/d/a", SUITE_WORKSPACE "/d/b", 0), 0);
  suite_check_content (box, SUITE_WORKSPACE "/d/b", "a", 1);
  SUITE_CHECK_CODE (suite, "move what is missing", suite_move (box, SUITE_WORKSPACE "/d/a", SUITE_WORKSPACE "/d/c", 0), BERTH_E_PATH_NOT_FOUND);
  SUITE_CHECK (suite, suite_remove (box, d, 0) != 0, "a full directory was removed without RECURSIVE");
  SUITE_CHECK_CODE (suite, "remove", suite_remove (box, d, BERTH_CHANGE_RECURSIVE), 0);
  SUITE_CHECK_CODE (suite, "stat", suite_stat (box, d, false, &entry), BERTH_E_PATH_NOT_FOUND);
  SUITE_CHECK_CODE (suite, "remove again", suite_remove (box, d, 0), BERTH_E_PATH_NOT_FOUND);
  SUITE_CHECK_CODE (suite, "remove MISSING_OK", suite_remove (box, d, BERTH_CHANGE_MISSING_OK), 0);
  SUITE_CHECK (suite, suite_remove (box, SUITE_WORKSPACE, BERTH_CHANGE_RECURSIVE) != 0, "the workspace itself was removed");
}

static int64_t
fail_after_some (void *context, void *bytes, size_t size)
{
  unsigned int *calls = context;

  memset (bytes, 'n', size);
  return ++*calls > 3 ? -1 : (int64_t) size;
}

static void
f13 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  struct berth_change how = suite_change (0);
  unsigned int calls = 0;
  struct berth_source source
      = { .struct_size = sizeof source, .context = &calls, .size = BERTH_UNKNOWN_SIZE, .read = fail_after_some };
  uint64_t count = 0;

  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, FILE_PATH, "old"), 0);
  SUITE_CHECK (suite, suite_write_source (box, FILE_PATH, &how, &source, NULL) != 0, "a source that failed was accepted");
  suite_check_content (box, FILE_PATH, "old", 3);
  berth_clock_sleep_ms (200);
  SUITE_CHECK_CODE (suite, "list", suite_list_files (box, SUITE_WORKSPACE, NULL, NULL, &count), 0);
  SUITE_CHECK (suite, count == 1, "%llu files where one was written", (unsigned long long) count);
}

struct author
{
  struct suite_box *box;
  char letter;
  uint32_t code;
};

static void *
write_letters (void *context)
{
  struct author *author = context;
  BERTH_AUTO_FREE char *bytes = malloc (300000);

  if (bytes == NULL)
    return NULL;
  memset (bytes, author->letter, 300000);
  for (int i = 0; i < 20 && author->code == 0; i++)
    author->code = suite_write (author->box, FILE_PATH, bytes, 300000, NULL);
  return NULL;
}

static void
f14 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  struct author authors[2] = { { box, 'a', 0 }, { box, 'b', 0 } };
  BERTH_AUTO_BUFFER struct berth_buffer bytes = { 0 };
  pthread_t threads[2];

  for (int i = 0; i < 2; i++)
    SUITE_REQUIRE (suite, pthread_create (&threads[i], NULL, write_letters, &authors[i]) == 0, "no thread");
  for (int i = 0; i < 2; i++)
    {
      pthread_join (threads[i], NULL);
      SUITE_CHECK_CODE (suite, "write", authors[i].code, 0);
    }
  SUITE_REQUIRE (suite, suite_read (box, FILE_PATH, &bytes) == 0 && bytes.size == 300000, "the file has %zu bytes",
                 bytes.size);
  SUITE_CHECK (suite, memchr (bytes.data, bytes.data[0] == 'a' ? 'b' : 'a', bytes.size) == NULL,
               "the file is a mixture of two");
}

static void
f15 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, SUITE_WORKSPACE "/a", "same"), 0);
  suite_sh (box, &ran, 0, "cat a; printf other > b");
  SUITE_CHECK_PRINTED (suite, &ran, "same", "cat a");
  suite_check_content (box, SUITE_WORKSPACE "/b", "other", 5);
}

static const struct suite_clause clauses[] = {
  { .id = "F01", .title = "what is written is read, byte for byte (D-058, D-059)", .flags = SUITE_SLOW, .seconds = 60, .run = f01 },
  { .id = "F01-inside", .title = "commands see the same files, and files see theirs (D-065)", .flags = SUITE_PROGRAM, .run = f01_inside },
  { .id = "F02", .title = "the new content is there at once or not at all", .flags = SUITE_SLOW, .run = f02 },
  { .id = "F03", .title = "paths are literal", .run = suite_f03 },
  { .id = "F04", .title = "mode is exact", .run = f04 },
  { .id = "F04-watch", .title = "and never wider for a moment, under no name", .flags = SUITE_PROGRAM | SUITE_SLOW, .seconds = 240, .run = suite_f04_watch },
  { .id = "F05", .title = "owner and group by name", .run = f05 },
  { .id = "F06", .title = "parents are made and are the sandbox user's", .run = f06 },
  { .id = "F07", .title = "missing, directory, too large", .run = f07 },
  { .id = "F08", .title = "reading follows links, and never hangs", .flags = SUITE_PROGRAM, .run = suite_f08 },
  { .id = "F09", .title = "writing never leaves the write roots", .flags = SUITE_PROGRAM, .run = suite_f09 },
  { .id = "F09-race", .title = "nor in a race against it", .flags = SUITE_PROGRAM | SUITE_SLOW, .seconds = 90, .run = suite_f09_race },
  { .id = "D-052", .title = "a link made inside is never resolved outside", .flags = SUITE_PROGRAM, .run = suite_d052 },
  { .id = "F10", .title = "list gives direct children with what is known of them", .run = f10 },
  { .id = "F10-kinds", .title = "links, pipes and odd names are listed as what they are", .flags = SUITE_PROGRAM, .run = f10_kinds },
  { .id = "F10-watch", .title = "changes below a path are told while they are watched", .needs = BERTH_CAP_FILE_WATCH, .run = suite_watch },
  { .id = "F11", .title = "10 000 entries list completely", .flags = SUITE_PROGRAM | SUITE_SLOW, .run = f11 },
  { .id = "F12", .title = "make_directory, move, remove", .run = f12 },
  { .id = "F13", .title = "a write that fails half way leaves the old content", .run = f13 },
  { .id = "F13-full", .title = "so does one that fills the disk", .seconds = 60, .run = suite_f13_full },
  { .id = "F14", .title = "of two writers one wins, whole", .run = f14 },
  { .id = "F15", .title = "a relative path is the same for commands", .flags = SUITE_PROGRAM, .run = f15 },
  { .id = "F16", .title = "a data plane that does not answer is UNREACHABLE", .flags = SUITE_PROGRAM | SUITE_SLOW, .seconds = 60, .run = suite_f16 },
  { .id = "F16-gone", .title = "a removed sandbox is SANDBOX_NOT_FOUND", .run = suite_f16_gone },
  { .id = "D-055", .title = "names of any kind are listed, moved and removed as they are (D-064)", .flags = SUITE_SLOW, .run = suite_d055 },
  { .id = "D-056", .title = "an empty list means an empty directory", .flags = SUITE_PROGRAM, .run = suite_d056 },
  { .id = "D-057", .title = "empty files are files", .run = suite_d057 },
  { .id = "D-066", .title = "what is brought in is the sandbox user's", .flags = SUITE_PROGRAM, .run = suite_d066 },
  { .id = "D-067", .title = "trees of any depth are removed, and exported or refused", .flags = SUITE_PROGRAM | SUITE_SLOW, .seconds = 120, .run = suite_d067 },
  { .id = NULL },
};

const struct suite suite_files = { "files", clauses, NULL };
