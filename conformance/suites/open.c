/* An instance of the plugin, opened as the host opens it, and what a host would ask of it. */
#include <libgen.h>

#include "conformance/suites/role.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"

#define PING_MS 10000

static void
take_log (void *context, uint32_t level, const char *line)
{
  struct suite_context *suite = context;

  if (getenv ("BERTH_SUITES_LOG") != NULL)
    suite_warn (suite, "log %u: %s", level, line);
}

/* "ns" of ".../berth-backend-ns.so"; the caller frees it. */
static char *
backend_name (const char *plugin)
{
  const char *file = berth_path_last (plugin);

  if (!berth_string_starts_with (file, BERTH_BACKEND_PREFIX) || !berth_string_ends_with (file, BERTH_BACKEND_SUFFIX))
    return NULL;
  file += strlen (BERTH_BACKEND_PREFIX);
  return strndup (file, strlen (file) - strlen (BERTH_BACKEND_SUFFIX));
}

static bool
refused (struct suite_context *suite, const char *what, const struct berth_error *error)
{
  suite_fail (suite, __FILE__, __LINE__, "%s: %s: %s (%s)", what, suite_code_name (error->code), error->message,
              error->hint);
  return false;
}

/* A default of `deny` is what every host asks; a backend that cannot give it must refuse it. */
static void
find_network_action (struct suite_context *suite)
{
  struct suite_box *box = suite_box_new (suite);
  struct suite_plan plan;

  suite->network_action = BERTH_DENY;
  suite_plan_init (&plan, box);
  if (suite_box_validate (box, &plan.spec, NULL) != 0)
    suite->network_action = BERTH_ALLOW;
  suite->boxes = box->next;
  free (box);
}

/* WHAT becomes what could not be had. */
static bool
open_instance (struct suite_context *suite, const char **what, struct berth_error *error)
{
  BERTH_AUTO_FREE char *name = backend_name (suite->plugin);
  BERTH_AUTO_FREE char *folder = berth_path_parent (suite->plugin);
  struct berth_registry_options options = {
    .backend_path = folder,
    .installed_dir = folder,
    .state_dir = suite->state_dir,
    .runtime_dir = suite->runtime_dir,
    .cache_dir = suite->cache_dir,
    .config_file = suite->config_file,
    .agent_path = suite->agent_path,
    .installation_id = suite->installation_id,
    .allow_test_backends = 1,
    .log = take_log,
    .log_context = suite,
  };

  *what = "file name";
  if (name == NULL || folder == NULL)
    {
      snprintf (error->message, sizeof error->message, "%s is not berth-backend-NAME.so", suite->plugin);
      return false;
    }
  *what = "registry";
  if (berth_registry_open (&options, &suite->registry, error) < 0)
    return false;
  *what = "instance";
  if (berth_registry_instance (suite->registry, name, suite->plugin, &suite->instance, error) < 0)
    return false;
  suite->backend = berth_instance_backend (suite->instance);
  suite->state = berth_instance_state (suite->instance);
  return true;
}

bool
suite_open (struct suite_context *suite)
{
  struct berth_error error = { 0 };
  const char *what;

  if (!open_instance (suite, &what, &error))
    return refused (suite, what, &error);
  find_network_action (suite);
  return true;
}

bool
suite_try_open (struct suite_context *suite)
{
  struct berth_error error = { 0 };
  const char *what;

  if (open_instance (suite, &what, &error))
    return true;
  suite_warn (suite, "%s: %s", what, error.message);
  suite_close (suite);
  return false;
}

void
suite_close (struct suite_context *suite)
{
  if (suite->registry != NULL)
    berth_registry_close (suite->registry);
  suite->registry = NULL;
  suite->instance = NULL;
  suite->backend = NULL;
  suite->state = NULL;
}

static int
count_fact (void *context, const char *text)
{
  unsigned int *facts = context;

  *facts += text != NULL && *text != '\0';
  return 0;
}

uint32_t
suite_ping (struct suite_context *suite, unsigned int *facts, struct berth_error *error)
{
  struct berth_text_sink sink = { .struct_size = sizeof sink, .context = facts, .text = count_fact };
  struct suite_call call;
  struct berth_call *made = suite_call_begin (&call, suite, NULL, NULL, PING_MS);

  return suite_call_end (&call, suite->backend->lifecycle->ping (made, suite->state, &sink), error);
}
