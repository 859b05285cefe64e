#include "sdk/base/json.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "sdk/base/base64.h"
#include "sdk/base/jsonscan.h"
#include "sdk/base/string.h"

/* json-c has no value for null: it is a NULL pointer there, and this address here. */
static const char null_value;

static struct berth_json *
null_json (void)
{
  return (struct berth_json *) (uintptr_t) &null_value;
}

static struct berth_json *
wrap (struct json_object *object)
{
  return object != NULL ? (struct berth_json *) object : null_json ();
}

static struct json_object *
unwrap (const struct berth_json *value)
{
  return value == null_json () ? NULL : (struct json_object *) (uintptr_t) value;
}

static bool
is_kind (const struct berth_json *value, enum berth_json_kind kind)
{
  return value != NULL && berth_json_kind (value) == kind;
}

static int
fail (int error)
{
  errno = error;
  return -1;
}

/* --- reading --- */

static size_t
count_members (struct json_object *object)
{
  size_t count = 0, i;

  if (json_object_is_type (object, json_type_array))
    for (i = 0; i < json_object_array_length (object); i++)
      count += count_members (json_object_array_get_idx (object, i));
  else if (json_object_is_type (object, json_type_object))
    {
      struct json_object_iterator at = json_object_iter_begin (object), end = json_object_iter_end (object);

      for (; !json_object_iter_equal (&at, &end); json_object_iter_next (&at))
        count += 1 + count_members (json_object_iter_peek_value (&at));
    }
  return count;
}

/* The value, or NULL with the parser's own words in *problem.  json null is the null value. */
static struct berth_json *
parse_scanned (const char *text, size_t size, const char **problem, size_t *at)
{
  struct json_tokener *tokener = json_tokener_new_ex (BERTH_JSON_DEPTH + 1);
  struct json_object *object;
  enum json_tokener_error error;

  if (tokener == NULL)
    {
      *problem = "out of memory";
      return NULL;
    }
  json_tokener_set_flags (tokener, JSON_TOKENER_STRICT);
  object = json_tokener_parse_ex (tokener, text, (int) size);
  error = json_tokener_get_error (tokener);
  *at = json_tokener_get_parse_end (tokener);
  if (error == json_tokener_continue) /* a number may go on until it is told the end */
    {
      object = json_tokener_parse_ex (tokener, "", 1);
      error = json_tokener_get_error (tokener);
    }
  json_tokener_free (tokener);
  if (error == json_tokener_success)
    return wrap (object);
  *problem = error == json_tokener_continue ? "incomplete" : json_tokener_error_desc (error);
  json_object_put (object);
  return NULL;
}

struct berth_json *
berth_json_parse (const char *text, size_t size, size_t most, char problem[BERTH_JSON_PROBLEM_SIZE])
{
  struct berth_json_scan scan = { 0 };
  struct berth_json *value = NULL;

  if (size > most || size > INT_MAX - 1)
    scan.problem = "too long";
  else if (!berth_utf8_is_valid (text, size))
    scan.problem = "not UTF-8";
  else if (berth_json_scan (text, size, &scan))
    {
      value = parse_scanned (text, size, &scan.problem, &scan.at);
      if (value != NULL && count_members (unwrap (value)) != scan.members)
        scan.problem = "a key stands twice in one object";
    }
  if (scan.problem == NULL)
    return value;
  berth_json_free (value);
  if (problem != NULL)
    snprintf (problem, BERTH_JSON_PROBLEM_SIZE, "%s (at byte %zu)", scan.problem, scan.at);
  errno = EINVAL;
  return NULL;
}

enum berth_json_kind
berth_json_kind (const struct berth_json *value)
{
  switch (json_object_get_type (unwrap (value)))
    {
    case json_type_boolean:
      return BERTH_JSON_BOOLEAN;
    case json_type_int:
      return BERTH_JSON_INTEGER;
    case json_type_double:
      return BERTH_JSON_NUMBER;
    case json_type_string:
      return BERTH_JSON_STRING;
    case json_type_array:
      return BERTH_JSON_ARRAY;
    case json_type_object:
      return BERTH_JSON_OBJECT;
    case json_type_null:
    default:
      return BERTH_JSON_NULL;
    }
}

struct berth_json *
berth_json_get (const struct berth_json *value, const char *key)
{
  struct json_object *member;

  if (!is_kind (value, BERTH_JSON_OBJECT) || !json_object_object_get_ex (unwrap (value), key, &member))
    return NULL;
  return wrap (member);
}

struct berth_json *
berth_json_at (const struct berth_json *value, size_t index)
{
  if (!is_kind (value, BERTH_JSON_ARRAY) || index >= berth_json_length (value))
    return NULL;
  return wrap (json_object_array_get_idx (unwrap (value), index));
}

size_t
berth_json_length (const struct berth_json *value)
{
  if (is_kind (value, BERTH_JSON_ARRAY))
    return json_object_array_length (unwrap (value));
  return is_kind (value, BERTH_JSON_OBJECT) ? (size_t) json_object_object_length (unwrap (value)) : 0;
}

const char *
berth_json_string (const struct berth_json *value)
{
  const char *text;

  if (!is_kind (value, BERTH_JSON_STRING))
    return NULL;
  text = json_object_get_string (unwrap (value));
  return strlen (text) == (size_t) json_object_get_string_len (unwrap (value)) ? text : NULL;
}

int
berth_json_to_int64 (const struct berth_json *value, int64_t *number)
{
  if (!is_kind (value, BERTH_JSON_INTEGER))
    return fail (EINVAL);
  *number = json_object_get_int64 (unwrap (value));
  return 0;
}

int
berth_json_to_double (const struct berth_json *value, double *number)
{
  if ((!is_kind (value, BERTH_JSON_INTEGER) && !is_kind (value, BERTH_JSON_NUMBER))
      || !isfinite (json_object_get_double (unwrap (value)))) /* 1e999 */
    return fail (EINVAL);
  *number = json_object_get_double (unwrap (value));
  return 0;
}

int
berth_json_to_boolean (const struct berth_json *value, bool *truth)
{
  if (!is_kind (value, BERTH_JSON_BOOLEAN))
    return fail (EINVAL);
  *truth = json_object_get_boolean (unwrap (value));
  return 0;
}

int
berth_json_to_bytes (const struct berth_json *value, struct berth_buffer *bytes)
{
  const char *encoded;

  if (is_kind (value, BERTH_JSON_STRING))
    return berth_buffer_append (bytes, json_object_get_string (unwrap (value)),
                                (size_t) json_object_get_string_len (unwrap (value)));
  encoded = berth_json_string (berth_json_get (value, "base64"));
  if (encoded == NULL || berth_json_length (value) != 1)
    return fail (EINVAL);
  return berth_base64_decode (encoded, strlen (encoded), bytes);
}

int
berth_json_each (const struct berth_json *object,
                 int (*member) (void *context, const char *key, struct berth_json *value), void *context)
{
  struct json_object_iterator at, end;
  int result = 0;

  if (!is_kind (object, BERTH_JSON_OBJECT))
    return 0;
  at = json_object_iter_begin (unwrap (object));
  end = json_object_iter_end (unwrap (object));
  for (; result == 0 && !json_object_iter_equal (&at, &end); json_object_iter_next (&at))
    result = member (context, json_object_iter_peek_name (&at), wrap (json_object_iter_peek_value (&at)));
  return result;
}

/* --- writing --- */

/* A new json-c value, where NULL is not null but a lack of memory. */
static struct berth_json *
wrap_new (struct json_object *object)
{
  if (object == NULL)
    errno = ENOMEM;
  return (struct berth_json *) object;
}

struct berth_json *
berth_json_new_object (void)
{
  return wrap_new (json_object_new_object ());
}

struct berth_json *
berth_json_new_array (void)
{
  return wrap_new (json_object_new_array ());
}

struct berth_json *
berth_json_new_null (void)
{
  return null_json ();
}

struct berth_json *
berth_json_new_int64 (int64_t number)
{
  return wrap_new (json_object_new_int64 (number));
}

struct berth_json *
berth_json_new_double (double number)
{
  char text[40];
  char *comma;
  int digits = 15;

  if (!isfinite (number))
    return null_json ();
  do
    snprintf (text, sizeof text, "%.*g", digits, number);
  while (strtod (text, NULL) != number && ++digits <= 17);
  comma = strchr (text, ','); /* in an application's locale */
  if (comma != NULL)
    *comma = '.';
  return wrap_new (json_object_new_double_s (number, text));
}

struct berth_json *
berth_json_new_boolean (bool truth)
{
  return wrap_new (json_object_new_boolean (truth));
}

struct berth_json *
berth_json_new_string (const char *text)
{
  return text != NULL ? berth_json_new_bytes (text, strlen (text)) : null_json ();
}

struct berth_json *
berth_json_new_bytes (const void *bytes, size_t size)
{
  BERTH_AUTO_BUFFER struct berth_buffer encoded = { 0 };
  BERTH_AUTO_JSON struct berth_json *object = NULL;

  if (size > INT_MAX / 2)
    {
      errno = EMSGSIZE;
      return NULL;
    }
  if (berth_utf8_is_valid (bytes, size))
    return wrap_new (json_object_new_string_len (bytes, (int) size));
  object = berth_json_new_object ();
  if (object == NULL || berth_base64_encode (bytes, size, &encoded) < 0
      || berth_json_set_string (object, "base64", encoded.data) < 0)
    return NULL;
  return BERTH_STEAL_POINTER (object);
}

int
berth_json_append (struct berth_json *array, struct berth_json *value)
{
  if (value == NULL)
    return fail (ENOMEM);
  if (!is_kind (array, BERTH_JSON_ARRAY) || json_object_array_add (unwrap (array), unwrap (value)) < 0)
    {
      berth_json_free (value);
      return fail (array != NULL ? ENOMEM : EINVAL);
    }
  return 0;
}

int
berth_json_set (struct berth_json *object, const char *key, struct berth_json *value)
{
  if (value == NULL)
    return fail (ENOMEM);
  if (!is_kind (object, BERTH_JSON_OBJECT) || !berth_utf8_is_valid (key, strlen (key)))
    {
      berth_json_free (value);
      return fail (EINVAL);
    }
  if (json_object_object_add (unwrap (object), key, unwrap (value)) < 0)
    {
      berth_json_free (value);
      return fail (ENOMEM);
    }
  return 0;
}

int
berth_json_set_string (struct berth_json *object, const char *key, const char *text)
{
  return berth_json_set (object, key, berth_json_new_string (text));
}

int
berth_json_set_int64 (struct berth_json *object, const char *key, int64_t number)
{
  return berth_json_set (object, key, berth_json_new_int64 (number));
}

int
berth_json_set_boolean (struct berth_json *object, const char *key, bool truth)
{
  return berth_json_set (object, key, berth_json_new_boolean (truth));
}

int
berth_json_print (const struct berth_json *value, bool pretty, struct berth_buffer *buffer)
{
  int layout = pretty ? JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED : JSON_C_TO_STRING_PLAIN;
  int flags = JSON_C_TO_STRING_NOSLASHESCAPE | layout;
  size_t length;
  const char *text = json_object_to_json_string_length (unwrap (value), flags, &length);

  return text != NULL ? berth_buffer_append (buffer, text, length) : fail (ENOMEM);
}

struct berth_json *
berth_json_share (struct berth_json *value)
{
  if (value != NULL && value != null_json ())
    json_object_get (unwrap (value));
  return value;
}

void
berth_json_free (struct berth_json *value)
{
  if (value != NULL && value != null_json ())
    json_object_put (unwrap (value));
}
