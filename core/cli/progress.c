#include "core/cli/progress.h"

#include <unistd.h>

#include "core/cli/text.h"

static const char wipe[] = "\r\033[K";

bool
cli_progress_wanted (const struct cli *cli)
{
  return !cli->quiet && !cli->json && isatty (STDERR_FILENO);
}

void
cli_progress_show (void *context, const char *phase, uint64_t done, uint64_t total)
{
  struct cli *cli = context;
  BERTH_AUTO_BUFFER struct berth_buffer line = { 0 };

  berth_buffer_append_string (&line, wipe);
  cli_text_escape (&line, phase, 0);
  if (total > 0)
    berth_buffer_appendf (&line, " %u%%", (unsigned int) ((double) done * 100.0 / (double) total));
  if (line.error == 0 && write (STDERR_FILENO, line.data, line.size) > 0)
    cli->progress = true;
}

void
cli_progress_wipe (const struct cli *cli)
{
  if (cli->progress)
    (void) !write (STDERR_FILENO, wipe, sizeof wipe - 1);
}
