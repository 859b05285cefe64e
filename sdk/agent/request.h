/* request.h - what one connection asks for, decoded and checked. */
#ifndef BERTH_SDK_AGENT_REQUEST_H
#define BERTH_SDK_AGENT_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sdk/agent/failure.h"
#include "sdk/agent/protocol.h"

/* Texts point into the request's frame, which must outlive it; a text that was not given is NULL. */
struct request
{
  enum wire_operation operation;
  uint64_t given; /* request_bit of every tag that came */
  char *path;
  char *to;
  char *beneath;
  char *user;
  char *owner;
  char *group;
  char *workdir;
  uint64_t mode;
  uint64_t flags;
  uint64_t max_bytes; /* UINT64_MAX when not given; so are the next two */
  uint64_t length;
  uint64_t timeout_ms;
  uint64_t offset;
  uint64_t modified_s; /* two's complement */
  uint64_t ttl_ms;
  char **arguments; /* ends with NULL; freed by request_free */
  size_t argument_count;
  char **environment; /* NAME=VALUE, names checked */
  size_t environment_count;
};

#define REQUEST_AUTO __attribute__ ((cleanup (request_free)))

static inline uint64_t
request_bit (enum wire_tag tag)
{
  return UINT64_C (1) << tag;
}

static inline bool
request_has (const struct request *request, enum wire_tag tag)
{
  return (request->given & request_bit (tag)) != 0;
}

/* Takes the payload of a REQUEST frame apart, which it changes.  0, or -1 with FAILURE; free
 * REQUEST either way. */
int request_decode (unsigned char *payload, size_t size, struct request *request, struct failure *failure);
void request_free (struct request *request);

/* The part of the normal path PATH below the normal path ROOT: "" for ROOT itself.  NULL, with
 * FAILURE, when it is not there. */
const char *request_below (const char *root, const char *path, struct failure *failure);

#endif
