/* role.h - another process that does something for a clause, through an instance of its own on
 * the same directories. */
#ifndef CONFORMANCE_SUITES_ROLE_H
#define CONFORMANCE_SUITES_ROLE_H

#include <sys/types.h>

#include "conformance/suites/box.h"
#include "sdk/base/buffer.h"

struct suite_child
{
  pid_t pid;
  int output;
};

/* ARGUMENTS ends with NULL. */
struct suite_child suite_role_start (struct suite_context *suite, const char *role, const char *const *arguments);
/* Reads its output to the end and waits for it: its exit status, or 128 + signal. */
int suite_role_finish (struct suite_context *suite, struct suite_child *child, struct berth_buffer *output);
int suite_role_run (struct suite_context *suite, const char *role, const char *const *arguments,
                    struct berth_buffer *output);

/* "ID PRIVATE", one text: what the host would have on disk of a box. */
char *suite_box_save (const struct suite_box *box);
/* A box from that text, in a role; nobody destroys it at the end. */
struct suite_box *suite_box_load (struct suite_context *suite, const char *text);
/* Takes what a role printed with suite_box_save into BOX of the clause, which destroys it at its end. */
void suite_box_take (struct suite_box *box, const char *text);

/* Opens and closes suite->instance on the directories of SUITE.  The error's text goes to the
 * report. */
bool suite_open (struct suite_context *suite);
void suite_close (struct suite_context *suite);
/* The same where the clause is about something else: that it cannot be opened is a warning. */
bool suite_try_open (struct suite_context *suite);
/* Whether the runtime is there, and how many facts were told of it. */
uint32_t suite_ping (struct suite_context *suite, unsigned int *facts, struct berth_error *error);

#endif
