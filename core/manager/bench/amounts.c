/* amounts.c - much data, many sandboxes, and the memory of one that does nothing. */
#include "core/manager/bench/bench.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sdk/base/buffer.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

#define FILE_BYTES (256u << 20)
#define FILE_ROUNDS 5
#define SMALL_FILES 100000
#define MEMORY_BYTES (INT64_C (4) << 30)
#define CROWD 1000
#define CROWD_ROUNDS 20

/* A row for each of NAMES, in whose place there is only why. */
static void
leave_out (struct bench *bench, const char *const *names, size_t count, const char *why)
{
  for (size_t i = 0; i < count; i++)
    {
      struct figure *figure = bench_add (bench, names[i]);
      figure->left_name = figure->right_name = "-";
      figure->left_out = why;
    }
}

/* ---- files ---- */

static int64_t
give_zeros (void *context, void *bytes, size_t size)
{
  uint64_t *left = context;
  size_t count = *left < size ? (size_t) *left : size;

  memset (bytes, 'x', count);
  *left -= count;
  return (int64_t) count;
}

static int
take (void *context, const void *bytes, size_t size)
{
  (void) bytes;
  *(uint64_t *) context += size;
  return 0;
}

static int
write_inside (struct bench *bench)
{
  struct berth_file_options options = BERTH_FILE_OPTIONS_INIT;
  uint64_t left = FILE_BYTES;

  options.max_bytes = FILE_BYTES;
  return berth_file_write (bench->sandbox, "big", &options, FILE_BYTES, give_zeros, &left, NULL);
}

static int
read_inside (struct bench *bench)
{
  struct berth_file_options options = BERTH_FILE_OPTIONS_INIT;
  uint64_t got = 0;

  options.max_bytes = FILE_BYTES;
  return berth_file_read (bench->sandbox, "big", &options, take, &got, NULL) != 0 || got != FILE_BYTES ? -1 : 0;
}

static int
write_plain (struct bench *bench)
{
  static char bytes[65536];
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/big", bench->directory);
  BERTH_AUTO_FD int fd = open (path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

  for (size_t done = 0; done < FILE_BYTES; done += sizeof bytes)
    {
      memset (bytes, 'x', sizeof bytes);
      if (write (fd, bytes, sizeof bytes) != (ssize_t) sizeof bytes)
        return -1;
    }
  return 0;
}

static int
read_plain (struct bench *bench)
{
  static char bytes[65536];
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/big", bench->directory);
  BERTH_AUTO_FD int fd = open (path, O_RDONLY | O_CLOEXEC);
  ssize_t size;
  size_t got = 0;

  while ((size = read (fd, bytes, sizeof bytes)) > 0)
    got += (size_t) size;
  return got == FILE_BYTES ? 0 : -1;
}

static void
measure_file (struct bench *bench, const char *name, bench_action *left, bench_action *right)
{
  struct figure *figure = bench_add (bench, name);
  double times[2][FILE_ROUNDS];

  figure->left_name = "libberth";
  figure->right_name = "a plain file";
  figure->unit = "MB/s";
  figure->target = "at least 1000 MB/s";
  for (int i = 0; i < FILE_ROUNDS && figure->left_out == NULL; i++)
    if (bench_time (bench, left, &times[0][i]) != 0)
      figure->left_out = figure->left_name;
    else if (bench_time (bench, right, &times[1][i]) != 0)
      figure->left_out = figure->right_name;
  if (figure->left_out != NULL)
    return;
  figure->left = FILE_BYTES / bench_median (times[0], FILE_ROUNDS);
  figure->right = FILE_BYTES / bench_median (times[1], FILE_ROUNDS);
}

/* ---- workspaces ---- */

static int
make_many (const struct bench *bench)
{
  for (int i = 0; i < SMALL_FILES; i++)
    {
      BERTH_AUTO_FREE char *folder = berth_string_format ("%s/many/%d", bench->directory, i / 1000);
      BERTH_AUTO_FREE char *path = berth_string_format ("%s/%d", folder, i);

      if ((i % 1000 == 0 && berth_fs_make_directories (AT_FDCWD, folder, 0755) != 0)
          || berth_fs_replace (AT_FDCWD, path, path, strlen (path), 0644) != 0)
        return -1;
    }
  return 0;
}

static int64_t
give_file (void *context, void *bytes, size_t size)
{
  return read (*(int *) context, bytes, size);
}

static int
shell (const struct bench *bench, const char *line)
{
  BERTH_AUTO_FREE char *command = berth_string_format ("cd %s && %s", bench->directory, line);

  return command != NULL && system (command) == 0 ? 0 : -1;
}

static int
import_inside (struct bench *bench)
{
  struct berth_workspace_options options = BERTH_WORKSPACE_OPTIONS_INIT;
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/tar", bench->directory);
  BERTH_AUTO_FD int fd = open (path, O_RDONLY | O_CLOEXEC);

  options.max_bytes = MEMORY_BYTES;
  return fd < 0 ? -1 : berth_workspace_import (bench->sandbox, &options, give_file, &fd, NULL);
}

static int
export_inside (struct bench *bench)
{
  struct berth_workspace_options options = BERTH_WORKSPACE_OPTIONS_INIT;
  uint64_t got = 0;

  options.max_bytes = MEMORY_BYTES;
  return berth_workspace_export (bench->sandbox, &options, take, &got, NULL, NULL);
}

static int
import_with_tar (struct bench *bench)
{
  return shell (bench, "mkdir out && tar -xf tar -C out");
}

/* Through a pipe, since tar reads nothing when it writes to /dev/null itself. */
static int
export_with_tar (struct bench *bench)
{
  return shell (bench, "tar -cf - -C out . | cat > /dev/null");
}

static int
save_inside (struct bench *bench)
{
  struct berth_snapshot_options options = BERTH_SNAPSHOT_OPTIONS_INIT;

  options.name = "kept";
  options.max_bytes = MEMORY_BYTES;
  return berth_sandbox_snapshot (bench->sandbox, &options, NULL, NULL, NULL);
}

/* With the making of the sandbox that it goes into. */
static int
restore_inside (struct bench *bench)
{
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;

  options.memory_bytes = MEMORY_BYTES;
  options.snapshot = "kept";
  return berth_sandbox_create (bench->host, &options, &bench->other, NULL);
}

static int
save_with_zstd (struct bench *bench)
{
  return shell (bench, "tar -cf - -C out . | zstd -3 -q > packed");
}

static int
restore_with_zstd (struct bench *bench)
{
  return shell (bench, "mkdir back && zstd -d -q < packed | tar -xf - -C back");
}

static void
measure_tar (struct bench *bench, const char *name, bench_action *left, bench_action *right)
{
  struct figure *figure = bench_add (bench, name);

  figure->left_name = "libberth";
  figure->right_name = left == save_inside || left == restore_inside ? "tar and zstd -3" : "tar";
  if (bench_time (bench, left, &figure->left) != 0)
    figure->left_out = figure->left_name;
  else if (bench_time (bench, right, &figure->right) != 0)
    figure->left_out = figure->right_name;
}

/* Once each: what is there must be made away between two rounds, and that takes as long. */
static void
measure_workspace (struct bench *bench, const char *tree, const char *const names[4])
{
  BERTH_AUTO_FREE char *pack = berth_string_format ("tar -cf tar %s && rm -rf %s", tree, tree);
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;

  options.memory_bytes = MEMORY_BYTES;
  if ((strcmp (tree, "many") == 0 ? make_many (bench) : shell (bench, "head -c 806M /dev/urandom | base64 -w 0 | head -c 1G > one")) != 0
      || shell (bench, pack) != 0 || berth_sandbox_create (bench->host, &options, &bench->sandbox, NULL) != 0)
    {
      leave_out (bench, names, 4, "making what is measured");
      return;
    }
  measure_tar (bench, names[0], import_inside, import_with_tar);
  measure_tar (bench, names[1], export_inside, export_with_tar);
  measure_tar (bench, names[2], save_inside, save_with_zstd);
  measure_tar (bench, names[3], restore_inside, restore_with_zstd);
  berth_sandbox_cleanup (&bench->sandbox);
  if (bench->other != NULL)
    berth_sandbox_cleanup (&bench->other);
  if (berth_snapshot_remove (bench->host, "kept", NULL) != 0 || shell (bench, "rm -rf out tar packed back") != 0)
    perror ("rm");
}

/* ---- a crowd ---- */

static int
create (struct bench *bench, struct berth_sandbox **out)
{
  return berth_sandbox_create (bench->host, NULL, out, NULL);
}

static int
create_other (struct bench *bench)
{
  return create (bench, &bench->other);
}

static int
destroy_other (struct bench *bench)
{
  berth_sandbox_cleanup (&bench->other);
  return 0;
}

/* What a sandbox of ours and one of bwrap's take at one time, by turns; below 0: does not work. */
struct moment
{
  double create;
  double ours; /* with its destruction */
  double other;
};

static struct moment
time_moment (struct bench *bench)
{
  double create_only[CROWD_ROUNDS], ours[CROWD_ROUNDS], other[CROWD_ROUNDS];
  struct moment moment = { 0 };

  for (int i = 0; i < CROWD_ROUNDS; i++)
    {
      double destroy = 0;

      if (bench_time (bench, create_other, &create_only[i]) != 0)
        moment.create = moment.ours = -1;
      bench_time (bench, destroy_other, &destroy);
      ours[i] = create_only[i] + destroy;
      if (bench_time (bench, bench_bwrap, &other[i]) != 0)
        moment.other = -1;
    }
  if (moment.ours == 0)
    {
      moment.create = bench_median (create_only, CROWD_ROUNDS);
      moment.ours = bench_median (ours, CROWD_ROUNDS);
    }
  if (moment.other == 0)
    moment.other = bench_median (other, CROWD_ROUNDS);
  return moment;
}

static void
add_crowd (struct bench *bench, const char *name, const char *left_name, double now, double alone)
{
  struct figure *figure = bench_add (bench, name);

  figure->left_name = left_name;
  figure->right_name = "1 alive";
  figure->right = alone;
  figure->left = now;
  if (now < 0 || alone < 0)
    figure->left_out = "one of the two";
}

static int
count_it (void *context, const struct berth_sandbox_info *info)
{
  (void) info;
  ++*(int *) context;
  return 0;
}

static int
list_all (struct bench *bench)
{
  int count = 0;

  return berth_sandbox_list (bench->host, NULL, count_it, &count, NULL) != 0 || count == 0 ? -1 : 0;
}

/* The median of a few; below 0: does not work. */
static double
time_list (struct bench *bench)
{
  double times[CROWD_ROUNDS];

  for (int i = 0; i < CROWD_ROUNDS; i++)
    if (bench_time (bench, list_all, &times[i]) != 0)
      return -1;
  return bench_median (times, CROWD_ROUNDS);
}

static void
measure_crowd (struct bench *bench)
{
  static const char *const names[]
      = { "create among 100", "create and destroy among 100", "create among 1000", "create and destroy among 1000", "ls of 1000",
          "bwrap among the same 1000" };
  BERTH_AUTO_FREE struct berth_sandbox **crowd = calloc (CROWD, sizeof *crowd);
  struct moment alone = time_moment (bench), now;
  double list_of_one = time_list (bench);
  int made = 1; /* the bench's own */

  if (crowd == NULL)
    {
      leave_out (bench, names, 6, "memory");
      return;
    }
  while (made < 100 && create (bench, &crowd[made]) == 0)
    made++;
  now = time_moment (bench);
  if (made == 100)
    {
      add_crowd (bench, names[0], "100 alive", now.create, alone.create);
      add_crowd (bench, names[1], "100 alive", now.ours, alone.ours);
    }
  else
    leave_out (bench, names, 2, "making 100 sandboxes");
  while (made < CROWD && create (bench, &crowd[made]) == 0)
    made++;
  now = time_moment (bench);
  if (made == CROWD)
    {
      add_crowd (bench, names[2], "1000 alive", now.create, alone.create);
      add_crowd (bench, names[3], "1000 alive", now.ours, alone.ours);
      add_crowd (bench, names[4], "1000 alive", time_list (bench), list_of_one);
      add_crowd (bench, names[5], "1000 alive", now.other, alone.other);
    }
  else
    leave_out (bench, names + 2, 4, "making 1000 sandboxes");
  for (int i = 1; i < CROWD; i++)
    berth_sandbox_cleanup (&crowd[i]);
}

/* ---- memory ---- */

/* The first process of the sandbox: the one with its name in its cgroups. */
static long
find_agent (const char *id)
{
  DIR *proc = opendir ("/proc");
  long found = -1;

  for (struct dirent *entry; proc != NULL && found < 0 && (entry = readdir (proc)) != NULL;)
    {
      BERTH_AUTO_FREE char *path = berth_string_format ("/proc/%s/cgroup", entry->d_name);
      BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

      if (atol (entry->d_name) > 0 && berth_fs_read (AT_FDCWD, path, &text, 65536) == 0
          && strstr (berth_buffer_string (&text), id) != NULL)
        found = atol (entry->d_name);
    }
  if (proc != NULL)
    closedir (proc);
  return found;
}

/* Sums NAME of the smaps_rollup of PID, in KiB. */
static double
memory_of (long pid, const char *name)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("/proc/%ld/smaps_rollup", pid);
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

  if (berth_fs_read (AT_FDCWD, path, &text, 65536) != 0)
    return -1;
  double sum = 0;
  for (const char *at = berth_buffer_string (&text); (at = strstr (at, name)) != NULL; at++)
    sum += strtod (strchr (at, ':') + 1, NULL);
  return sum;
}

/* What the kernel charges to its cgroup: the agent, its tables, its file systems. */
static double
charged_to (long pid, const char *id)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("/proc/%ld/cgroup", pid);
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 }, number = { 0 };
  char *save = NULL;

  if (berth_fs_read (AT_FDCWD, path, &text, 65536) != 0)
    return -1;
  char *copy = (char *) (uintptr_t) berth_buffer_string (&text);
  for (char *line = strtok_r (copy, "\n", &save); line != NULL; line = strtok_r (NULL, "\n", &save))
    {
      bool first = strstr (line, ":memory:") != NULL;
      if (strstr (line, id) == NULL || (!first && strncmp (line, "0::", 3) != 0))
        continue;
      BERTH_AUTO_FREE char *file = berth_string_format ("/sys/fs/cgroup%s%s/%s", first ? "/memory" : "",
                                                        strchr (strchr (line, ':') + 1, ':') + 1,
                                                        first ? "memory.usage_in_bytes" : "memory.current");
      if (berth_fs_read (AT_FDCWD, file, &number, 64) == 0)
        return strtod (berth_buffer_string (&number), NULL) / 1024;
    }
  return -1;
}

static void
measure_memory (struct bench *bench)
{
  struct figure *figure = bench_add (bench, "memory of an idle sandbox");
  struct berth_sandbox *sandbox = NULL;

  figure->left_name = "all charged";
  figure->right_name = "private of the agent";
  figure->unit = "KiB";
  figure->target = "less than 1024 KiB";
  figure->left_out = "libberth";
  if (create (bench, &sandbox) != 0)
    return;
  long pid = find_agent (berth_sandbox_id (sandbox));
  if (pid > 0)
    {
      figure->left = charged_to (pid, berth_sandbox_id (sandbox));
      figure->right = memory_of (pid, "Private_");
      figure->left_out = figure->left > 0 && figure->right > 0 ? NULL : "accounting";
    }
  berth_sandbox_cleanup (&sandbox);
}

/* Where files are memory they count as the sandbox's: it gets enough for two copies. */
static void
measure_data (struct bench *bench)
{
  static const char *const many[] = { "import 100 000 small files", "export 100 000 small files",
                                      "snapshot of 100 000 small files", "restore 100 000 small files" };
  static const char *const files[] = { "write a file of 256 MiB", "read a file of 256 MiB" };
  static const char *const one[] = { "import 1 GiB", "export 1 GiB", "snapshot of 1 GiB", "restore 1 GiB" };
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  struct berth_sandbox *kept = bench->sandbox;

  options.memory_bytes = MEMORY_BYTES;
  if (berth_sandbox_create (bench->host, &options, &bench->sandbox, NULL) == 0)
    {
      measure_file (bench, files[0], write_inside, write_plain);
      measure_file (bench, files[1], read_inside, read_plain);
      berth_sandbox_cleanup (&bench->sandbox);
      measure_workspace (bench, "many", many);
      measure_workspace (bench, "one", one);
    }
  else
    {
      leave_out (bench, files, 2, "making a sandbox");
      leave_out (bench, many, 4, "making a sandbox");
      leave_out (bench, one, 4, "making a sandbox");
    }
  bench->sandbox = kept;
}

void
bench_amounts (struct bench *bench)
{
  measure_memory (bench);
  measure_data (bench);
  measure_crowd (bench);
}
