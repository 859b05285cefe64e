#include "conformance/suites/tool.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "conformance/suites/content.h"
#include "sdk/base/fd.h"
#include "sdk/base/fs.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"

#define TOOL "suites/probe"
#define TOOL_MAX ((size_t) 16 << 20)
#define ARGUMENTS_MAX 8

extern char **environ;

/* Built beside this program, or installed; below another root, too. */
char *
suite_program_path (struct suite_context *suite, const char *program)
{
  BERTH_AUTO_FREE char *folder = berth_path_parent (suite->self);
  const char *name = berth_path_last (program);
  char *paths[] = { berth_string_format ("%s/%s", folder, program), berth_string_format (CONFORM_PROGRAMS "/%s", name),
                    berth_string_format ("%s/../libexec/berth/conform/%s", folder, name) };
  char *found = NULL;

  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    if (found == NULL && paths[i] != NULL && access (paths[i], X_OK) == 0)
      found = paths[i];
    else
      free (paths[i]);
  SUITE_REQUIRE (suite, found != NULL, "no program %s beside %s", program, suite->self);
  return found;
}

void
suite_program_install (struct suite_box *box, const char *program_name, const char *at)
{
  BERTH_AUTO_FREE char *path = suite_program_path (box->suite, program_name);
  BERTH_AUTO_BUFFER struct berth_buffer program = { 0 };
  struct berth_change how = suite_change (BERTH_CHANGE_MODE);
  uint32_t code;

  how.mode = 0755;
  SUITE_REQUIRE (box->suite, berth_fs_read (AT_FDCWD, path, &program, TOOL_MAX) == 0, "cannot read %s", path);
  code = suite_write (box, at, program.data, program.size, &how);
  SUITE_REQUIRE (box->suite, code == 0, "cannot put %s inside: %s", program_name,
                 box->error.message);
}

void
suite_tool_install (struct suite_box *box)
{
  suite_program_install (box, TOOL, SUITE_TOOL);
}

char *
suite_program_outside (struct suite_context *suite, const char *program, const char *const *arguments)
{
  BERTH_AUTO_FREE char *path = suite_program_path (suite, program);
  struct berth_buffer output = { 0 };
  const char *argv[ARGUMENTS_MAX + 2] = { path };
  posix_spawn_file_actions_t actions;
  int ends[2];
  pid_t pid;

  for (size_t i = 0; arguments[i] != NULL && i < ARGUMENTS_MAX; i++)
    argv[i + 1] = arguments[i];
  SUITE_REQUIRE (suite, pipe2 (ends, O_CLOEXEC) == 0, "no pipe");
  posix_spawn_file_actions_init (&actions);
  posix_spawn_file_actions_adddup2 (&actions, ends[1], STDOUT_FILENO);
  SUITE_REQUIRE (suite, posix_spawn (&pid, path, &actions, NULL, (char *const *) argv, environ) == 0, "cannot start %s", path);
  posix_spawn_file_actions_destroy (&actions);
  close (ends[1]);
  berth_fd_read_all (ends[0], &output, TOOL_MAX);
  close (ends[0]);
  waitpid (pid, NULL, 0);
  return berth_buffer_steal (&output);
}

char *
suite_tool_outside (struct suite_context *suite, const char *const *arguments)
{
  return suite_program_outside (suite, TOOL, arguments);
}

void
suite_tool_result (const char *lines, const char *name, char *result, size_t size)
{
  size_t length = strlen (name);

  result[0] = '\0';
  for (const char *line = lines; line != NULL && *line != '\0'; line = strchr (line, '\n'))
    {
      line += *line == '\n';
      if (strncmp (line, name, length) == 0 && line[length] == ' ')
        snprintf (result, size, "%.*s", (int) strcspn (line + length + 1, "\n"), line + length + 1);
    }
}
