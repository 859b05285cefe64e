#include "sdk/base/base64.h"
#include "sdk/base/json.h"

#include <errno.h>
#include <string.h>

#include "sdk/base/tests/runner.h"

static struct berth_json *
parse (const char *text)
{
  return berth_json_parse (text, strlen (text), BERTH_JSON_SIZE, NULL);
}

static void
test_read (void)
{
  BERTH_AUTO_JSON struct berth_json *value
      = parse ("{\"a\": [1, -2.5, true, null, \"x\\u00e9\\n\"], \"b\": {\"c\": 9223372036854775807}}");
  const struct berth_json *array = berth_json_get (value, "a");
  int64_t number = 0;
  double real = 0;
  bool truth = false;

  CU_ASSERT_PTR_NOT_NULL_FATAL (value);
  CU_ASSERT_EQUAL (berth_json_length (array), 5);
  CU_ASSERT_EQUAL (berth_json_to_int64 (berth_json_at (array, 0), &number), 0);
  CU_ASSERT_EQUAL (number, 1);
  CU_ASSERT_EQUAL (berth_json_to_double (berth_json_at (array, 1), &real), 0);
  CU_ASSERT_EQUAL (real, -2.5);
  CU_ASSERT_EQUAL (berth_json_to_boolean (berth_json_at (array, 2), &truth), 0);
  CU_ASSERT_TRUE (truth);
  CU_ASSERT_EQUAL (berth_json_kind (berth_json_at (array, 3)), BERTH_JSON_NULL);
  CU_ASSERT_STRING_EQUAL (berth_json_string (berth_json_at (array, 4)), "x\xc3\xa9\n");
  CU_ASSERT_PTR_NULL (berth_json_at (array, 5));
  CU_ASSERT_EQUAL (berth_json_to_int64 (berth_json_get (berth_json_get (value, "b"), "c"), &number), 0);
  CU_ASSERT_EQUAL (number, INT64_MAX);
  CU_ASSERT_PTR_NULL (berth_json_get (berth_json_get (value, "nothing"), "c"));
  CU_ASSERT_EQUAL (berth_json_to_int64 (array, &number), -1);
  CU_ASSERT_EQUAL (errno, EINVAL);
}

static void
test_scalars (void)
{
  static const char *const texts[] = { "1", "null", "true", "\"a\"", " [] \n", "{}", "-0.5e3" };
  size_t i;

  for (i = 0; i < sizeof texts / sizeof texts[0]; i++)
    {
      BERTH_AUTO_JSON struct berth_json *value = parse (texts[i]);

      CU_ASSERT_PTR_NOT_NULL (value);
    }
}

/* JSON has no largest number, a double has. */
static void
test_huge (void)
{
  BERTH_AUTO_JSON struct berth_json *huge = parse ("1e999"), *large = parse ("1e300");
  double number = 0;

  CU_ASSERT_EQUAL (berth_json_to_double (large, &number), 0);
  CU_ASSERT_EQUAL (number, 1e300);
  CU_ASSERT_EQUAL (berth_json_to_double (huge, &number), -1);
  CU_ASSERT_EQUAL (errno, EINVAL);
}

static void
test_refused (void)
{
  static const char *const texts[] = {
    "", " ", "{", "[1,]", "{\"a\":1,}", "[1] 2", "1 2", "/* c */ 1", "NaN", "[Infinity]", "-Infinity", "nan",
    "TRUE", "'a'", "{a:1}", "01", "1.", ".5", "+1", "- 1", "\"a\nb\"", "\"\xff\"", "\"a", "\"\\x\"",
    "9223372036854775808", "[-9223372036854775809]", "{\"a\":1,\"a\":2}", "{\"a\":{\"b\":1,\"b\":1}}",
    "{\"a\":1,\"\\u0061\":2}", "{\"a\\u0000b\":1}", "[1]]", "[}", "\"a\" \"b\"", "[1 2]", "{\"a\" 1}",
  };
  char problem[BERTH_JSON_PROBLEM_SIZE];
  size_t i;

  for (i = 0; i < sizeof texts / sizeof texts[0]; i++)
    {
      struct berth_json *value;

      problem[0] = '\0';
      value = berth_json_parse (texts[i], strlen (texts[i]), BERTH_JSON_SIZE, problem);
      if (value != NULL)
        printf ("     accepted: %s\n", texts[i]);
      CU_ASSERT_PTR_NULL (value);
      CU_ASSERT_STRING_NOT_EQUAL (problem, "");
      berth_json_free (value);
    }
  CU_ASSERT_PTR_NULL (berth_json_parse ("1\0", 2, BERTH_JSON_SIZE, problem));
}

static void
test_limits (void)
{
  char text[2 * BERTH_JSON_DEPTH + 3], problem[BERTH_JSON_PROBLEM_SIZE];
  BERTH_AUTO_JSON struct berth_json *deepest = NULL;

  memset (text, '[', BERTH_JSON_DEPTH + 1);
  memset (text + BERTH_JSON_DEPTH + 1, ']', BERTH_JSON_DEPTH + 1);
  deepest = berth_json_parse (text + 1, (size_t) 2 * BERTH_JSON_DEPTH, BERTH_JSON_SIZE, problem);
  CU_ASSERT_PTR_NOT_NULL (deepest);
  CU_ASSERT_PTR_NULL (berth_json_parse (text, (size_t) 2 * BERTH_JSON_DEPTH + 2, BERTH_JSON_SIZE, problem));
  CU_ASSERT_STRING_EQUAL (problem, "nested too deeply (at byte 32)");
  CU_ASSERT_PTR_NULL (berth_json_parse ("[1,2]", 5, 4, problem));
  CU_ASSERT_STRING_EQUAL (problem, "too long (at byte 0)");
}

static void
test_write (void)
{
  BERTH_AUTO_JSON struct berth_json *object = berth_json_new_object (), *array = berth_json_new_array ();
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

  CU_ASSERT_EQUAL (berth_json_set_string (object, "path", "/a\"b\n"), 0);
  CU_ASSERT_EQUAL (berth_json_set_int64 (object, "low", INT64_MIN), 0);
  CU_ASSERT_EQUAL (berth_json_set_boolean (object, "yes", true), 0);
  CU_ASSERT_EQUAL (berth_json_set_string (object, "none", NULL), 0);
  CU_ASSERT_EQUAL (berth_json_set (object, "tenth", berth_json_new_double (0.1)), 0);
  CU_ASSERT_EQUAL (berth_json_append (array, berth_json_new_bytes ("a\0b", 3)), 0);
  CU_ASSERT_EQUAL (berth_json_append (array, berth_json_new_null ()), 0);
  CU_ASSERT_EQUAL (berth_json_set (object, "list", BERTH_STEAL_POINTER (array)), 0);
  CU_ASSERT_EQUAL (berth_json_print (object, false, &text), 0);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&text),
                          "{\"path\":\"/a\\\"b\\n\",\"low\":-9223372036854775808,\"yes\":true,\"none\":null,"
                          "\"tenth\":0.1,\"list\":[\"a\\u0000b\",null]}");
}

/* What is no UTF-8 goes through and comes back; what is, stays readable. */
static void
test_bytes (void)
{
  static const char raw[] = "/caf\xe9\0x";
  BERTH_AUTO_JSON struct berth_json *array = berth_json_new_array (), *again = NULL;
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 }, bytes = { 0 };

  CU_ASSERT_EQUAL (berth_json_append (array, berth_json_new_bytes (raw, sizeof raw)), 0);
  CU_ASSERT_EQUAL (berth_json_append (array, berth_json_new_string ("/caf\xc3\xa9")), 0);
  CU_ASSERT_EQUAL (berth_json_print (array, false, &text), 0);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&text), "[{\"base64\":\"L2NhZukAeAA=\"},\"/caf\xc3\xa9\"]");
  again = berth_json_parse (text.data, text.size, BERTH_JSON_SIZE, NULL);
  CU_ASSERT_EQUAL (berth_json_to_bytes (berth_json_at (again, 0), &bytes), 0);
  CU_ASSERT_EQUAL (bytes.size, sizeof raw);
  CU_ASSERT_EQUAL (memcmp (bytes.data, raw, sizeof raw), 0);
  CU_ASSERT_EQUAL (berth_json_to_bytes (again, &bytes), -1);
}

static void
test_base64 (void)
{
  static const char *const bad[] = { "a", "ab", "abc", "====", "QQ==QQ==", "a===", "ab=c", "ab==cd==", "ab c", "QR==", "AAB=", "ab-_" };
  BERTH_AUTO_BUFFER struct berth_buffer bytes = { 0 };
  unsigned char all[256];
  size_t i;

  for (i = 0; i < sizeof all; i++)
    all[i] = (unsigned char) (255 - i);
  for (i = 0; i <= sizeof all; i++)
    {
      BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

      berth_buffer_clear (&bytes);
      CU_ASSERT_EQUAL (berth_base64_encode (all, i, &text), 0);
      CU_ASSERT_EQUAL (text.size, (i + 2) / 3 * 4);
      CU_ASSERT_EQUAL (berth_base64_decode (text.data, text.size, &bytes), 0);
      CU_ASSERT_EQUAL (bytes.size, i);
      CU_ASSERT_EQUAL (memcmp (bytes.data, all, i), 0);
    }
  for (i = 0; i < sizeof bad / sizeof bad[0]; i++)
    CU_ASSERT_EQUAL (berth_base64_decode (bad[i], strlen (bad[i]), &bytes), -1);
}

static int
collect (void *context, const char *key, struct berth_json *value)
{
  berth_buffer_appendf (context, "%s%d ", key, berth_json_kind (value));
  return strcmp (key, "stop") == 0 ? 5 : 0;
}

static void
test_each (void)
{
  BERTH_AUTO_JSON struct berth_json *value = parse ("{\"b\":null,\"a\":1,\"stop\":[],\"z\":1}");
  BERTH_AUTO_BUFFER struct berth_buffer seen = { 0 };

  CU_ASSERT_EQUAL (berth_json_each (value, collect, &seen), 5);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&seen), "b0 a2 stop5 ");
}

static void
test_ownership (void)
{
  BERTH_AUTO_JSON struct berth_json *object = berth_json_new_object (), *shared = NULL, *null = parse ("null");

  CU_ASSERT_EQUAL (berth_json_set (object, "a", NULL), -1);
  CU_ASSERT_EQUAL (errno, ENOMEM);
  CU_ASSERT_EQUAL (berth_json_set (object, "\xff", berth_json_new_int64 (1)), -1);
  CU_ASSERT_EQUAL (errno, EINVAL);
  CU_ASSERT_EQUAL (berth_json_set (null, "a", berth_json_new_int64 (1)), -1);
  CU_ASSERT_EQUAL (berth_json_append (object, berth_json_new_int64 (1)), -1);
  CU_ASSERT_EQUAL (berth_json_set_string (object, "a", "old"), 0);
  shared = berth_json_share (berth_json_get (object, "a"));
  CU_ASSERT_EQUAL (berth_json_set_string (object, "a", "new"), 0);
  CU_ASSERT_STRING_EQUAL (berth_json_string (shared), "old");
  CU_ASSERT_STRING_EQUAL (berth_json_string (berth_json_get (object, "a")), "new");
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "read", test_read },
    { "every kind may stand alone", test_scalars },
    { "a number that no double holds", test_huge },
    { "what is refused", test_refused },
    { "limits of depth and size", test_limits },
    { "write", test_write },
    { "bytes that are not UTF-8", test_bytes },
    { "base64", test_base64 },
    { "each member in order", test_each },
    { "ownership", test_ownership },
    { NULL, NULL },
  };

  return berth_test_main ("json", tests);
}
