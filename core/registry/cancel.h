/* The descriptor behind a cancellation token. */
#ifndef CORE_REGISTRY_CANCEL_H
#define CORE_REGISTRY_CANCEL_H

#include <berth/berth.h>

/* Readable once triggered, and for ever; never read it.  Belongs to the token. */
int berth_cancel_fd (const struct berth_cancel *cancel);

#endif
