/* The agent's parsers: by hand, and on seeded random bytes. */
#include <stdlib.h>
#include <string.h>

#include "sdk/agent/account.h"
#include "sdk/agent/fuzz/decode.h"
#include "sdk/agent/member.h"
#include "sdk/agent/path.h"
#include "sdk/agent/request.h"
#include "sdk/agent/wire.h"
#include "sdk/base/tests/random.h"
#include "sdk/base/tests/runner.h"

#define ROUNDS 60000

static void
begin_request (struct berth_buffer *out, enum wire_operation operation)
{
  berth_buffer_clear (out);
  wire_add_number (out, WIRE_TAG_OPERATION, operation);
}

static uint32_t
decode (struct berth_buffer *out)
{
  struct request request;
  struct failure failure = { 0 };
  int result = request_decode ((unsigned char *) out->data, out->size, &request, &failure);

  request_free (&request);
  return result == 0 ? 0 : failure.code;
}

static void
test_requests (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer out = { 0 };

  begin_request (&out, WIRE_READ);
  CU_ASSERT_EQUAL (decode (&out), BERTH_E_INVALID_REQUEST); /* without a path */
  wire_add_text (&out, WIRE_TAG_PATH, "/a");
  CU_ASSERT_EQUAL (decode (&out), 0);
  wire_add_text (&out, WIRE_TAG_PATH, "/a");
  CU_ASSERT_EQUAL (decode (&out), BERTH_E_INVALID_REQUEST); /* twice */
  begin_request (&out, WIRE_READ);
  wire_add_text (&out, WIRE_TAG_PATH, "/a/../b");
  CU_ASSERT_EQUAL (decode (&out), BERTH_E_PATH_REJECTED);
  begin_request (&out, WIRE_READ);
  wire_add (&out, WIRE_TAG_PATH, "/a\0b", 5);
  CU_ASSERT_EQUAL (decode (&out), BERTH_E_INVALID_REQUEST);
  begin_request (&out, WIRE_READ);
  wire_add_text (&out, WIRE_TAG_PATH, "/a");
  wire_add_text (&out, WIRE_TAG_USER, "root"); /* has no place in a read */
  CU_ASSERT_EQUAL (decode (&out), BERTH_E_CAPABILITY_NOT_SUPPORTED);
  begin_request (&out, (enum wire_operation) 999);
  CU_ASSERT_EQUAL (decode (&out), BERTH_E_CAPABILITY_NOT_SUPPORTED);
  begin_request (&out, WIRE_PING);
  wire_add_number (&out, (enum wire_tag) (WIRE_TAG_MAY_IGNORE | 77), 1);
  CU_ASSERT_EQUAL (decode (&out), 0);
  wire_add_number (&out, (enum wire_tag) 77, 1);
  CU_ASSERT_EQUAL (decode (&out), BERTH_E_CAPABILITY_NOT_SUPPORTED);
  begin_request (&out, WIRE_STAT);
  wire_add_text (&out, WIRE_TAG_PATH, "/a");
  wire_add_number (&out, WIRE_TAG_FLAGS, UINT64_C (1) << 63);
  CU_ASSERT_EQUAL (decode (&out), BERTH_E_CAPABILITY_NOT_SUPPORTED);
  out.size -= 3; /* the last field is cut */
  CU_ASSERT_EQUAL (decode (&out), BERTH_E_INVALID_REQUEST);
}

static void
test_frames (void)
{
  unsigned char header[WIRE_HEADER_SIZE];
  struct wire_header read;

  wire_put_header (header, WIRE_FRAME_DATA, WIRE_DATA_MAXIMUM);
  CU_ASSERT_EQUAL (wire_get_header (header, WIRE_DATA_MAXIMUM, &read), 0);
  CU_ASSERT_EQUAL (wire_get_header (header, WIRE_DATA_MAXIMUM - 1, &read), -1);
  header[7] = 1;
  CU_ASSERT_EQUAL (wire_get_header (header, WIRE_DATA_MAXIMUM, &read), -1);
}

static void
test_below (void)
{
  struct failure failure;

  CU_ASSERT_STRING_EQUAL (request_below ("/w", "/w/a/b", &failure), "a/b");
  CU_ASSERT_STRING_EQUAL (request_below ("/w", "/w", &failure), "");
  CU_ASSERT_STRING_EQUAL (request_below ("/", "/a", &failure), "a");
  CU_ASSERT_PTR_NULL (request_below ("/w", "/ww/a", &failure));
  CU_ASSERT_EQUAL (failure.code, BERTH_E_PATH_REJECTED);
}

static void
test_accounts (void)
{
  static const char passwd[] = "broken\nroot:x:0:0:root:/root:/bin/sh\n1000:x:7:8::/odd:\nsandbox:x:1000:1000:::/bin/sh\nsandbox:x:1:1::/:\n";
  static const char group[] = "wheel:x:10:root,sandbox\nother:x:11:sandboxed\nbroken:x:-1:sandbox";
  struct accounts accounts = { 0 };
  struct account account;
  struct failure failure;

  berth_buffer_append (&accounts.passwd, passwd, sizeof passwd - 1);
  berth_buffer_append (&accounts.group, group, sizeof group - 1);
  CU_ASSERT_EQUAL (account_find (&accounts, "sandbox", &account, &failure), 0);
  CU_ASSERT (account.uid == 1000 && account.gid == 1000 && account.group_count == 2 && account.groups[1] == 10);
  CU_ASSERT_STRING_EQUAL (account.home, "/");
  CU_ASSERT_EQUAL (account_find (&accounts, "1000", &account, &failure), 0); /* a name before a number */
  CU_ASSERT_EQUAL (account.uid, 7);
  CU_ASSERT_EQUAL (account_find (&accounts, "sandbox:wheel", &account, &failure), 0);
  CU_ASSERT_EQUAL (account.gid, 10);
  CU_ASSERT_EQUAL (account_find (&accounts, "broken", &account, &failure), -1);
  CU_ASSERT_STRING_EQUAL (account_user_name (&accounts, 0), "root");
  CU_ASSERT_PTR_NULL (account_user_name (&accounts, 5));
  accounts_free (&accounts);
}

/* Something that is nearly right. */
static void
make_seed (struct berth_buffer *out, uint32_t kind)
{
  unsigned char run[16] = { 0 };

  berth_buffer_clear (out);
  berth_buffer_append_byte (out, (unsigned char) kind);
  switch (kind)
    {
    case 0:
      wire_add_number (out, WIRE_TAG_OPERATION, WIRE_RUN);
      wire_add_text (out, WIRE_TAG_ARGUMENT, "sh");
      wire_add_text (out, WIRE_TAG_ARGUMENT, "-c");
      wire_add (out, WIRE_TAG_ENVIRONMENT, "A\0b", 4);
      wire_add_text (out, WIRE_TAG_WORKDIR, "/workspace");
      break;
    case 1:
      wire_add_text (out, WIRE_TAG_NAME, "a/b");
      wire_add_number (out, WIRE_TAG_KIND, WIRE_KIND_FILE);
      wire_add_number (out, WIRE_TAG_SIZE, 100);
      wire_add (out, WIRE_TAG_SPARSE, run, sizeof run);
      wire_add_text (out, WIRE_TAG_HARD_LINK, "c");
      break;
    case 2:
      wire_add_hello (out, "0123456789abcdef", 16);
      wire_add_frame (out, WIRE_FRAME_DATA, "data", 4);
      break;
    default:
      berth_buffer_append_string (out, "sandbox:x:1000:1000:a:/b:/c\nroot:x:0:sandbox,b\n");
    }
}

static void
test_random (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer input = { 0 };
  uint32_t state = 20261129;

  for (int round = 0; round < ROUNDS; round++)
    {
      uint32_t changes = berth_test_random (&state) % 6;

      make_seed (&input, berth_test_random (&state) % 4);
      for (uint32_t i = 0; i < changes; i++)
        input.data[1 + berth_test_random (&state) % (input.size - 1)] = (char) (berth_test_random (&state) >> 8);
      if (berth_test_random (&state) % 4 == 0)
        input.size = 1 + berth_test_random (&state) % input.size;
      CU_ASSERT_EQUAL (LLVMFuzzerTestOneInput ((const uint8_t *) input.data, input.size), 0);
    }
}

static const struct berth_test tests[] = {
  { "requests are checked field by field", test_requests },
  { "a frame has a size limit", test_frames },
  { "what lies below a root", test_below },
  { "D-063 E08 accounts come from the sandbox's files", test_accounts },
  { "every parser takes any bytes", test_random },
  { NULL, NULL },
};

int
main (void)
{
  return berth_test_main ("agent wire", tests);
}
