/* Holds calls back as a backend's declared concurrency wants it. */
#ifndef CORE_REGISTRY_GATE_H
#define CORE_REGISTRY_GATE_H

#include <pthread.h>
#include <stdint.h>

struct berth_gate_entry;
struct berth_gate
{
  pthread_mutex_t mutex;
  pthread_cond_t left;
  struct berth_gate_entry *inside;
  uint32_t concurrency; /* enum berth_concurrency */
};

void berth_gate_init (struct berth_gate *gate, uint32_t concurrency);
void berth_gate_clear (struct berth_gate *gate);

/* Waits until a call on NATIVE_ID may run.  With one call per sandbox, one on the instance
 * (NULL) waits for nobody.  Every enter is matched by one leave with the same id. */
void berth_gate_enter (struct berth_gate *gate, const char *native_id);
void berth_gate_leave (struct berth_gate *gate, const char *native_id);

#endif
