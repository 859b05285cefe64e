#include "plugins/fake/words.h"

int
fake_words_add (struct fake_words *words, const char *text, size_t size)
{
  char **list = reallocarray (words->list, words->count + 2, sizeof *list);

  if (list == NULL)
    return -1;
  words->list = list;
  list[words->count] = strndup (text, size);
  if (list[words->count] == NULL)
    return -1;
  list[++words->count] = NULL;
  return 0;
}

void
fake_words_free (struct fake_words *words)
{
  for (size_t i = 0; i < words->count; i++)
    free (words->list[i]);
  free (words->list);
  *words = (struct fake_words) { NULL, 0 };
}
