/* suggest.h - what was probably meant. */
#ifndef BERTH_CLI_SUGGEST_H
#define BERTH_CLI_SUGGEST_H

#include <stddef.h>
#include <stdint.h>

/* The name that is closest to what was written, or NULL when none is close. */
const char *cli_suggest_option (const char *name, size_t size, uint64_t among);
const char *cli_suggest_command (const char *name);

#endif
