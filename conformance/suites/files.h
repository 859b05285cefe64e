/* files.h - clauses about files, by file. */
#ifndef CONFORMANCE_SUITES_FILES_H
#define CONFORMANCE_SUITES_FILES_H

#include "conformance/suites/suite.h"

/* paths.c: which file a path names. */
void suite_f03 (struct suite_context *suite);
void suite_f08 (struct suite_context *suite);
void suite_f09 (struct suite_context *suite);
void suite_f09_race (struct suite_context *suite);
void suite_d052 (struct suite_context *suite);

/* modes.c: what others may do with a file while it is written. */
void suite_f04_watch (struct suite_context *suite);

/* silence.c: a data plane that does not answer. */
void suite_f16 (struct suite_context *suite);
void suite_f16_gone (struct suite_context *suite);

/* names.c: names and trees of any kind. */
void suite_d055 (struct suite_context *suite);
void suite_d056 (struct suite_context *suite);
void suite_d057 (struct suite_context *suite);
void suite_d066 (struct suite_context *suite);
void suite_d067 (struct suite_context *suite);

/* exhaustion.c */
void suite_f13_full (struct suite_context *suite);

#endif
