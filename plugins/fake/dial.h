/* dial.h - streams that were dialled and still live. */
#ifndef BERTH_FAKE_DIAL_H
#define BERTH_FAKE_DIAL_H

#include <berth/backend.h>

/* Ends every pump of the instance and waits for it. */
void fake_pumps_end (struct berth_state *state);

#endif
