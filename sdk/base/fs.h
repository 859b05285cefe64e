/* fs.h - whole files and whole trees, without following a link that was planted. */
#ifndef BERTH_BASE_FS_H
#define BERTH_BASE_FS_H

#include <stddef.h>
#include <sys/types.h>

#include "sdk/base/buffer.h"

/* Paths are taken at `directory`, a descriptor or AT_FDCWD.  0, or -1 with errno. */

/* Appends the content of a file of at most `limit` bytes; EMSGSIZE when it is longer. */
int berth_fs_read (int directory, const char *path, struct berth_buffer *buffer, size_t limit);

/* Writes to a file that is there already (of /proc, /sys or a cgroup) in one write. */
int berth_fs_write (int directory, const char *path, const void *bytes, size_t size);

/* After this the file has the new content or the old, whatever dies in between: a temporary file
 * beside it, fsync, rename, fsync of the folder.  A link in the last component is replaced. */
int berth_fs_replace (int directory, const char *path, const void *bytes, size_t size, mode_t mode);

/* mkdir -p; a component that is there must be a directory.  `mode` is for what is made. */
int berth_fs_make_directories (int directory, const char *path, mode_t mode);

/* Removes `path`, whatever it is, and all below it.  Links are removed, never followed; what is
 * mounted below is not entered (EBUSY).  Works at any depth, with a handful of descriptors.  A path
 * that is not there is success.  It stops at the first entry that cannot be removed. */
int berth_fs_remove_tree (int directory, const char *path);

/* What berth_fs_remove_tree does with what is in `directory`; the directory itself stays. */
int berth_fs_remove_content (int directory);

#endif
