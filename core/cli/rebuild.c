/* berth doctor --rebuild */
#include <stdio.h>

#include "core/cli/output.h"
#include "core/cli/text.h"

struct rebuilding
{
  struct berth_json *array; /* with --json */
  int status;
};

static const char *
kind_name (uint32_t kind)
{
  switch (kind)
    {
    case BERTH_RECOVERY_ASIDE:
      return "aside";
    case BERTH_RECOVERY_RECORDED:
      return "recorded";
    case BERTH_RECOVERY_LEFT:
      return "left";
    default:
      return "unreachable";
    }
}

static void
add_json (struct berth_json *array, const struct berth_recovery *what)
{
  struct berth_json *object = berth_json_new_object ();

  berth_json_set_string (object, "kind", kind_name (what->kind));
  berth_json_set_string (object, "backend", what->backend);
  berth_json_set_string (object, "id", what->id);
  berth_json_set_string (object, "name", what->name);
  berth_json_set_string (object, "state", what->state);
  berth_json_set_string (object, "native_id", what->native_id);
  berth_json_set_string (object, "detail", what->detail);
  berth_json_append (array, object);
}

static void
print_text (const struct berth_recovery *what)
{
  const char *subject = what->id != NULL ? what->id : what->native_id != NULL ? what->native_id : what->backend;

  printf ("%-12s", kind_name (what->kind));
  if (subject != NULL)
    cli_text_print (stdout, subject);
  if (what->state != NULL)
    printf (" %s on %s", what->state, what->backend);
  printf ("%s", subject != NULL ? ": " : "");
  cli_text_print (stdout, what->detail != NULL ? what->detail : "-");
  putchar ('\n');
}

static void
visit (void *context, const struct berth_recovery *what)
{
  struct rebuilding *rebuilding = context;

  if (what->kind == BERTH_RECOVERY_UNREACHABLE)
    rebuilding->status = CLI_NOT_ALL;
  if (rebuilding->array != NULL)
    add_json (rebuilding->array, what);
  else
    print_text (what);
}

int
cli_rebuild (struct cli *cli)
{
  struct berth_host_options options = cli_host_options (cli);
  struct rebuilding rebuilding = { 0 };
  struct berth_error error;

  if (cli->json)
    rebuilding.array = berth_json_new_array ();
  if (berth_host_rebuild (&options, visit, &rebuilding, &error) < 0)
    rebuilding.status = cli_report (cli, &error);
  else if (cli->json && cli_print_json (cli, rebuilding.array) != 0)
    rebuilding.status = CLI_FAILED;
  berth_json_free (rebuilding.array);
  return rebuilding.status;
}
