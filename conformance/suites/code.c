/* I03, I08: code in an interpreter.  What it runs is the same in every language of that look. */
#include <stdio.h>
#include <string.h>

#include "conformance/suites/box.h"
#include "conformance/suites/platform.h"
#include "sdk/base/buffer.h"

#define LANGUAGE "python"

struct outcome
{
  struct berth_buffer output;
  struct berth_buffer rich;
  char error[64];
  unsigned int exits;
  int32_t code;
};

static int
take_output (void *context, uint32_t stream, const void *bytes, size_t size)
{
  struct outcome *outcome = context;

  (void) stream;
  return berth_buffer_append (&outcome->output, bytes, size);
}

static int
take_rich (void *context, const struct berth_rich *rich)
{
  struct outcome *outcome = context;

  return berth_buffer_append (&outcome->rich, rich->data, rich->size);
}

static int
take_error (void *context, const char *name, const char *value, const char *trace)
{
  struct outcome *outcome = context;

  (void) value, (void) trace;
  snprintf (outcome->error, sizeof outcome->error, "%s", name);
  return 0;
}

static int
take_exit (void *context, const struct berth_exit *end)
{
  struct outcome *outcome = context;

  outcome->exits++;
  outcome->code = end->code;
  return 0;
}

static void
outcome_free (struct outcome *outcome)
{
  berth_buffer_free (&outcome->output);
  berth_buffer_free (&outcome->rich);
}

#define AUTO_OUTCOME BERTH_CLEANUP (outcome_free)

/* CONTEXT may be NULL: a state of its own. */
static uint32_t
run_code (struct suite_box *box, const char *language, const char *context, const char *text, struct outcome *outcome)
{
  struct berth_code code = { .struct_size = sizeof code, .language = language, .text = text, .text_size = strlen (text) };
  struct berth_code_sink sink = { sizeof sink, 0, outcome, take_output, take_rich, take_error, take_exit };

  *outcome = (struct outcome) { .exits = 0 };
  if (context != NULL)
    {
      code.asks = BERTH_CODE_CONTEXT;
      code.context_id = context;
    }
  return SUITE_CALL (box->suite, box->native_id, box->suite->backend->code->run (made, box->handle, &code, &sink));
}

static void
check_code (struct suite_box *box, const char *context, const char *text, const char *output, const char *rich, const char *error)
{
  AUTO_OUTCOME struct outcome outcome = { .exits = 0 };

  SUITE_CHECK_CODE (box->suite, text, run_code (box, LANGUAGE, context, text, &outcome), 0);
  SUITE_CHECK (box->suite, outcome.exits == 1 && (outcome.code == 0) == (error[0] == '\0'), "%s: %u exits, code %d", text,
               outcome.exits, outcome.code);
  SUITE_CHECK (box->suite,
               strcmp (berth_buffer_string (&outcome.output), output) == 0
                   && strcmp (berth_buffer_string (&outcome.rich), rich) == 0 && strcmp (outcome.error, error) == 0,
               "%s: printed \"%s\", displayed \"%s\", raised \"%s\"; want \"%s\", \"%s\", \"%s\"", text,
               berth_buffer_string (&outcome.output), berth_buffer_string (&outcome.rich), outcome.error, output, rich, error);
}

void
suite_i03 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);

  check_code (box, NULL, "print('42')", "42\n", "", "");
  check_code (box, NULL, "40 + 2", "", "42", "");
}

void
suite_i08 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  AUTO_OUTCOME struct outcome outcome = { .exits = 0 };

  check_code (box, NULL, "print('hi')", "hi\n", "", "");
  check_code (box, NULL, "print('before')\nraise ValueError('bad')\nprint('after')", "before\n", "", "ValueError");
  check_code (box, NULL, "nobody_set_this", "", "", "NameError");
  SUITE_CHECK_CODE (suite, "an unknown language", run_code (box, "no-such-language", NULL, "1", &outcome),
                    BERTH_E_CAPABILITY_NOT_SUPPORTED);
  SUITE_CHECK (suite, outcome.exits == 0, "a refused run has an exit");
}

/* ---- STATEFUL_CODE ---- */

static int
take_id (void *context, const char *text)
{
  snprintf (context, SUITE_ID_SIZE, "%s", text);
  return 0;
}

static int
count_context (void *context, const struct berth_context *found)
{
  *(unsigned int *) context += found->context_id != NULL;
  return 0;
}

static void
make_context (struct suite_box *box, char id[SUITE_ID_SIZE])
{
  struct berth_text_sink sink = { sizeof sink, 0, id, take_id };

  id[0] = '\0';
  SUITE_CHECK_CODE (box->suite, "create",
                    SUITE_CALL (box->suite, box->native_id,
                                box->suite->backend->contexts->create (made, box->handle, LANGUAGE, &sink)),
                    0);
  SUITE_REQUIRE (box->suite, id[0] != '\0', "a context without an id");
}

void
suite_i08_contexts (struct suite_context *suite)
{
  const struct berth_contexts_ops *ops = suite->backend->contexts;
  struct suite_box *box = suite_box_make (suite);
  AUTO_OUTCOME struct outcome outcome = { .exits = 0 };
  char one[SUITE_ID_SIZE], other[SUITE_ID_SIZE];
  unsigned int count = 0;
  struct berth_context_sink sink = { sizeof sink, 0, &count, count_context };

  make_context (box, one);
  make_context (box, other);
  check_code (box, one, "kept = 40", "", "", "");
  check_code (box, one, "kept + 2", "", "42", "");
  check_code (box, other, "kept + 2", "", "", "NameError");
  check_code (box, NULL, "kept + 2", "", "", "NameError");
  SUITE_CHECK_CODE (suite, "list", SUITE_CALL (suite, box->native_id, ops->list (made, box->handle, &sink)), 0);
  SUITE_CHECK (suite, count == 2, "%u contexts are listed", count);
  SUITE_CHECK_CODE (suite, "remove", SUITE_CALL (suite, box->native_id, ops->remove (made, box->handle, one)), 0);
  SUITE_CHECK_CODE (suite, "remove again", SUITE_CALL (suite, box->native_id, ops->remove (made, box->handle, one)),
                    BERTH_E_NOT_FOUND);
  SUITE_CHECK_CODE (suite, "a run in what was removed", run_code (box, LANGUAGE, one, "1", &outcome), BERTH_E_NOT_FOUND);
}
