/* place.h - the directories and names that one clause has for itself. */
#ifndef CONFORMANCE_CONFORM_PLACE_H
#define CONFORMANCE_CONFORM_PLACE_H

#include <limits.h>

#include "conformance/suites/suite.h"
#include "sdk/base/buffer.h"

struct place
{
  char directory[PATH_MAX];
  char *state_dir;
  char *runtime_dir;
  char *cache_dir;
  char *config_file;
  char tag[16];
  char installation_id[32];
};

/* Made below TMPDIR, with CONFIG as its berth.conf.  False with errno; free it in any case. */
bool place_make (struct place *place, const struct berth_buffer *config);
/* The same place again, in another process. */
bool place_find (struct place *place, const char *directory, const char *installation_id, const char *tag);
void place_free (struct place *place);

#endif
