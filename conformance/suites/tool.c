#include "conformance/suites/tool.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include "conformance/suites/content.h"
#include "sdk/base/fd.h"
#include "sdk/base/fs.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"

#define TOOL_MAX ((size_t) 16 << 20)
#define ARGUMENTS_MAX 8

extern char **environ;

/* Built beside the suites; a libtool program runs from a folder further down. */
static char *
tool_path (struct suite_context *suite)
{
  BERTH_AUTO_FREE char *folder = berth_path_parent (suite->self);
  char *path = berth_string_format ("%s/suites/probe", folder);

  if (path != NULL && access (path, X_OK) == 0)
    return path;
  free (path);
  path = berth_string_format ("%s/../suites/probe", folder);
  SUITE_REQUIRE (suite, path != NULL && access (path, X_OK) == 0, "no probe program beside %s", suite->self);
  return path;
}

void
suite_tool_install (struct suite_box *box)
{
  BERTH_AUTO_FREE char *path = tool_path (box->suite);
  BERTH_AUTO_BUFFER struct berth_buffer program = { 0 };
  struct berth_change how = suite_change (BERTH_CHANGE_MODE);
  uint32_t code;

  how.mode = 0755;
  SUITE_REQUIRE (box->suite, berth_fs_read (AT_FDCWD, path, &program, TOOL_MAX) == 0, "cannot read %s", path);
  code = suite_write (box, SUITE_TOOL, program.data, program.size, &how);
  SUITE_REQUIRE (box->suite, code == 0, "cannot put the probe inside: %s", box->error.message);
}

char *
suite_tool_outside (struct suite_context *suite, const char *const *arguments)
{
  BERTH_AUTO_FREE char *path = tool_path (suite);
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
