/* jsonscan.h - what json-c lets pass and we do not. */
#ifndef BERTH_BASE_JSONSCAN_H
#define BERTH_BASE_JSONSCAN_H

#include <stdbool.h>
#include <stddef.h>

struct berth_json_scan
{
  size_t members;      /* over all objects, a key given twice counted twice */
  const char *problem; /* static text */
  size_t at;           /* byte of the problem */
};

/* Looks at the tokens, not at the grammar: depth, words, numbers, control characters, keys. */
bool berth_json_scan (const char *text, size_t size, struct berth_json_scan *scan);

#endif
