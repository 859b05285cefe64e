/* instance.h - open and close of an instance, for the lifecycle group. */
#ifndef BERTH_FAKE_INSTANCE_H
#define BERTH_FAKE_INSTANCE_H

#include <berth/backend.h>

int fake_instance_open (struct berth_call *call, struct berth_state **out);
void fake_instance_close (struct berth_call *call, struct berth_state *state);

#endif
