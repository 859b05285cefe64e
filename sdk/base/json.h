/* json.h - json-c, wrapped once: strict to read, exact to write.
 *
 * Bytes that are not UTF-8 (names and paths are bytes) have no place in a JSON string.  Everywhere
 * a value of bytes is written, it is a string where the bytes are UTF-8, and else the object
 * {"base64": "…"}; berth_json_to_bytes reads both. */
#ifndef BERTH_BASE_JSON_H
#define BERTH_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sdk/base/buffer.h"

/* A value.  JSON's null is a value of its own: a NULL pointer is "no such member". */
struct berth_json;

enum berth_json_kind
{
  BERTH_JSON_NULL,
  BERTH_JSON_BOOLEAN,
  BERTH_JSON_INTEGER,
  BERTH_JSON_NUMBER,
  BERTH_JSON_STRING,
  BERTH_JSON_ARRAY,
  BERTH_JSON_OBJECT,
};

#define BERTH_AUTO_JSON BERTH_CLEANUP (berth_json_cleanup)

/* --- reading ---------------------------------------------------------------------------- */

#define BERTH_JSON_DEPTH 32
#define BERTH_JSON_SIZE ((size_t) 16 << 20)

/* One value and nothing after it: no comments, no NaN, valid UTF-8, no key twice in an object,
 * at most `most` bytes and BERTH_JSON_DEPTH levels, whole numbers within 64 bits.  NULL when it
 * is not: `problem`, where given, then says what is wrong and at which byte. */
#define BERTH_JSON_PROBLEM_SIZE 96
struct berth_json *berth_json_parse (const char *text, size_t size, size_t most,
                                     char problem[BERTH_JSON_PROBLEM_SIZE]);

enum berth_json_kind berth_json_kind (const struct berth_json *value);

/* A member of an object, an element of an array: owned by their container, NULL when it is not
 * there or `value` is no such container (NULL included, so that look-ups can be chained). */
struct berth_json *berth_json_get (const struct berth_json *value, const char *key);
struct berth_json *berth_json_at (const struct berth_json *value, size_t index);
size_t berth_json_length (const struct berth_json *value); /* of an array or object, else 0 */

/* The text of a string without NUL bytes, else NULL.  Valid as long as the value. */
const char *berth_json_string (const struct berth_json *value);

/* 0, or -1 with errno EINVAL when the value is of another kind or out of range. */
int berth_json_to_int64 (const struct berth_json *value, int64_t *number);
int berth_json_to_double (const struct berth_json *value, double *number);
int berth_json_to_boolean (const struct berth_json *value, bool *truth);
int berth_json_to_bytes (const struct berth_json *value, struct berth_buffer *bytes);

/* Calls `member` for each member of an object, in order, until it returns other than 0; returns
 * that. */
int berth_json_each (const struct berth_json *object,
                     int (*member) (void *context, const char *key, struct berth_json *value),
                     void *context);

/* --- writing ---------------------------------------------------------------------------- */

/* New values, the caller's; NULL only without memory. */
struct berth_json *berth_json_new_object (void);
struct berth_json *berth_json_new_array (void);
struct berth_json *berth_json_new_null (void);
struct berth_json *berth_json_new_int64 (int64_t number);
struct berth_json *berth_json_new_double (double number);
struct berth_json *berth_json_new_boolean (bool truth);
struct berth_json *berth_json_new_string (const char *text); /* by the rule of bytes; NULL is null */
struct berth_json *berth_json_new_bytes (const void *bytes, size_t size);

/* Put `value` at the end of `array`, or into `object` in place of what had that key, and own it
 * from then on, also when they fail.  A `value` of NULL fails, so a constructor can stand in the
 * call.  0, or -1 with errno. */
int berth_json_append (struct berth_json *array, struct berth_json *value);
int berth_json_set (struct berth_json *object, const char *key, struct berth_json *value);

int berth_json_set_string (struct berth_json *object, const char *key, const char *text);
int berth_json_set_int64 (struct berth_json *object, const char *key, int64_t number);
int berth_json_set_boolean (struct berth_json *object, const char *key, bool truth);

/* Appends the text of `value`: one line, or indented by two columns. */
int berth_json_print (const struct berth_json *value, bool pretty, struct berth_buffer *buffer);

/* One more owner. */
struct berth_json *berth_json_share (struct berth_json *value);
void berth_json_free (struct berth_json *value);

static inline void
berth_json_cleanup (struct berth_json **value)
{
  berth_json_free (*value);
}

#endif
