/* What a run found, as JUnit's XML for machines and as Markdown for people. */
#include "config.h"

#include "conformance/conform/conform.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "conformance/suites/refusal.h"
#include "sdk/base/fs.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"

const char *
conform_line (const struct conform_item *item, char kind, const char *after)
{
  const char *end = item->report.data + item->report.size;
  const char *line = after != NULL ? after + strlen (after) + 1 : item->report.data;

  if (item->report.data == NULL)
    return NULL;
  for (; line < end; line += strlen (line) + 1)
    if (line[0] == kind)
      return line;
  return NULL;
}

static bool
write_file (const char *file, struct berth_buffer *text)
{
  if (text->error != 0)
    {
      errno = text->error;
      return false;
    }
  return berth_fs_replace (AT_FDCWD, file, text->data, text->size, 0644) == 0;
}

/* ---- JUnit ---- */

/* Without what XML cannot hold. */
static void
append_xml (struct berth_buffer *out, const char *text)
{
  bool valid = berth_utf8_is_valid (text, strlen (text));

  for (const char *byte = text; *byte != '\0'; byte++)
    {
      if (*byte == '&' || *byte == '<' || *byte == '>' || *byte == '"')
        berth_buffer_appendf (out, "&#%d;", *byte);
      else if ((*byte >= 0 && *byte < ' ') || *byte == 0x7f || (*byte < 0 && !valid))
        berth_buffer_append_byte (out, '?');
      else
        berth_buffer_append_byte (out, (unsigned char) *byte);
    }
}

static void
append_case (struct berth_buffer *out, const struct conform_item *item)
{
  const char *line = NULL;

  berth_buffer_appendf (out, "    <testcase classname=\"%s\" name=\"", item->suite);
  append_xml (out, item->name);
  berth_buffer_appendf (out, "\" time=\"%lld.%03lld\">", (long long) item->duration_ms / 1000,
                        (long long) item->duration_ms % 1000);
  while ((line = conform_line (item, 'F', line)) != NULL)
    {
      berth_buffer_append_string (out, "<failure message=\"");
      append_xml (out, line + 1);
      berth_buffer_append_string (out, "\"/>");
    }
  if (item->result == CONFORM_SKIPPED || item->result == CONFORM_NOT_APPLICABLE)
    {
      berth_buffer_append_string (out, "<skipped message=\"");
      append_xml (out, item->result == CONFORM_NOT_APPLICABLE ? "not applicable: " : "");
      append_xml (out, item->reason);
      berth_buffer_append_string (out, "\"/>");
    }
  berth_buffer_append_string (out, "</testcase>\n");
}

/* Calls VISIT for each declared capability that was to be shown. */
static void
each_capability (const struct conform *run, struct berth_buffer *out,
                 void (*visit) (struct berth_buffer *out, uint64_t bit, const struct conform_shown *shown))
{
  for (unsigned int bit = 0; bit < 64 && run->name_count == 0; bit++)
    if ((run->backend.capabilities & ~berth_capabilities_given () & BERTH_CAP (bit)) != 0)
      {
        struct conform_shown shown;

        conform_shown (run, BERTH_CAP (bit), &shown);
        visit (out, BERTH_CAP (bit), &shown);
        berth_buffer_free (&shown.by);
      }
}

static void
append_capability_case (struct berth_buffer *out, uint64_t bit, const struct conform_shown *shown)
{
  berth_buffer_appendf (out, "    <testcase classname=\"capabilities\" name=\"%s\">", berth_capability_name (bit));
  if (!shown->passed)
    berth_buffer_append_string (out, shown->judged ? "<failure message=\"no clause about it passed\"/>"
                                                   : "<skipped message=\"nothing of it could be run here\"/>");
  berth_buffer_append_string (out, "</testcase>\n");
}

bool
conform_write_junit (const struct conform *run)
{
  BERTH_AUTO_BUFFER struct berth_buffer out = { 0 };

  berth_buffer_append_string (&out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"");
  append_xml (&out, berth_path_last (run->setup.plugin));
  berth_buffer_appendf (&out, "\" tests=\"%u\" failures=\"%u\" skipped=\"%u\" time=\"%lld.%03lld\">\n",
                        run->results[0] + run->results[1] + run->results[2] + run->results[3],
                        run->results[CONFORM_FAILED], run->results[CONFORM_SKIPPED] + run->results[CONFORM_NOT_APPLICABLE],
                        (long long) run->duration_ms / 1000, (long long) run->duration_ms % 1000);
  for (size_t i = 0; i < run->count; i++)
    append_case (&out, &run->items[i]);
  each_capability (run, &out, append_capability_case);
  berth_buffer_append_string (&out, "  </testsuite>\n</testsuites>\n");
  return write_file (run->junit_file, &out);
}

/* ---- Markdown ---- */

/* In a cell of a table. */
static void
append_cell (struct berth_buffer *out, const char *text)
{
  for (; *text != '\0'; text++)
    {
      if (strchr ("|\\`*_<>[", *text) != NULL)
        berth_buffer_append_byte (out, '\\');
      berth_buffer_append_byte (out, (unsigned char) (*text > 0 && *text < ' ' ? ' ' : *text));
    }
}

static void
append_row (struct berth_buffer *out, const struct conform_item *item)
{
  const char *line = NULL;
  const char *title = strchr (item->name, ' ');

  berth_buffer_appendf (out, "| %s | ", item->clause->id);
  append_cell (out, title != NULL ? title + 1 : "");
  berth_buffer_appendf (out, " | %s", item->result == CONFORM_FAILED ? "**failed**" : conform_result_name (item->result));
  if (item->result == CONFORM_SKIPPED || item->result == CONFORM_NOT_APPLICABLE)
    {
      berth_buffer_append_string (out, ": ");
      append_cell (out, item->reason);
    }
  while ((line = conform_line (item, 'F', line)) != NULL)
    {
      berth_buffer_append_string (out, "<br>");
      append_cell (out, line + 1);
    }
  if (item->result == CONFORM_PASSED || item->result == CONFORM_FAILED)
    berth_buffer_appendf (out, " | %lld ms |\n", (long long) item->duration_ms);
  else
    berth_buffer_append_string (out, " | |\n");
}

static void
append_capability_row (struct berth_buffer *out, uint64_t bit, const struct conform_shown *shown)
{
  berth_buffer_appendf (out, "| %s | %s | %s |\n", berth_capability_name (bit),
                        shown->by.size > 0 ? berth_buffer_string (&shown->by) : "no clause",
                        shown->passed ? "yes" : shown->judged ? "**no**" : "not here");
}

static void
append_head (struct berth_buffer *out, const struct conform *run)
{
  struct utsname machine = { 0 };

  uname (&machine);
  berth_buffer_appendf (out, "# Conformance of `%s`\n\n", berth_path_last (run->setup.plugin));
  append_cell (out, run->backend.opens ? run->backend.text : "The host does not open it");
  berth_buffer_appendf (out, ". Run by berth-conform %s as %s on %s %s, %s.\n\n", PACKAGE_VERSION,
                        geteuid () == 0 ? "root" : "an ordinary user", machine.sysname, machine.release, machine.machine);
  if (run->backend.unreachable[0] != '\0')
    {
      berth_buffer_append_string (out, "The runtime cannot be reached: ");
      append_cell (out, run->backend.unreachable);
      berth_buffer_append_string (out, "\n\n");
    }
  berth_buffer_appendf (out, "| covered | not applicable | failed | skipped |\n|---|---|---|---|\n| %u | %u | %u | %u |\n",
                        run->results[CONFORM_PASSED], run->results[CONFORM_NOT_APPLICABLE], run->results[CONFORM_FAILED],
                        run->results[CONFORM_SKIPPED]);
}

bool
conform_write_report (const struct conform *run)
{
  BERTH_AUTO_BUFFER struct berth_buffer out = { 0 };

  append_head (&out, run);
  if (run->name_count == 0 && run->backend.opens)
    {
      berth_buffer_append_string (&out, "\n## Capabilities\n\n| declared | clauses | shown |\n|---|---|---|\n");
      each_capability (run, &out, append_capability_row);
    }
  for (const struct suite *const *suite = conform_suites; *suite != NULL; suite++)
    {
      bool titled = false;

      for (size_t i = 0; i < run->count; i++)
        if (strcmp (run->items[i].suite, (*suite)->name) == 0)
          {
            if (!titled)
              berth_buffer_appendf (&out, "\n## %s\n\n| clause | what holds | result | time |\n|---|---|---|---|\n",
                                    (*suite)->name);
            titled = true;
            append_row (&out, &run->items[i]);
          }
    }
  return write_file (run->report_file, &out);
}
