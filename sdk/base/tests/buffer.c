#include "sdk/base/buffer.h"

#include <errno.h>
#include <string.h>

#include "sdk/base/tests/runner.h"

static void
test_append (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer buffer = { 0 };
  int i;

  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&buffer), "");
  CU_ASSERT_EQUAL (berth_buffer_append (&buffer, "a\0b", 3), 0);
  CU_ASSERT_EQUAL (berth_buffer_append_byte (&buffer, 'c'), 0);
  CU_ASSERT_EQUAL (buffer.size, 4);
  CU_ASSERT_EQUAL (memcmp (buffer.data, "a\0bc", 5), 0);
  for (i = 0; i < 1000; i++)
    CU_ASSERT_EQUAL (berth_buffer_appendf (&buffer, "%03d,", i), 0);
  CU_ASSERT_EQUAL (buffer.size, 4004);
  CU_ASSERT_EQUAL (memcmp (buffer.data + 4000, "999,", 5), 0);
}

static void
test_limit (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer buffer = { .limit = 4 };

  CU_ASSERT_EQUAL (berth_buffer_append_string (&buffer, "abcd"), 0);
  CU_ASSERT_EQUAL (berth_buffer_append_byte (&buffer, 'e'), -1);
  CU_ASSERT_EQUAL (errno, EMSGSIZE);
  CU_ASSERT_EQUAL (buffer.error, EMSGSIZE);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&buffer), "abcd");
  CU_ASSERT_PTR_NULL (berth_buffer_steal (&buffer));
  berth_buffer_clear (&buffer);
  CU_ASSERT_EQUAL (berth_buffer_appendf (&buffer, "%d", 1234), 0);
  CU_ASSERT_EQUAL (berth_buffer_appendf (&buffer, "%d", 5), -1);
}

static void
test_consume_and_steal (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer buffer = { 0 };
  BERTH_AUTO_FREE char *text = NULL;

  berth_buffer_append_string (&buffer, "abcdef");
  berth_buffer_consume (&buffer, 2);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&buffer), "cdef");
  berth_buffer_consume (&buffer, 100);
  CU_ASSERT_EQUAL (buffer.size, 0);
  berth_buffer_append_string (&buffer, "xyz");
  text = berth_buffer_steal (&buffer);
  CU_ASSERT_STRING_EQUAL (text, "xyz");
  CU_ASSERT_PTR_NULL (buffer.data);
}

static void
test_overflow (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer buffer = { 0 };

  berth_buffer_append_byte (&buffer, 'a');
  CU_ASSERT_EQUAL (berth_buffer_reserve (&buffer, (size_t) -1), -1);
  CU_ASSERT_EQUAL (errno, ENOMEM);
  CU_ASSERT_EQUAL (buffer.size, 1);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "append", test_append },
    { "limit", test_limit },
    { "consume and steal", test_consume_and_steal },
    { "overflow", test_overflow },
    { NULL, NULL },
  };

  return berth_test_main ("buffer", tests);
}
