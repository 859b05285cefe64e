/* berth-conform with one clause that always passes: the one that BERTH_MUTANT_CLAUSE names.  What
 * proves the clauses must notice it. */
#include "conformance/conform/conform.h"
#include "conformance/suites/role.h"
#include "sdk/base/string.h"

void
conform_perform (struct suite_context *suite, const struct child_job *job)
{
  const struct suite_clause *clause = job->clause;

  suite->clause = clause;
  if (berth_string_equal (clause->id, getenv ("BERTH_MUTANT_CLAUSE")))
    return;
  if ((clause->flags & SUITE_NO_INSTANCE) == 0 && !suite_open (suite))
    return;
  clause->run (suite);
  suite_boxes_end (suite);
  suite_close (suite);
}
