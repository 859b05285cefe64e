/* recorded.h - a host's services that only record, and a source over memory. */
#ifndef BERTH_SDK_AGENTLINK_TESTS_RECORDED_H
#define BERTH_SDK_AGENTLINK_TESTS_RECORDED_H

#include <stdbool.h>

#include "sdk/agentlink/agentlink.h"

struct berth_handle
{
  struct agentlink link;
};

/* A call and what was recorded through it. */
struct recorded
{
  struct berth_call call; /* first */
  uint32_t code;
  uint64_t refused;
  char message[512];
  char hint[256];
  char log[256]; /* the last line */
  unsigned int logs;
  int64_t deadline_ns; /* monotonic; 0: none */
  int cancel_fd;       /* -1: none */
  bool cancelled;
};

void recorded_start (struct recorded *recorded);

/* A source over memory. */
struct memory
{
  const char *bytes;
  size_t size;
  size_t taken;
  size_t fail_at; /* 0: never */
};
struct berth_source memory_source (struct memory *memory);

#endif
