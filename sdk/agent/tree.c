#include "sdk/agent/tree.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sdk/base/cleanup.h"
#include "sdk/base/clock.h"

#define STOP_ROUNDS 20
#define END_MS 5000

struct process
{
  pid_t pid;
  pid_t parent;
  pid_t session;
  bool dead;   /* a zombie */
  bool chosen; /* a descendant */
};

struct processes
{
  struct process *list;
  size_t count;
  size_t capacity;
};

/* The fields after the name, which may hold anything, even ") R 1". */
static int
read_process (int proc, const char *name, struct process *process)
{
  char path[32], text[512], state;
  const char *after;
  ssize_t got;
  int parent, session;

  snprintf (path, sizeof path, "%.20s/stat", name);
  {
    BERTH_AUTO_FD int fd = openat (proc, path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
      return -1;
    got = read (fd, text, sizeof text - 1);
  }
  if (got <= 0)
    return -1;
  text[got] = '\0';
  after = strrchr (text, ')');
  if (after == NULL || sscanf (after + 1, " %c %d %*d %d", &state, &parent, &session) != 3)
    return -1;
  *process = (struct process) { .pid = atoi (name), .parent = parent, .session = session, .dead = state == 'Z' || state == 'X' };
  return 0;
}

static int
add_process (struct processes *all, const struct process *process)
{
  if (all->count == all->capacity)
    {
      size_t capacity = all->capacity == 0 ? 64 : all->capacity * 2;
      struct process *larger = realloc (all->list, capacity * sizeof *larger);

      if (larger == NULL)
        return -1;
      all->list = larger;
      all->capacity = capacity;
    }
  all->list[all->count++] = *process;
  return 0;
}

static int
read_all (int proc, struct processes *all)
{
  int fd = openat (proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  BERTH_AUTO_DIR DIR *dir = fd < 0 ? NULL : fdopendir (fd);
  struct dirent *entry;
  struct process process;

  if (dir == NULL)
    {
      if (fd >= 0)
        close (fd);
      return -1;
    }
  while ((entry = readdir (dir)) != NULL)
    if (isdigit ((unsigned char) entry->d_name[0]) && read_process (proc, entry->d_name, &process) == 0
        && add_process (all, &process) < 0)
      return -1;
  return 0;
}

/* Children may stand before their parents in the list, so it is gone through until nothing is new. */
static void
choose_descendants (const struct agent *agent, struct processes *all, pid_t root, tree_filter *skip)
{
  bool again = true;

  while (again)
    {
      again = false;
      for (size_t i = 0; i < all->count; i++)
        {
          struct process *process = &all->list[i];
          bool below = process->parent == root;

          for (size_t j = 0; j < all->count && !below && !process->chosen; j++)
            below = all->list[j].chosen && all->list[j].pid == process->parent;
          if (below && !process->chosen && (skip == NULL || !skip (agent, process->pid)))
            process->chosen = again = true;
        }
    }
}

int
tree_count (const struct agent *agent, pid_t root)
{
  struct processes all = { 0 };
  pid_t session = getsid (0);
  int living = read_all (agent->proc, &all) < 0 ? -1 : 0;

  choose_descendants (agent, &all, root, NULL);
  for (size_t i = 0; i < all.count && living >= 0; i++)
    living += all.list[i].chosen && !all.list[i].dead && all.list[i].session != session;
  free (all.list);
  return living;
}

/* Sends SIGNAL_NUMBER to every living descendant of ROOT.  Returns how many there were, or -1. */
static int
tree_signal (const struct agent *agent, pid_t root, int signal_number, tree_filter *skip)
{
  struct processes all = { 0 };
  int living = 0;

  if (read_all (agent->proc, &all) < 0)
    {
      free (all.list);
      return -1;
    }
  choose_descendants (agent, &all, root, skip);
  for (size_t i = 0; i < all.count; i++)
    if (all.list[i].chosen && !all.list[i].dead)
      {
        living++;
        kill (all.list[i].pid, signal_number);
      }
  free (all.list);
  return living;
}

void
tree_end (const struct agent *agent, tree_filter *skip, void (*reap) (void *context), void *context)
{
  int64_t end = berth_clock_monotonic_ms () + END_MS;
  int before = -1, living;

  for (int round = 0; round < STOP_ROUNDS; round++)
    {
      living = tree_signal (agent, getpid (), SIGSTOP, skip);
      if (living <= 0 || living == before)
        break;
      before = living;
    }
  for (;;)
    {
      living = tree_signal (agent, getpid (), SIGKILL, skip);
      reap (context);
      if (living <= 0 || berth_clock_monotonic_ms () >= end)
        return;
      berth_clock_sleep_ms (1);
    }
}
