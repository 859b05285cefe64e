/* copy.h - what both directions of `berth cp` share.
 *
 * Members are told in the vocabulary of tar: a name relative to the place they go to, without
 * "." and "..", and what it is.  Functions return 0, or the exit status after the failure was
 * told. */
#ifndef BERTH_CLI_COPY_H
#define BERTH_CLI_COPY_H

#include "core/cli/cli.h"
#include "sdk/archive/tar.h"
#include "sdk/base/json.h"

#define CLI_COPY_LEVELS 256 /* of directories below each other; each costs a descriptor */
#define CLI_COPY_ENTRIES UINT64_C (1000000)
#define CLI_COPY_BYTES (INT64_C (1) << 30) /* unless --max-bytes says otherwise */

struct cli_copy
{
  struct cli *cli;
  struct berth_sandbox *sandbox;
  uint64_t max_bytes;
  uint64_t files;
  uint64_t directories;
  uint64_t links;
  uint64_t bytes;
  uint64_t left;           /* entries that were left out */
  struct berth_json *json; /* of those, with --json; NULL: they are told as they come */
  bool shows;       /* progress is wanted */
  int64_t shown_ms; /* when it was shown last */
};

/* Where a tree of a sandbox goes: its members, each directory before what is in it. */
struct cli_copy_target
{
  void *context;
  bool is_archive; /* takes any link, not only one that stays in the tree; a file has the size told */
  int (*enter) (void *context, const struct berth_tar_member *member); /* NAME "": the place itself */
  int (*leave) (void *context, const struct berth_tar_member *member);
  int (*file) (void *context, const struct berth_tar_member *member);
  int (*data) (void *context, const void *bytes, size_t size);
  int (*end) (void *context, const struct berth_tar_member *member);
  int (*link) (void *context, const struct berth_tar_member *member);
};

/* ---- copy.c ---- */

/* Says that NAME is not copied, and why; the exit status will be 1. */
void cli_copy_leave_out (struct cli_copy *copy, const char *name, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));
/* One more member; refuses what is beyond the limit. */
int cli_copy_count (struct cli_copy *copy, uint64_t *kind, const char *name);
/* SIZE bytes more; shows progress. */
int cli_copy_count_bytes (struct cli_copy *copy, size_t size);
/* Whether a link LEVELS directories below the top of a tree can only lead into that tree: then its
 * target is relative and goes up at its beginning alone, where every step is a true directory. */
bool cli_copy_link_stays (const char *target, size_t levels);

/* ---- copy_out.c ---- */

/* Copies what is at PATH of the sandbox as NAME; "" puts what is in a directory into the place. */
int cli_copy_out (struct cli_copy *copy, const char *path, const char *name, const struct cli_copy_target *target);

/* ---- copy_place.c ---- */

/* NAME, relative to /workspace, becomes the one that it stands for when links on its way are followed, and at
 * its end too with LAST_TOO.  One that leads out of /workspace is refused; WORD is how the user wrote it. */
int cli_copy_place (struct cli_copy *copy, const char *word, bool last_too, char **name);

/* ---- copy_in.c ---- */

/* Copies the file or directory PATH of this machine to NAME, relative to /workspace.  MERGES: what is
 * in the directory goes into the one that is there, which keeps its mode and time. */
int cli_copy_in (struct cli_copy *copy, const char *path, const char *name, bool merges);
/* Unpacks a tar from standard input into the directory NAME, relative to /workspace. */
int cli_copy_in_tar (struct cli_copy *copy, const char *name);

#endif
