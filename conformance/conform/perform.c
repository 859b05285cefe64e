/* What the process of a clause does. */
#include "conformance/conform/conform.h"
#include "conformance/suites/refusal.h"
#include "conformance/suites/role.h"

void
conform_perform (struct suite_context *suite, const struct child_job *job)
{
  const struct suite_clause *clause = job->clause;

  suite->clause = clause;
  if ((clause->flags & SUITE_NO_INSTANCE) != 0)
    {
      clause->run (suite);
      return;
    }
  if (!suite_open (suite))
    return;
  if (job->missing != 0)
    suite_check_refusal (suite, job->missing);
  else
    clause->run (suite);
  suite_boxes_end (suite);
  SUITE_CHECK (suite, suite_sweep (suite) == 0, "list_ids still tells something at the end");
  suite_close (suite);
}
