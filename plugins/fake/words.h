/* words.h - a list of texts. */
#ifndef BERTH_FAKE_WORDS_H
#define BERTH_FAKE_WORDS_H

#include "sdk/base/cleanup.h"

struct fake_words
{
  char **list; /* ends with NULL once there is a word */
  size_t count;
};
#define FAKE_AUTO_WORDS BERTH_CLEANUP (fake_words_free)

/* 0, or -1 with errno. */
int fake_words_add (struct fake_words *words, const char *text, size_t size);
void fake_words_free (struct fake_words *words);

#endif
