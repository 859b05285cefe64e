/* lifecycle.h - clauses of the lifecycle that stand in files of their own. */
#ifndef CONFORMANCE_SUITES_LIFECYCLE_H
#define CONFORMANCE_SUITES_LIFECYCLE_H

#include "conformance/suites/suite.h"

void suite_l04 (struct suite_context *suite);
void suite_l05 (struct suite_context *suite);
void suite_l15 (struct suite_context *suite);
void suite_l17 (struct suite_context *suite);
void suite_l19 (struct suite_context *suite);
void suite_l19_end (struct suite_context *suite);
void suite_l23 (struct suite_context *suite);

#endif
