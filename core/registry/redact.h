/* Secrets of one instance, taken out of every text that leaves it. */
#ifndef CORE_REGISTRY_REDACT_H
#define CORE_REGISTRY_REDACT_H

#include <pthread.h>
#include <stddef.h>

#include "sdk/base/buffer.h"

/* Shorter ones would blank ordinary words; they are not taken. */
#define BERTH_REDACT_MIN 4
/* What stands in a text where a secret was. */
#define BERTH_REDACTED "(secret)"

struct berth_spelling;
struct berth_redactor
{
  pthread_mutex_t mutex;
  struct berth_spelling *spellings; /* longest first, so that none hides a part of another */
};

void berth_redactor_init (struct berth_redactor *redactor);
void berth_redactor_clear (struct berth_redactor *redactor);

/* From now on the secret is found raw, JSON-escaped, in base64 at any alignment, URL-encoded,
 * and as messages quote it (\xNN).  0; -1 with errno EINVAL for one that is too short, or ENOMEM. */
int berth_redactor_add (struct berth_redactor *redactor, const void *bytes, size_t size);

/* Replaces every secret in TEXT.  Without memory for it the whole text goes. */
void berth_redactor_apply (struct berth_redactor *redactor, struct berth_buffer *text);

#endif
