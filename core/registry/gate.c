#include "core/registry/gate.h"

#include <stdlib.h>
#include <string.h>

#include <berth/types.h>


/* A call that is inside; "" is everything. */
struct berth_gate_entry
{
  struct berth_gate_entry *next;
  char id[];
};

void
berth_gate_init (struct berth_gate *gate, uint32_t concurrency)
{
  pthread_mutex_init (&gate->mutex, NULL);
  pthread_cond_init (&gate->left, NULL);
  gate->inside = NULL;
  gate->concurrency = concurrency;
}

void
berth_gate_clear (struct berth_gate *gate)
{
  pthread_cond_destroy (&gate->left);
  pthread_mutex_destroy (&gate->mutex);
}

/* What a call on NATIVE_ID takes: NULL for nothing. */
static const char *
key (const struct berth_gate *gate, const char *native_id)
{
  if (gate->concurrency == BERTH_ONE_AT_A_TIME)
    return "";
  return gate->concurrency == BERTH_ONE_PER_SANDBOX ? native_id : NULL;
}

static struct berth_gate_entry **
find_locked (struct berth_gate *gate, const char *id)
{
  struct berth_gate_entry **at = &gate->inside;

  while (*at != NULL && strcmp ((*at)->id, id) != 0)
    at = &(*at)->next;
  return at;
}

void
berth_gate_enter (struct berth_gate *gate, const char *native_id)
{
  const char *id = key (gate, native_id);
  struct berth_gate_entry *entry;

  if (id == NULL)
    return;
  pthread_mutex_lock (&gate->mutex);
  /* Without memory the call waits until another leaves and gives some back: it must not run. */
  while (*find_locked (gate, id) != NULL || (entry = malloc (sizeof *entry + strlen (id) + 1)) == NULL)
    pthread_cond_wait (&gate->left, &gate->mutex);
  strcpy (entry->id, id);
  entry->next = gate->inside;
  gate->inside = entry;
  pthread_mutex_unlock (&gate->mutex);
}

void
berth_gate_leave (struct berth_gate *gate, const char *native_id)
{
  const char *id = key (gate, native_id);
  struct berth_gate_entry **at, *gone;

  if (id == NULL)
    return;
  pthread_mutex_lock (&gate->mutex);
  at = find_locked (gate, id);
  gone = *at;
  if (gone != NULL)
    *at = gone->next;
  free (gone);
  pthread_cond_broadcast (&gate->left);
  pthread_mutex_unlock (&gate->mutex);
}
