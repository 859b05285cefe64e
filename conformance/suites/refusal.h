/* refusal.h - what must hold of a capability that is not declared. */
#ifndef CONFORMANCE_SUITES_REFUSAL_H
#define CONFORMANCE_SUITES_REFUSAL_H

#include "conformance/suites/suite.h"

/* The clause needs MISSING, which the backend does not declare: nothing of it can be reached,
 * and a specification or command that asks for it is refused. */
void suite_check_refusal (struct suite_context *suite, uint64_t missing);

/* Names of the capabilities of MASK, with spaces between. */
void suite_capability_names (uint64_t mask, char *text, size_t size);

#endif
