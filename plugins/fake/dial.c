/* dial.c - the group `dial`. */
#include "plugins/fake/dial.h"

#include "plugins/fake/fake.h"

void
fake_pumps_end (struct berth_state *state)
{
}
