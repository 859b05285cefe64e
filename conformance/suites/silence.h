/* silence.h - the end of what serves a sandbox. */
#ifndef CONFORMANCE_SUITES_SILENCE_H
#define CONFORMANCE_SUITES_SILENCE_H

#include "conformance/suites/box.h"

/* While a command runs in BOX: stops all processes of this machine that serve it, calls STOPPED, which
 * may be NULL, and kills them.  False when there are none here: then BOX is destroyed. */
bool suite_kill_server (struct suite_box *box, void (*stopped) (struct suite_box *box));

#endif
