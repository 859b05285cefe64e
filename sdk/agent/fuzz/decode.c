#include "sdk/agent/fuzz/decode.h"

#include <stdlib.h>
#include <string.h>

#include "sdk/agent/account.h"
#include "sdk/agent/member.h"
#include "sdk/agent/request.h"
#include "sdk/agent/wire.h"

static void
require (int holds)
{
  if (!holds)
    abort ();
}

static void
try_request (unsigned char *bytes, size_t size)
{
  struct request request;
  struct failure failure;
  int result = request_decode (bytes, size, &request, &failure);

  if (result == 0)
    {
      require (request.path == NULL || request.path[0] == '/');
      require (request.operation != WIRE_RUN || (request.argument_count > 0 && request.arguments[0] != NULL));
      for (size_t i = 0; i < request.environment_count; i++)
        require (strchr (request.environment[i], '=') > request.environment[i]);
      if (request.path != NULL && request.beneath != NULL)
        request_below (request.beneath, request.path, &failure);
    }
  else
    require (failure.code != 0 && failure.message[0] != '\0');
  request_free (&request);
}

static void
try_member (unsigned char *bytes, size_t size)
{
  struct member member;
  struct failure failure;

  if (member_decode (bytes, size, 1, &member, &failure) == 0)
    {
      require (member.name[0] != '/' && strstr (member.name, "../") != member.name);
      require (member.data <= member.size && (member.mode & 06000) == 0);
    }
  else
    require (strncmp (failure.message, "entry 1, ", 9) == 0);
  member_free (&member);
}

static void
try_stream (unsigned char *bytes, size_t size)
{
  struct wire_header header;
  struct wire_hello hello;

  while (size >= WIRE_HEADER_SIZE && wire_get_header (bytes, WIRE_DATA_MAXIMUM, &header) == 0
         && header.size <= size - WIRE_HEADER_SIZE)
    {
      if (header.type == WIRE_FRAME_HELLO && wire_get_hello (bytes + WIRE_HEADER_SIZE, header.size, &hello) == 0)
        require (hello.token_size <= WIRE_TOKEN_MAXIMUM);
      bytes += WIRE_HEADER_SIZE + header.size;
      size -= WIRE_HEADER_SIZE + header.size;
    }
}

static void
try_accounts (const unsigned char *bytes, size_t size)
{
  struct accounts accounts = { 0 };
  struct account account;
  struct failure failure;

  berth_buffer_append (&accounts.passwd, bytes, size);
  berth_buffer_append (&accounts.group, bytes, size);
  if (account_find (&accounts, "sandbox", &account, &failure) == 0)
    require (account.group_count >= 1 && account.group_count <= ACCOUNT_GROUPS_MAXIMUM
             && strcmp (account.name, "sandbox") == 0);
  account_find (&accounts, "1000:sandbox", &account, &failure);
  account_user_name (&accounts, 0);
  account_group_name (&accounts, 1000);
  accounts_free (&accounts);
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  unsigned char *copy;

  if (size == 0)
    return 0;
  copy = malloc (size); /* of exactly that size, so that a step beyond it is seen */
  if (copy == NULL)
    return 0;
  memcpy (copy, bytes + 1, size - 1);
  switch (bytes[0] % 4)
    {
    case 0:
      try_request (copy, size - 1);
      break;
    case 1:
      try_member (copy, size - 1);
      break;
    case 2:
      try_stream (copy, size - 1);
      break;
    default:
      try_accounts (copy, size - 1);
    }
  free (copy);
  return 0;
}
