/* Descriptors: inside, and in the host's process after each call. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/escape/escape.h"
#include "conformance/suites/content.h"
#include "conformance/suites/run.h"
#include "sdk/base/string.h"

#define CARELESS 8
#define LOGS_MAX (UINT64_C (1) << 20)

/* ---- inside ---- */

static void
check_workdir (struct suite_box *box, const char *workdir)
{
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  suite_run (box,
             &(struct suite_command) {
                 .arguments = (const char *const[]) { "/bin/sh", "-c", "pwd -P; ls ../../../../etc/shadow 2>/dev/null; ls | wc -l", NULL },
                 .workdir = workdir },
             &ran);
  SUITE_CHECK (box->suite, ran.code != 0, "%s as a working directory: %s", workdir, suite_ran_text (&ran));
}

/* An application that forgot to close on exec. */
void
escape_descriptors (struct suite_context *suite)
{
  int careless[CARELESS];
  struct suite_box *box;
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  SUITE_AUTO_RAN struct suite_ran again = { 0 };
  SUITE_AUTO_RAN struct suite_ran control = { 0 };
  char path[64];

  for (int i = 0; i < CARELESS; i++)
    careless[i] = open (i % 2 ? "/etc/passwd" : "/", O_RDONLY);
  box = escape_box (suite);
  suite_sh (box, &ran, 0, "ls /proc/self/fd | tr '\\n' ' '");
  SUITE_CHECK_PRINTED (suite, &ran, "0 1 2 3 ", "descriptors inside (3 is that of ls)");
  if (escape_has_root (box))
    {
      suite_run (box,
                 &(struct suite_command) { .arguments = (const char *const[]) { "/bin/ls", "/proc/self/fd", NULL }, .user = "root" },
                 &again);
      SUITE_CHECK_PRINTED (suite, &again, "0\n1\n2\n3\n", "descriptors of root inside");
    }
  for (int fd = 3; fd < 24; fd++)
    {
      snprintf (path, sizeof path, "/proc/self/fd/%d", fd);
      check_workdir (box, path);
    }
  check_workdir (box, "/proc/1/cwd");
  check_workdir (box, "/proc/1/root");
  suite_sh (box, &control, 0, "ln -s /proc/self/fd/7 seven; ln -s /proc/1/root out; mkdir in; ln -s in link");
  check_workdir (box, SUITE_WORKSPACE "/seven");
  check_workdir (box, SUITE_WORKSPACE "/out");
  /* The control: a link that stays inside is one, and here the descriptor leads out. */
  suite_ran_free (&control);
  suite_run (box,
             &(struct suite_command) { .arguments = (const char *const[]) { "/bin/pwd", "-P", NULL },
                                       .workdir = SUITE_WORKSPACE "/link" },
             &control);
  SUITE_CHECK_PRINTED (suite, &control, "/workspace/in\n", "a link that stays inside");
  snprintf (path, sizeof path, "/proc/self/fd/%d/etc", careless[0]);
  SUITE_CHECK (suite, access (path, F_OK) == 0, "%s leads nowhere on this machine: no control", path);
  for (int i = 0; i < CARELESS; i++)
    close (careless[i]);
}

/* ---- what is written on the host ---- */

static uint64_t
size_below (struct suite_context *suite)
{
  BERTH_AUTO_FREE char *command = berth_string_format ("du -s -B 1 '%s' | cut -f 1", suite->directory);
  FILE *pipe = popen (command, "r");
  char line[64] = "";

  SUITE_REQUIRE (suite, pipe != NULL && fgets (line, sizeof line, pipe) != NULL, "cannot measure %s", suite->directory);
  pclose (pipe);
  return strtoull (line, NULL, 10);
}

/* Neither what a command prints nor what it finds of the first process's descriptors is kept anywhere. */
void
escape_logs (struct suite_context *suite)
{
  static const char flood[] = "for f in /proc/1/fd/0 /proc/1/fd/1 /proc/1/fd/2 /dev/console /dev/kmsg; do "
                              "(head -c 30M /dev/zero > $f) 2>/dev/null; done; head -c 30M /dev/zero; head -c 30M /dev/zero >&2; "
                              "setsid sh -c 'head -c 30M /dev/zero' & wait";
  struct suite_box *box = escape_box (suite);
  uint64_t before = size_below (suite);
  BERTH_AUTO_FREE char *control = berth_string_format ("head -c 3M /dev/zero > '%s/control'", suite->directory);

  for (int root = 0; root < 1 + escape_has_root (box); root++)
    {
      SUITE_AUTO_RAN struct suite_ran ran = { 0 };

      suite_run (box,
                 &(struct suite_command) { .arguments = (const char *const[]) { "/bin/sh", "-c", flood, NULL },
                                           .user = root ? "root" : "sandbox",
                                           .timeout_ms = 20000,
                                           .discard = true },
                 &ran);
      SUITE_CHECK_EXIT (suite, &ran, 0, "the flood");
      SUITE_CHECK (suite, ran.out_bytes >= 30 << 20, "no flood: %llu bytes", (unsigned long long) ran.out_bytes);
    }
  SUITE_CHECK (suite, size_below (suite) < before + LOGS_MAX, "%llu bytes before, %llu after", (unsigned long long) before,
               (unsigned long long) size_below (suite));
  SUITE_CHECK (suite, system (control) == 0 && size_below (suite) > before + LOGS_MAX, "what is kept is not seen: no control");
}

/* ---- the host's ---- */

static unsigned int
count_descriptors (void)
{
  DIR *directory = opendir ("/proc/self/fd");
  unsigned int count = 0;

  while (directory != NULL && readdir (directory) != NULL)
    count++;
  if (directory != NULL)
    closedir (directory);
  return count;
}

/* Each number is a call; false: there is none left. */
static bool
make_call (struct suite_box *box, int number, const char **name)
{
  BERTH_AUTO_BUFFER struct berth_buffer bytes = { 0 };
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  struct berth_change mode = suite_change (BERTH_CHANGE_MODE);
  struct berth_handle *handle = NULL;
  struct suite_entry entry;
  uint64_t count;

  static const char *const names[] = { "run",  "run that fails", "write", "write that fails",  "read",   "read that fails", "list",
                                       "stat", "make_directory", "move",  "set_attributes",    "remove", "export",          "import",
                                       "import that fails",      "connect and release", "is_running",  "list_ids" };
  if (number >= (int) (sizeof names / sizeof *names))
    return false;
  *name = names[number];
  mode.mode = 0600;
  switch (number)
    {
    case 0: suite_sh (box, &ran, 0, "echo; sleep 0 & exit 3"); break;
    case 1: suite_argv (box, &ran, (const char *const[]) { "/none", NULL }); break;
    case 2: suite_write_text (box, SUITE_WORKSPACE "/f", "x"); break;
    case 3: suite_write_text (box, SUITE_WORKSPACE "/f/g", "x"); break;
    case 4: suite_read (box, SUITE_WORKSPACE "/f", &bytes); break;
    case 5: suite_read (box, "/none", &bytes); break;
    case 6: suite_list_files (box, "/usr/bin", NULL, NULL, &count); break;
    case 7: suite_stat (box, "/etc", true, &entry); break;
    case 8: suite_make_directory (box, SUITE_WORKSPACE "/d", 0); break;
    case 9: suite_move (box, SUITE_WORKSPACE "/f", SUITE_WORKSPACE "/d/f", 0); break;
    case 10: suite_set_attributes (box, SUITE_WORKSPACE "/d/f", &mode); break;
    case 11: suite_remove (box, SUITE_WORKSPACE "/d/f", 0); break;
    case 12: suite_export (box, 0, &bytes, NULL); break;
    case 13:
      suite_export (box, 0, &bytes, NULL);
      suite_import (box, bytes.data, bytes.size, 0, 0);
      break;
    case 14: suite_import (box, "rubbish", 7, 0, 0); break;
    case 15:
      if (suite_box_connect (box, NULL, &handle) == 0)
        suite_box_release (box, handle);
      break;
    case 16: suite_box_is_running (box); break;
    default: suite_count (box->suite, box); break;
    }
  return true;
}

void
escape_host_descriptors (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  const char *name = "";
  int opened;

  /* What a backend opens once and keeps is not a leak: the first round is not counted. */
  for (int i = 0; make_call (box, i, &name); i++)
    continue;
  for (int i = 0; make_call (box, i, &name); i++)
    {
      unsigned int before = count_descriptors ();

      make_call (box, i, &name);
      SUITE_CHECK (suite, count_descriptors () == before, "%s: %u descriptors before, %u after", name, before, count_descriptors ());
    }
  for (int i = 0; i < 3; i++)
    {
      unsigned int before = count_descriptors ();
      struct suite_box *more = suite_box_make (suite);

      suite_box_destroy (more, false, NULL);
      SUITE_CHECK (suite, i == 0 || count_descriptors () == before, "create and destroy: %u descriptors before, %u after", before,
                   count_descriptors ());
    }
  /* The control: the count sees one. */
  unsigned int before = count_descriptors ();
  opened = open ("/dev/null", O_RDONLY | O_CLOEXEC);
  SUITE_CHECK (suite, count_descriptors () == before + 1, "one more descriptor is not seen");
  close (opened);
}
