#include "conformance/suites/role.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

#include "sdk/base/fd.h"
#include "sdk/base/string.h"

#define OUTPUT_MAX ((size_t) 1 << 20)
#define ARGUMENTS_MAX 24

extern char **environ;

struct suite_child
suite_role_start (struct suite_context *suite, const char *role, const char *const *arguments)
{
  struct suite_child child = { .pid = -1, .output = -1 };
  BERTH_AUTO_FREE char *report = berth_string_format ("%d", STDERR_FILENO + 1);
  const char *argv[ARGUMENTS_MAX] = { suite->self,      "--role",  role, report, suite->plugin, suite->directory,
                                      suite->installation_id, suite->tag, suite->image != NULL ? suite->image : "" };
  posix_spawn_file_actions_t actions;
  size_t count = 9;
  int ends[2];

  SUITE_REQUIRE (suite, report != NULL && pipe2 (ends, O_CLOEXEC) == 0, "no pipe");
  while (*arguments != NULL && count < ARGUMENTS_MAX - 1)
    argv[count++] = *arguments++;
  posix_spawn_file_actions_init (&actions);
  /* The report first: its number may be the one that the output is given. */
  posix_spawn_file_actions_adddup2 (&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2 (&actions, suite->report, STDERR_FILENO + 1);
  SUITE_CHECK (suite, posix_spawn (&child.pid, suite->self, &actions, NULL, (char *const *) argv, environ) == 0,
               "cannot start %s", suite->self);
  posix_spawn_file_actions_destroy (&actions);
  close (ends[1]);
  child.output = ends[0];
  return child;
}

int
suite_role_finish (struct suite_context *suite, struct suite_child *child, struct berth_buffer *output)
{
  BERTH_AUTO_BUFFER struct berth_buffer unused = { 0 };
  int status = 0;

  SUITE_CHECK (suite, berth_fd_read_all (child->output, output != NULL ? output : &unused, OUTPUT_MAX) == 0,
               "cannot read what the other process printed");
  close (child->output);
  SUITE_REQUIRE (suite, child->pid > 0 && waitpid (child->pid, &status, 0) == child->pid, "no other process");
  return WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status);
}

int
suite_role_run (struct suite_context *suite, const char *role, const char *const *arguments,
                struct berth_buffer *output)
{
  struct suite_child child = suite_role_start (suite, role, arguments);

  return suite_role_finish (suite, &child, output);
}

/* ---- boxes as texts ---- */

char *
suite_box_save (const struct suite_box *box)
{
  struct berth_buffer text = { 0 };

  berth_buffer_appendf (&text, "%s ", box->native_id);
  for (uint32_t i = 0; i < box->private_size; i++)
    berth_buffer_appendf (&text, "%02x", box->private_data[i]);
  return berth_buffer_steal (&text);
}

void
suite_box_take (struct suite_box *box, const char *text)
{
  const char *space = strchr (text, ' ');
  unsigned int byte;

  SUITE_REQUIRE (box->suite, space != NULL && (size_t) (space - text) < sizeof box->native_id,
                 "not a saved sandbox: \"%s\"", text);
  snprintf (box->native_id, sizeof box->native_id, "%.*s", (int) (space - text), text);
  box->made = true;
  box->private_size = 0;
  for (const char *hex = space + 1; sscanf (hex, "%2x", &byte) == 1 && box->private_size < BERTH_PRIVATE_MAX; hex += 2)
    box->private_data[box->private_size++] = (unsigned char) byte;
}

struct suite_box *
suite_box_load (struct suite_context *suite, const char *text)
{
  struct suite_box *box = suite_box_new (suite);

  suite_box_take (box, text);
  box->made = false;
  return box;
}
