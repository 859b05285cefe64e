/* nearest.h - what was probably meant. */
#ifndef BERTH_BASE_NEAREST_H
#define BERTH_BASE_NEAREST_H

/* Of CANDIDATES (ended by NULL) the one that WORD was probably meant to be, or NULL. */
const char *berth_nearest (const char *word, const char *const *candidates);

#endif
