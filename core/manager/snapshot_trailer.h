/* snapshot_trailer.h - what the file of a snapshot says of itself, for the day when its record is lost.
 *
 * A last frame of the kind that zstd skips, so that `zstd -d` and `tar` know nothing of it:
 *
 *   5b 2a 4d 18 | size, 4 bytes | JSON of N bytes | N, 4 bytes | "BRTHSNP1"
 *
 * Numbers have the least significant byte first, as those of zstd.  The JSON has the installation, the
 * record, and the SHA-256 of all that is before this frame. */
#ifndef CORE_MANAGER_SNAPSHOT_TRAILER_H
#define CORE_MANAGER_SNAPSHOT_TRAILER_H

#include "core/manager/snapshot_file.h"
#include "core/state/snapshot.h"
#include "sdk/base/buffer.h"

/* Appends the frame for RECORD, whose packed bytes sum to CHECKSUM.  0, or -1 without memory. */
int berth_snapshot_trailer_print (const struct berth_snapshot_record *record, const char *installation,
                                  const char *checksum, struct berth_buffer *out);

/* What is at the end of FD, a file of SIZE bytes: its record without checksum, how many bytes are before
 * it, and their sum.  -1 with *PROBLEM, static. */
struct berth_snapshot_trailer
{
  struct berth_snapshot_record record;
  char *installation;
  char checksum[BERTH_CHECKSUM_SIZE];
  uint64_t packed;
};
#define BERTH_AUTO_TRAILER BERTH_CLEANUP (berth_snapshot_trailer_clear)
int berth_snapshot_trailer_read (int fd, uint64_t size, struct berth_snapshot_trailer *out, const char **problem);
void berth_snapshot_trailer_clear (struct berth_snapshot_trailer *trailer);

#endif
