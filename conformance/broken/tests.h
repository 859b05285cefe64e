/* What the programs that try the broken backends share. */
#ifndef CONFORMANCE_BROKEN_TESTS_H
#define CONFORMANCE_BROKEN_TESTS_H

#include <berth/backend.h>

#include "core/registry/registry.h"
#include "sdk/base/buffer.h"

/* A directory of the test's own, mode 0700, removed at the end of the scope with all below it. */
struct place
{
  char path[64];
};
#define AUTO_PLACE BERTH_CLEANUP (place_remove)
void place_make (struct place *place);
void place_remove (struct place *place);

/* PLACE/NAME; the caller frees it. */
char *place_file (const struct place *place, const char *name);
void place_write (const struct place *place, const char *name, const void *bytes, size_t size, unsigned int mode);

/* The directory of the broken backends, and the file of one; the caller frees it. */
const char *broken_directory (void);
char *broken_file (const char *variant);

/* Copies a broken backend to PLACE/berth-backend-NAME.so and returns its content for changes. */
void place_copy (const struct place *place, const char *variant, const char *name, struct berth_buffer *content);

/* A registry that looks into PATH only.  Its log goes to LOG, line after line, when that is not NULL. */
struct berth_registry *open_registry (const char *path, const struct place *place, const char *config,
                                      struct berth_buffer *log);

/* Asks for the instance NAME in DIRECTORY, which must be refused so: `backend "NAME" is refused: FILE:
 * PROBLEMS`.  Returns the error for more. */
struct berth_error expect_refused (const char *directory, const char *name, const char *problems);

/* Everything that a scan of DIRECTORY tells about NAME: its status, and its problems and warnings a line
 * each, behind "problem: " and "warning: ". */
uint32_t scan_for (struct berth_registry *registry, const char *name, struct berth_buffer *text);

#endif
