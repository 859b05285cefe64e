/* string.h - numbers, sizes, durations and ids as people write them. */
#ifndef BERTH_BASE_STRING_H
#define BERTH_BASE_STRING_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All parsers take the whole text and return 0, or -1 with errno EINVAL (not such a value) or
 * ERANGE (one, but not within [least, most]); *value is then untouched. */
int berth_string_to_int64 (const char *text, int64_t least, int64_t most, int64_t *value);
int berth_string_to_uint64 (const char *text, uint64_t least, uint64_t most, uint64_t *value);

/* A decimal fraction as thousandths: "1.5" is 1500; at most three digits after the point. */
int berth_string_to_thousandths (const char *text, int64_t least, int64_t most, int64_t *value);

/* Bytes: "4096", "512M", "1.5G", "64KiB"; K M G T are powers of 1024, in either case. */
int berth_string_to_size (const char *text, uint64_t least, uint64_t most, uint64_t *bytes);

/* Milliseconds: "250ms", "90s", "15m", "1.5h", "2d", "1h30m"; a bare number is seconds. */
int berth_string_to_duration (const char *text, int64_t least, int64_t most, int64_t *milliseconds);

/* true yes on 1, false no off 0 */
int berth_string_to_boolean (const char *text, bool *value);

/* The shortest form that the parser above reads back as the same value. */
#define BERTH_STRING_NUMBER_SIZE 32
void berth_string_from_size (uint64_t bytes, char text[BERTH_STRING_NUMBER_SIZE]);
void berth_string_from_duration (int64_t milliseconds, char text[BERTH_STRING_NUMBER_SIZE]);

/* printf into memory that the caller frees; NULL with errno ENOMEM. */
char *berth_string_format (const char *format, ...) __attribute__ ((format (printf, 1, 2)));
char *berth_string_vformat (const char *format, va_list arguments)
    __attribute__ ((format (printf, 1, 0)));

bool berth_string_starts_with (const char *text, const char *prefix);
bool berth_string_ends_with (const char *text, const char *suffix);

/* strcmp for texts that may be NULL. */
bool berth_string_equal (const char *left, const char *right);

bool berth_utf8_is_valid (const void *bytes, size_t size);

/* `prefix` (or "") and `count` random base32 characters, a-z and 2-7, five bits each, from the kernel.
 * `id` holds strlen (prefix) + count + 1.  Returns 0, or -1 with errno. */
int berth_id_generate (const char *prefix, size_t count, char *id, size_t id_size);

/* Whether `id` is `prefix` and exactly `count` base32 characters. */
bool berth_id_is_valid (const char *id, const char *prefix, size_t count);

#endif
