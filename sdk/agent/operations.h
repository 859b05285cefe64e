/* operations.h - one function for each operation of the protocol.
 *
 * Each puts its answer into the connection, its last frame too, and returns 0; or returns -1 with
 * FAILURE, which the caller sends instead; or CLIENT_GONE when there is nobody to answer. */
#ifndef BERTH_SDK_AGENT_OPERATIONS_H
#define BERTH_SDK_AGENT_OPERATIONS_H

#include "sdk/agent/agent.h"
#include "sdk/agent/conn.h"
#include "sdk/agent/request.h"

#define CLIENT_GONE (-2)

struct operation
{
  struct agent *agent;
  struct worker *self;
  struct conn *conn;
  const struct request *request;
  struct failure *failure;
};

int operation_run (struct operation *operation);
int operation_read (struct operation *operation);
int operation_write (struct operation *operation);
int operation_list (struct operation *operation);
int operation_stat (struct operation *operation);
int operation_make_directory (struct operation *operation);
int operation_move (struct operation *operation);
int operation_remove (struct operation *operation);
int operation_set_attributes (struct operation *operation);
int operation_export (struct operation *operation);
int operation_import (struct operation *operation);
int operation_ping (struct operation *operation);
int operation_deadline (struct operation *operation);
int operation_own (struct operation *operation);
int operation_shut_down (struct operation *operation);

#endif
