/* berth inspect */
#include <stdio.h>

#include "core/cli/output.h"
#include "core/cli/text.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"

#define COLUMN 14

static void
print_line (const char *key, const char *value)
{
  printf ("%-*s", COLUMN, key);
  cli_text_print (stdout, value != NULL && value[0] != '\0' ? value : "-");
  putchar ('\n');
}

static void
print_limits (const struct berth_sandbox_info *info)
{
  char text[BERTH_STRING_NUMBER_SIZE];
  struct cli_limit limit;
  unsigned int i;

  for (i = 0; cli_limit_at (info, i, &limit); i++)
    {
      if (limit.unit == CLI_UNIT_BYTES)
        berth_string_from_size (limit.value, text);
      else if (limit.unit == CLI_UNIT_THOUSANDTHS)
        snprintf (text, sizeof text, "%g", (double) limit.value / 1000);
      else
        snprintf (text, sizeof text, "%llu", (unsigned long long) limit.value);
      print_line (limit.name, (info->enforced & limit.bit) != 0 ? text : "not enforced");
    }
}

static void
print_times (const struct berth_sandbox_info *info)
{
  char when[BERTH_CLOCK_TEXT_SIZE], age[CLI_AGE_SIZE];

  berth_clock_format_wall (info->created_wall_ms, when);
  print_line ("created", when);
  if (info->expiry.kind == BERTH_EXPIRES_AT)
    {
      berth_clock_format_wall (info->expiry.wall_ms, when);
      cli_text_age (info->expiry.remaining_ms, age);
      printf ("%-*s%s (in %s)\n", COLUMN, "expires", when, age);
    }
  else
    print_line ("expires", info->expiry.kind == BERTH_EXPIRES_NEVER ? "never" : "not known");
}

static void
print_idle (const struct berth_sandbox_info *info)
{
  char after[BERTH_STRING_NUMBER_SIZE], unused[CLI_AGE_SIZE];

  if (info->idle_action <= BERTH_IDLE_KEEP)
    return;
  berth_string_from_duration (info->idle_ms, after);
  printf ("%-*s%s after %s%s", COLUMN, "when idle", cli_idle_name (info->idle_action), after,
          info->idle_resume != 0 ? ", goes on when used" : "");
  cli_text_age (info->unused_ms, unused);
  if (info->unused_ms > 0)
    printf (" (unused for %s)", unused);
  else if (info->unused_ms == 0)
    printf (" (in use)");
  putchar ('\n');
}

static void
print_isolation (const struct berth_sandbox_info *info)
{
  BERTH_AUTO_BUFFER struct berth_buffer posture = { 0 };
  unsigned int i;

  for (i = 0; cli_posture_name (i) != NULL; i++)
    if ((info->posture >> i & 1) != 0)
      berth_buffer_appendf (&posture, "%s%s", posture.size > 0 ? ", " : "", cli_posture_name (i));
  print_line ("tier", berth_tier_name (info->tier));
  if (info->evidence_url != NULL)
    {
      print_line ("evidence", info->evidence_url);
      print_line ("read on", info->evidence_date);
    }
  print_line ("protections", berth_buffer_string (&posture));
  if ((info->enforced & BERTH_SPEC_USER_NAMESPACES) != 0)
    print_line ("namespaces", "programs may make user namespaces");
  print_line ("network", info->network_default != 0 ? cli_network_name (info->network_default) : "not known");
}

static void
print_pairs (const char *key, const struct berth_pair *pairs, uint64_t count)
{
  uint64_t i;

  for (i = 0; i < count; i++)
    {
      BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

      cli_text_pairs (&text, &pairs[i], 1);
      print_line (i == 0 ? key : "", berth_buffer_string (&text));
    }
}

static void
print_capabilities (const struct berth_sandbox_info *info)
{
  const struct berth_capability_info *capability;
  const char *key = "can";
  uint32_t i;

  for (i = 0; (capability = berth_capability (i)) != NULL; i++)
    if ((info->capabilities & capability->bit) != 0)
      {
        print_line (key, capability->name);
        key = "";
      }
}

static void
print_text (void *context, const struct berth_sandbox_info *info)
{
  print_line ("id", info->id);
  print_line ("name", info->name);
  print_line ("owner", info->owner);
  print_line ("backend", info->backend);
  print_line ("state", info->state);
  print_line ("image", info->image);
  print_line ("native id", info->native_id);
  print_line ("runtime", info->runtime);
  print_times (info);
  print_idle (info);
  print_isolation (info);
  print_limits (info);
  print_pairs ("labels", info->labels, info->label_count);
  print_pairs ("environment", info->environment, info->environment_count);
  print_capabilities (info);
}

int
cli_inspect (struct cli *cli)
{
  CLI_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  struct berth_error error;
  int status = cli_open_sandbox (cli, cli->line.words[0], &sandbox);

  if (status != 0)
    return status;
  if (cli->json)
    return cli_print_sandbox (cli, sandbox);
  return berth_sandbox_inspect (sandbox, print_text, NULL, &error) < 0 ? cli_report (cli, &error) : 0;
}
