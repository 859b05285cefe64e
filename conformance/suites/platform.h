/* platform.h - clauses of what a platform may have beside sandboxes; each stands in the suite that
 * its id belongs to. */
#ifndef CONFORMANCE_SUITES_PLATFORM_H
#define CONFORMANCE_SUITES_PLATFORM_H

#include "conformance/suites/suite.h"

/* copies.c */
void suite_l24 (struct suite_context *suite);
void suite_l25 (struct suite_context *suite);
void suite_l25_disk (struct suite_context *suite);
void suite_i07 (struct suite_context *suite);
/* reports.c */
void suite_metrics (struct suite_context *suite);
void suite_diagnostics (struct suite_context *suite);
void suite_costs (struct suite_context *suite);
void suite_native_call (struct suite_context *suite);
void suite_watch (struct suite_context *suite);
void suite_volume (struct suite_context *suite);
void suite_i09 (struct suite_context *suite);
/* code.c */
void suite_i03 (struct suite_context *suite);
void suite_i08 (struct suite_context *suite);
void suite_i08_contexts (struct suite_context *suite);
/* tenants.c */
void suite_i06 (struct suite_context *suite);
void suite_i06_recovery (struct suite_context *suite);
/* reach.c */
void suite_n03 (struct suite_context *suite);
void suite_n04 (struct suite_context *suite);
void suite_n05 (struct suite_context *suite);
void suite_n07 (struct suite_context *suite);
void suite_n08 (struct suite_context *suite);
void suite_n09 (struct suite_context *suite);
void suite_n10 (struct suite_context *suite);
void suite_n11 (struct suite_context *suite);

#endif
