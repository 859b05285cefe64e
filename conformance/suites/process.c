#include "conformance/suites/process.h"

#include <dirent.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sdk/base/cleanup.h"

static void
read_environment (struct berth_buffer *text)
{
  for (char **at = environ; *at != NULL; at++)
    berth_buffer_appendf (text, "%s\n", *at);
}

/* The directory's own descriptor is not one of them. */
static void
read_descriptors (struct berth_buffer *text)
{
  BERTH_AUTO_DIR DIR *dir = opendir ("/proc/self/fd");
  struct dirent *entry;

  while (dir != NULL && (entry = readdir (dir)) != NULL)
    {
      char target[256];
      ssize_t size = readlinkat (dirfd (dir), entry->d_name, target, sizeof target - 1);

      if (size < 0 || atoi (entry->d_name) == dirfd (dir))
        continue;
      target[size] = '\0';
      berth_buffer_appendf (text, "%s %s\n", entry->d_name, target);
    }
}

static unsigned int
count_threads (void)
{
  BERTH_AUTO_DIR DIR *dir = opendir ("/proc/self/task");
  const struct dirent *entry;
  unsigned int count = 0;

  while (dir != NULL && (entry = readdir (dir)) != NULL)
    count += entry->d_name[0] != '.';
  return count;
}

void
suite_process_read (struct suite_context *suite, struct suite_process *process)
{
  BERTH_AUTO_FREE char *directory = getcwd (NULL, 0);

  memset (process, 0, sizeof *process);
  for (int i = 1; i < SUITE_SIGNALS; i++)
    sigaction (i, NULL, &process->actions[i]);
  sigprocmask (SIG_BLOCK, NULL, &process->mask);
  process->umask = umask (0);
  umask (process->umask);
  for (int i = 0; i < RLIMIT_NLIMITS; i++)
    getrlimit ((__rlimit_resource_t) i, &process->limits[i]);
  process->threads = count_threads ();
  berth_buffer_append_string (&process->locale, setlocale (LC_ALL, NULL));
  berth_buffer_append_string (&process->directory, directory != NULL ? directory : "");
  read_environment (&process->environment);
  read_descriptors (&process->descriptors);
}

void
suite_process_free (struct suite_process *process)
{
  berth_buffer_free (&process->locale);
  berth_buffer_free (&process->directory);
  berth_buffer_free (&process->environment);
  berth_buffer_free (&process->descriptors);
}

static void
compare_text (struct suite_context *suite, const char *doing, const char *what, const struct berth_buffer *before,
              const struct berth_buffer *after)
{
  SUITE_CHECK (suite, strcmp (berth_buffer_string (before), berth_buffer_string (after)) == 0,
               "%s changes the %s: \"%s\" (was \"%s\")", doing, what, berth_buffer_string (after),
               berth_buffer_string (before));
}

/* struct sigaction has bytes that nobody sets. */
static bool
is_same_action (const struct sigaction *left, const struct sigaction *right)
{
  return left->sa_handler == right->sa_handler && left->sa_flags == right->sa_flags;
}

void
suite_process_compare (struct suite_context *suite, const char *doing, const struct suite_process *before,
                       const struct suite_process *after)
{
  for (int i = 1; i < SUITE_SIGNALS; i++)
    SUITE_CHECK (suite, is_same_action (&before->actions[i], &after->actions[i]), "%s changes the handler of signal %d", doing,
                 i);
  for (int i = 1; i < SUITE_SIGNALS; i++)
    SUITE_CHECK (suite, sigismember (&before->mask, i) == sigismember (&after->mask, i), "%s changes the mask of signal %d",
                 doing, i);
  SUITE_CHECK (suite, before->umask == after->umask, "%s changes the umask: %04o (was %04o)", doing, after->umask,
               before->umask);
  SUITE_CHECK (suite, memcmp (before->limits, after->limits, sizeof before->limits) == 0, "%s changes a resource limit", doing);
  SUITE_CHECK (suite, before->threads == after->threads, "%s leaves %u threads (were %u)", doing, after->threads,
               before->threads);
  compare_text (suite, doing, "locale", &before->locale, &after->locale);
  compare_text (suite, doing, "working directory", &before->directory, &after->directory);
  compare_text (suite, doing, "environment", &before->environment, &after->environment);
  compare_text (suite, doing, "open descriptors", &before->descriptors, &after->descriptors);
}
