/* Errors of the host: filling struct berth_error, and the table of codes. */
#ifndef CORE_REGISTRY_ERROR_H
#define CORE_REGISTRY_ERROR_H

#include <stdarg.h>

#include <berth/berth.h>

/* Fills ERROR (may be NULL) and returns -1.  The code's default hint is set; errno is kept. */
int berth_error_set (struct berth_error *error, uint32_t code, const char *format, ...) BERTH_FORMAT (3, 4);
int berth_error_vset (struct berth_error *error, uint32_t code, const char *format, va_list arguments);
/* Replaces the hint of a set error. */
void berth_error_hint (struct berth_error *error, const char *format, ...) BERTH_FORMAT (2, 3);
void berth_error_clear (struct berth_error *error);

#endif
