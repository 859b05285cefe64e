/* berth doctor */
#include <stdio.h>
#include <unistd.h>

#include "core/cli/checks.h"
#include "core/cli/output.h"
#include "core/cli/text.h"

struct report
{
  struct cli_checkup checkup; /* first: `tell` gets it back as this */
  struct berth_json *array;   /* with --json */
  bool colours;
};

static const char *
verdict_name (enum cli_verdict verdict)
{
  return verdict == CLI_OK ? "ok" : verdict == CLI_WARNING ? "warning" : "broken";
}

static void
tell_json (struct cli_checkup *checkup, const struct cli_finding *finding)
{
  struct report *report = (struct report *) checkup;
  struct berth_json *object = berth_json_new_object ();

  berth_json_set_string (object, "check", finding->check);
  berth_json_set_string (object, "verdict", verdict_name (finding->verdict));
  berth_json_set_string (object, "found", finding->found);
  berth_json_set_string (object, "cost", finding->cost);
  berth_json_set_string (object, "fix", finding->fix);
  berth_json_append (report->array, object);
}

static void
print_more (const char *title, const char *text)
{
  if (text == NULL || text[0] == '\0')
    return;
  printf ("         %s: ", title);
  cli_text_print (stdout, text);
  putchar ('\n');
}

static void
tell_text (struct cli_checkup *checkup, const struct cli_finding *finding)
{
  struct report *report = (struct report *) checkup;
  const char *name = verdict_name (finding->verdict);
  const char *colour = report->colours ? cli_colour (name) : NULL;

  printf ("%s%-8s%s ", colour != NULL ? colour : "", name, colour != NULL ? "\033[0m" : "");
  cli_text_print (stdout, finding->check);
  printf (": ");
  cli_text_print (stdout, finding->found != NULL ? finding->found : "-");
  putchar ('\n');
  print_more ("costs", finding->cost);
  print_more ("mend", finding->fix);
}

int
cli_doctor (struct cli *cli)
{
  struct report report = { .checkup = { .tell = cli->json ? tell_json : tell_text } };
  struct cli_machine machine;
  char user[CLI_USER_SIZE];
  struct berth_error error;
  int status = 0;

  if (cli_given (&cli->line, CLI_REBUILD))
    return cli_rebuild (cli);
  report.colours = cli_has_colours (STDOUT_FILENO);
  if (cli->json)
    report.array = berth_json_new_array ();
  cli_this_machine (&machine, user);
  report.checkup.machine = &machine;
  cli_check_kernel (&report.checkup);
  cli_check_cgroups (&report.checkup);
  cli_check_devices (&report.checkup);
  status = cli_open_host (cli);
  if (status == 0)
    cli_check_directories (&report.checkup, cli->host);
  if (status == 0 && cli_check_backends (&report.checkup, cli->host, cli_text (&cli->line, CLI_BACKEND), &error) < 0)
    status = cli_report (cli, &error);
  if (cli->json && cli_print_json (cli, report.array) != 0)
    status = CLI_FAILED;
  berth_json_free (report.array);
  return status != 0 ? status : report.checkup.broken > 0 ? CLI_NOT_ALL : 0;
}
