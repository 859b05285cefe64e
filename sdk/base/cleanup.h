/* cleanup.h - things that end with the scope they were declared in. */
#ifndef BERTH_BASE_CLEANUP_H
#define BERTH_BASE_CLEANUP_H

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BERTH_CLEANUP(function) __attribute__ ((cleanup (function)))

/* Each variable must be initialised where it is declared: to its value, NULL, or -1 for a
 * descriptor.  errno survives all of them, so an error can be returned through a scope. */
#define BERTH_AUTO_FREE BERTH_CLEANUP (berth_cleanup_free)
#define BERTH_AUTO_FD BERTH_CLEANUP (berth_cleanup_fd)
#define BERTH_AUTO_DIR BERTH_CLEANUP (berth_cleanup_dir)
#define BERTH_AUTO_FILE BERTH_CLEANUP (berth_cleanup_file)

/* Take the value out of the variable, so that the end of the scope leaves it alone. */
#define BERTH_STEAL_POINTER(pointer)                                                              \
  __extension__ ({                                                                                \
    __typeof__ (pointer) stolen_pointer_ = (pointer);                                             \
    (pointer) = NULL;                                                                             \
    stolen_pointer_;                                                                              \
  })
#define BERTH_STEAL_FD(fd)                                                                        \
  __extension__ ({                                                                                \
    int stolen_fd_ = (fd);                                                                        \
    (fd) = -1;                                                                                    \
    stolen_fd_;                                                                                   \
  })

/* `variable` is the address of a pointer of any type: read it as bytes, not as a void pointer. */
static inline void
berth_cleanup_free (void *variable)
{
  void *pointer;

  memcpy (&pointer, variable, sizeof pointer);
  free (pointer); /* glibc and musl keep errno */
}

static inline void
berth_cleanup_fd (int *fd)
{
  int saved = errno;

  if (*fd >= 0)
    close (*fd);
  errno = saved;
}

static inline void
berth_cleanup_dir (DIR **dir)
{
  int saved = errno;

  if (*dir != NULL)
    closedir (*dir);
  errno = saved;
}

static inline void
berth_cleanup_file (FILE **file)
{
  int saved = errno;

  if (*file != NULL)
    fclose (*file);
  errno = saved;
}

#endif
