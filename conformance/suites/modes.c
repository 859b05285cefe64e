/* F04: nobody can do more with a file while it is written than the mode that was asked allows, neither
 * under its own name nor under one that it has meanwhile. */
#include <stdio.h>

#include "conformance/suites/content.h"
#include "conformance/suites/files.h"
#include "conformance/suites/tool.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"

#define PLACE SUITE_WORKSPACE "/watched"
#define READY SUITE_WORKSPACE "/ready"
#define STOP SUITE_WORKSPACE "/stop"
#define WRITES 100
#define PATIENCE_MS 30000

static bool
is_wider (uint32_t mode, uint32_t asked)
{
  return (mode & ~asked & 07777) != 0;
}

/* ---- while the content comes ---- */

/* A file that is written while somebody lists its directory. */
struct looked
{
  struct suite_box *box;
  uint32_t asked;
  unsigned int reads;
  unsigned int seen;
};

static void
look_at (void *context, const struct berth_file_info *info)
{
  struct looked *looked = context;

  if (info->kind != BERTH_KIND_FILE || (info->has & BERTH_FILE_MODE) == 0)
    return;
  looked->seen++;
  SUITE_CHECK (looked->box->suite, !is_wider (info->mode, looked->asked),
               "%s has mode %04o while its content comes, and %04o was asked", info->name, info->mode, looked->asked);
}

static int64_t
read_and_look (void *context, void *bytes, size_t size)
{
  struct looked *looked = context;

  if (looked->reads++ == 3)
    return 0;
  SUITE_CHECK_CODE (looked->box->suite, "list", suite_list_files (looked->box, PLACE, look_at, looked, NULL), 0);
  memset (bytes, 'x', size);
  return (int64_t) size;
}

static void
look_while_it_comes (struct suite_box *box, uint32_t mode)
{
  struct looked looked = { .box = box, .asked = mode };
  struct berth_source source
      = { .struct_size = sizeof source, .context = &looked, .size = BERTH_UNKNOWN_SIZE, .read = read_and_look };
  struct berth_change how = suite_change (BERTH_CHANGE_MODE);

  how.mode = mode;
  SUITE_CHECK_CODE (box->suite, "write", suite_write (box, PLACE "/file", "x", 1, &how), 0);
  SUITE_CHECK_CODE (box->suite, "write", suite_write_source (box, PLACE "/file", &how, &source, NULL), 0);
  SUITE_CHECK (box->suite, looked.seen > 0, "nothing was seen of a file that is replaced");
}

/* ---- and at any other moment ---- */

static void
watch_start (struct suite_job *watcher, struct suite_box *box)
{
  int64_t until = berth_clock_monotonic_ms () + PATIENCE_MS;
  struct suite_entry entry;

  suite_remove (box, READY, BERTH_CHANGE_MISSING_OK);
  suite_remove (box, STOP, BERTH_CHANGE_MISSING_OK);
  suite_job_start (watcher, box, "exec " SUITE_TOOL " modes " PLACE " " READY " " STOP);
  while (suite_stat (box, READY, false, &entry) != 0 && berth_clock_monotonic_ms () < until)
    berth_clock_sleep_ms (10);
}

/* What it saw, which the caller frees with it. */
static const char *
watch_end (struct suite_job *watcher, struct suite_box *box)
{
  SUITE_CHECK_CODE (box->suite, "write", suite_write_text (box, STOP, ""), 0);
  suite_job_join (watcher);
  SUITE_CHECK_EXIT (box->suite, &watcher->ran, 0, "the watcher");
  return berth_buffer_string (&watcher->ran.out);
}

static void
watch_writes (struct suite_box *box, uint32_t asked)
{
  struct berth_change how = suite_change (BERTH_CHANGE_MODE);
  struct suite_job watcher = { 0 };
  const char *line;
  char *end;

  how.mode = asked;
  watch_start (&watcher, box);
  for (int i = 0; i < WRITES; i++)
    SUITE_CHECK_CODE (box->suite, "write", suite_write (box, PLACE "/file", "y", 1, &how), 0);
  line = watch_end (&watcher, box);
  SUITE_CHECK (box->suite, *line != '\0', "the watcher saw nothing");
  for (; *line != '\0'; line = end + strcspn (end, "\n") + 1)
    {
      uint32_t mode = (uint32_t) strtoul (line, &end, 8);

      SUITE_CHECK (box->suite, !is_wider (mode, asked), "mode %04o was seen where %04o is written", mode, asked);
    }
  suite_ran_free (&watcher.ran);
}

/* The watcher sees what is wider for a moment where somebody does it that way. */
static void
check_control (struct suite_box *box)
{
  struct suite_job watcher = { 0 };
  SUITE_AUTO_RAN struct suite_ran careless = { 0 };

  watch_start (&watcher, box);
  suite_sh (box, &careless, 0,
            "cd watched; rm -f file; umask 0; for i in 1 2 3 4 5 6; do for j in 1 2 3 4 5 6; do"
            " echo x > file; chmod 600 file; rm file; done; done");
  SUITE_CHECK_EXIT (box->suite, &careless, 0, "the careless writer");
  SUITE_CHECK (box->suite, strstr (watch_end (&watcher, box), "0666 ") != NULL,
               "the watcher never saw a file that is wide for a moment: it proves nothing");
  suite_ran_free (&watcher.ran);
}

void
suite_f04_watch (struct suite_context *suite)
{
  static const uint32_t modes[] = { 0600, 0640, 0000, 0400 };
  struct suite_box *box = suite_box_make (suite);

  suite_tool_install (box);
  SUITE_CHECK_CODE (suite, "make", suite_make_directory (box, PLACE, 0), 0);
  check_control (box);
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
    {
      SUITE_CHECK_CODE (suite, "remove", suite_remove (box, PLACE "/file", BERTH_CHANGE_MISSING_OK), 0);
      look_while_it_comes (box, modes[i]);
      watch_writes (box, modes[i]);
    }
}
