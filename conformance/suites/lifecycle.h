/* lifecycle.h - clauses of the lifecycle that stand in files of their own. */
#ifndef CONFORMANCE_SUITES_LIFECYCLE_H
#define CONFORMANCE_SUITES_LIFECYCLE_H

#include "conformance/suites/suite.h"

/* survival.c */
void suite_l07 (struct suite_context *suite);
void suite_l07_unknown (struct suite_context *suite);
void suite_l12 (struct suite_context *suite);
void suite_l26 (struct suite_context *suite);
void suite_l27 (struct suite_context *suite);
void suite_role_create (struct suite_context *suite, int count, char **arguments);
void suite_role_connect (struct suite_context *suite, int count, char **arguments);
void suite_role_die_in_create (struct suite_context *suite, int count, char **arguments);

/* crowd.c */
void suite_l13 (struct suite_context *suite);
void suite_l14 (struct suite_context *suite);

/* correlation.c */
void suite_l20 (struct suite_context *suite);
void suite_role_lose_answer (struct suite_context *suite, int count, char **arguments);

/* limits.c, workload.c, inventory.c, expiry.c */
void suite_l04 (struct suite_context *suite);
void suite_l05 (struct suite_context *suite);

/* exhaustion.c: what is used up, and how that is told. */
void suite_d095 (struct suite_context *suite);
void suite_d096 (struct suite_context *suite);
void suite_d097 (struct suite_context *suite);
void suite_d098 (struct suite_context *suite);
void suite_d100 (struct suite_context *suite);
void suite_d101 (struct suite_context *suite);
void suite_l15 (struct suite_context *suite);
void suite_l16 (struct suite_context *suite);
void suite_l17 (struct suite_context *suite);
void suite_l19 (struct suite_context *suite);
void suite_l19_end (struct suite_context *suite);
void suite_l21 (struct suite_context *suite);
void suite_l21_gap (struct suite_context *suite);
void suite_l21_destroy (struct suite_context *suite);
void suite_l22 (struct suite_context *suite);
void suite_l22_destroy (struct suite_context *suite);
void suite_l23 (struct suite_context *suite);

#endif
