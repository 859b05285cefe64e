/* builtins.c - the commands that the fake shell knows without a script. */
#include "plugins/fake/shell.h"
#include "plugins/fake/tree.h"
#include "sdk/base/fd.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"

#define FILE_MAX ((size_t) 8 << 20)
#define SEQ_MAX 1000000

/* --- files ------------------------------------------------------------------------------------------------- */

char *
fake_shell_path (const struct fake_shell *shell, const char *path)
{
  return *path == '/' ? strdup (path) : berth_path_join (shell->workdir, path);
}

/* Failures to find something are the command's, not the call's. */
static int
say_failure (struct fake_shell *shell, const char *command, const char *path)
{
  shell->call->services->forgive (shell->call);
  shell->status = 1;
  return fake_shell_print (shell, BERTH_STDERR, "%s: %s: no such file, no space, or not a file for that\n", command, path);
}

int
fake_shell_read (struct fake_shell *shell, const char *path, struct berth_buffer *content)
{
  FAKE_AUTO_NODE struct fake_node node = FAKE_NODE_INIT;
  BERTH_AUTO_FREE char *absolute = fake_shell_path (shell, path);
  BERTH_AUTO_FD int fd = -1;

  if (absolute == NULL || fake_node_get (shell->call, shell->box, absolute, FAKE_FIND_FOLLOW, NULL, &node) < 0
      || node.attributes.kind != BERTH_KIND_FILE)
    return -1;
  fd = fake_node_open (shell->call, &node);
  return fd < 0 ? -1 : berth_fd_read_all (fd, content, FILE_MAX);
}

int
fake_shell_write (struct fake_shell *shell, const char *path, const struct berth_buffer *content, int append)
{
  FAKE_AUTO_NODE struct fake_node node = FAKE_NODE_INIT;
  BERTH_AUTO_FREE char *absolute = fake_shell_path (shell, path);
  BERTH_AUTO_BUFFER struct berth_buffer whole = { 0 };
  struct fake_attributes attributes = { BERTH_KIND_FILE, 0644, shell->uid, shell->uid, 0, 0 };
  BERTH_AUTO_FD int fd = -1;
  char incoming[64];

  attributes.modified_s = fake_now_ms (shell->box->state) / 1000;
  if (absolute == NULL || fake_node_find (shell->call, shell->box, absolute, FAKE_FIND_FOLLOW, NULL, &node) < 0
      || (node.exists && node.attributes.kind != BERTH_KIND_FILE)
      || (append && node.exists && fake_shell_read (shell, path, &whole) < 0))
    return say_failure (shell, "sh", path);
  fd = fake_incoming_open (shell->call, shell->box, incoming);
  if (fd < 0)
    return -1;
  if (berth_buffer_append (&whole, berth_buffer_string (content), content->size) < 0
      || berth_fd_write_all (fd, whole.data, whole.size) < 0)
    return fake_failed (shell->call, "write a stored file");
  if (fake_node_place (shell->call, shell->box, &node, incoming, fd, &attributes) < 0)
    {
      (void) unlinkat (shell->box->directory, incoming, 0);
      return shell->call->services->failed (shell->call) == BERTH_E_RESOURCE_EXHAUSTED
                 ? say_failure (shell, "sh", path)
                 : -1;
    }
  fake_journal_add (shell->box, node.exists ? BERTH_WATCH_MODIFIED : BERTH_WATCH_CREATED, node.path);
  return 0;
}

static int
do_cat (struct fake_shell *shell, char **arguments, size_t count)
{
  for (size_t i = 1; i < count; i++)
    {
      BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };
      int result;

      if (fake_shell_read (shell, arguments[i], &content) < 0)
        result = say_failure (shell, "cat", arguments[i]);
      else if (shell->capture != NULL)
        result = berth_buffer_append (shell->capture, berth_buffer_string (&content), content.size);
      else
        result = fake_outcome_add (shell->outcome, shell->stdout_stream, berth_buffer_string (&content), content.size,
                                   1);
      if (result < 0)
        return -1;
    }
  return 0;
}

static int
do_touch (struct fake_shell *shell, char **arguments, size_t count)
{
  static const struct berth_buffer nothing = { 0 };

  for (size_t i = 1; i < count; i++)
    if (fake_shell_write (shell, arguments[i], &nothing, 1) < 0)
      return -1;
  return 0;
}

static int
do_rm (struct fake_shell *shell, char **arguments, size_t count)
{
  for (size_t i = 1; i < count; i++)
    {
      FAKE_AUTO_NODE struct fake_node node = FAKE_NODE_INIT;
      BERTH_AUTO_FREE char *path = fake_shell_path (shell, arguments[i]);

      if (*arguments[i] == '-')
        continue;
      if (path == NULL || fake_node_get (shell->call, shell->box, path, 0, NULL, &node) < 0
          || fake_node_remove (shell->call, shell->box, &node, 1) < 0)
        {
          if (say_failure (shell, "rm", arguments[i]) < 0)
            return -1;
          continue;
        }
      fake_journal_add (shell->box, BERTH_WATCH_REMOVED, node.path);
    }
  return 0;
}

static int
print_name (void *context, const char *name)
{
  return fake_shell_print (context, BERTH_STDOUT, "%s\n", name);
}

static int
do_ls (struct fake_shell *shell, char **arguments, size_t count)
{
  const char *what = count > 1 && *arguments[count - 1] != '-' ? arguments[count - 1] : ".";
  BERTH_AUTO_FREE char *path = strcmp (what, ".") == 0 ? strdup (shell->workdir) : fake_shell_path (shell, what);
  FAKE_AUTO_NODE struct fake_node node = FAKE_NODE_INIT;

  if (path == NULL || fake_node_get (shell->call, shell->box, path, FAKE_FIND_FOLLOW, NULL, &node) < 0)
    return say_failure (shell, "ls", what);
  if (node.attributes.kind != BERTH_KIND_DIRECTORY)
    return fake_shell_print (shell, BERTH_STDOUT, "%s\n", what);
  return fake_node_children (shell->call, &node, print_name, shell);
}

static int
bad_argument (struct fake_shell *shell, const char *command)
{
  shell->status = 2;
  return fake_shell_print (shell, BERTH_STDERR, "%s: not an argument that the fake shell knows\n", command);
}

/* --- words ------------------------------------------------------------------------------------------------- */

static int
do_true (struct fake_shell *shell, char **arguments, size_t count)
{
  return 0;
}

static int
do_false (struct fake_shell *shell, char **arguments, size_t count)
{
  shell->status = 1;
  return 0;
}

static int
do_echo (struct fake_shell *shell, char **arguments, size_t count)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  size_t first = count > 1 && strcmp (arguments[1], "-n") == 0 ? 2 : 1;

  for (size_t i = first; i < count; i++)
    berth_buffer_appendf (&text, "%s%s", i > first ? " " : "", arguments[i]);
  return fake_shell_print (shell, BERTH_STDOUT, "%s%s", berth_buffer_string (&text), first == 1 ? "\n" : "");
}

static int
do_pwd (struct fake_shell *shell, char **arguments, size_t count)
{
  return fake_shell_print (shell, BERTH_STDOUT, "%s\n", shell->workdir);
}

static int
do_id (struct fake_shell *shell, char **arguments, size_t count)
{
  const char *name = fake_user_name (shell->uid);

  if (count > 1 && strcmp (arguments[1], "-un") == 0 && name != NULL)
    return fake_shell_print (shell, BERTH_STDOUT, "%s\n", name);
  if (count > 1 && strcmp (arguments[1], "-u") == 0)
    return fake_shell_print (shell, BERTH_STDOUT, "%u\n", shell->uid);
  return fake_shell_print (shell, BERTH_STDOUT, "uid=%u(%s)\n", shell->uid, name != NULL ? name : "?");
}

static int
do_env (struct fake_shell *shell, char **arguments, size_t count)
{
  for (size_t i = 0; i < shell->environment.count; i++)
    {
      const char *pair = shell->environment.list[i];
      size_t size = strcspn (pair, "=");

      if (fake_shell_variable (shell, pair, size) == pair + size + 1
          && fake_shell_print (shell, BERTH_STDOUT, "%s\n", pair) < 0)
        return -1;
    }
  return 0;
}

static int
do_printenv (struct fake_shell *shell, char **arguments, size_t count)
{
  const char *value;

  if (count < 2)
    return do_env (shell, arguments, count);
  value = fake_shell_variable (shell, arguments[1], strlen (arguments[1]));
  shell->status = value == NULL;
  return value == NULL ? 0 : fake_shell_print (shell, BERTH_STDOUT, "%s\n", value);
}

static int
do_hostname (struct fake_shell *shell, char **arguments, size_t count)
{
  return fake_shell_print (shell, BERTH_STDOUT, "fake\n");
}

static int
do_stty (struct fake_shell *shell, char **arguments, size_t count)
{
  const char *rows = fake_shell_variable (shell, "LINES", strlen ("LINES"));
  const char *columns = fake_shell_variable (shell, "COLUMNS", strlen ("COLUMNS"));

  if (rows == NULL || columns == NULL)
    return bad_argument (shell, "stty");
  return fake_shell_print (shell, BERTH_STDOUT, "%s %s\n", rows, columns);
}

/* --- time, amounts and ends ---------------------------------------------------------------------------- */

static int
do_sleep (struct fake_shell *shell, char **arguments, size_t count)
{
  int64_t milliseconds;

  if (count != 2 || berth_string_to_thousandths (arguments[1], 0, INT64_MAX / 4, &milliseconds) < 0)
    return bad_argument (shell, "sleep");
  shell->outcome->delay_ms += milliseconds;
  return 0;
}

static int
do_seq (struct fake_shell *shell, char **arguments, size_t count)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  int64_t last;

  if (count != 2 || berth_string_to_int64 (arguments[1], 0, SEQ_MAX, &last) < 0)
    return bad_argument (shell, "seq");
  for (int64_t i = 1; i <= last; i++)
    berth_buffer_appendf (&text, "%lld\n", (long long) i);
  return fake_shell_print (shell, BERTH_STDOUT, "%s", berth_buffer_string (&text));
}

/* head -c BYTES /dev/zero: much output, that is made while it is delivered. */
static int
do_head (struct fake_shell *shell, char **arguments, size_t count)
{
  static const char zeros[65536];
  uint64_t bytes;

  if (count != 4 || strcmp (arguments[1], "-c") != 0 || strcmp (arguments[3], "/dev/zero") != 0
      || shell->capture != NULL || berth_string_to_size (arguments[2], 0, UINT64_C (1) << 40, &bytes) < 0)
    return bad_argument (shell, "head");
  if (fake_outcome_add (shell->outcome, shell->stdout_stream, zeros, sizeof zeros, bytes / sizeof zeros) < 0
      || fake_outcome_add (shell->outcome, shell->stdout_stream, zeros, bytes % sizeof zeros, 1) < 0)
    return fake_failed (shell->call, "script a command");
  return 0;
}

static int
do_exit (struct fake_shell *shell, char **arguments, size_t count)
{
  int64_t status = shell->status;

  if (count > 1 && berth_string_to_int64 (arguments[1], 0, 255, &status) < 0)
    return bad_argument (shell, "exit");
  shell->status = (int) status;
  shell->done = 1;
  return 0;
}

/* kill -N PID: whichever process it names, it is the shell's own. */
static int
do_kill (struct fake_shell *shell, char **arguments, size_t count)
{
  int64_t number;

  if (count != 3 || *arguments[1] != '-' || berth_string_to_int64 (arguments[1] + 1, 1, 64, &number) < 0)
    return bad_argument (shell, "kill");
  shell->outcome->reason = BERTH_SIGNALLED;
  shell->outcome->signal = (int32_t) number;
  shell->done = 1;
  return 0;
}

/* connect HOST PORT: whether the network policy lets it. */
static int
do_connect (struct fake_shell *shell, char **arguments, size_t count)
{
  int64_t port;

  if (count != 3 || berth_string_to_int64 (arguments[2], 1, 65535, &port) < 0)
    return bad_argument (shell, "connect");
  if (fake_policy_admits (shell->box, arguments[1], (uint32_t) port))
    return fake_shell_print (shell, BERTH_STDOUT, "connected\n");
  shell->status = 1;
  return fake_shell_print (shell, BERTH_STDERR, "connect: %s port %lld is denied\n", arguments[1], (long long) port);
}

static int
do_sh (struct fake_shell *shell, char **arguments, size_t count)
{
  int result;

  if (count < 3 || strcmp (arguments[1], "-c") != 0)
    return count == 1 ? 0 : bad_argument (shell, "sh");
  result = fake_shell_line (shell, arguments[2]);
  if (shell->depth > 0)
    shell->done = shell->outcome->reason != BERTH_EXITED; /* an exit ends the inner shell only */
  return result;
}

int
fake_builtin (struct fake_shell *shell, char **arguments, size_t count)
{
  static const struct
  {
    const char *name;
    int (*run) (struct fake_shell *shell, char **arguments, size_t count);
  } builtins[] = {
    { "true", do_true },   { ":", do_true },           { "false", do_false },     { "echo", do_echo },
    { "cat", do_cat },     { "pwd", do_pwd },          { "id", do_id },           { "env", do_env },
    { "ls", do_ls },       { "printenv", do_printenv }, { "sleep", do_sleep },     { "seq", do_seq },
    { "head", do_head },   { "touch", do_touch },      { "rm", do_rm },           { "exit", do_exit },
    { "kill", do_kill },   { "hostname", do_hostname }, { "connect", do_connect }, { "stty", do_stty },
    { "sh", do_sh },
  };
  const char *name = berth_path_last (arguments[0]);

  shell->status = 0;
  for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
    if (strcmp (builtins[i].name, name) == 0)
      return builtins[i].run (shell, arguments, count) < 0 ? -1 : 1;
  return 0;
}
