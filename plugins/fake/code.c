/* code.c - the groups `code` and `contexts`: a few statements that look like Python.
 *
 *   NAME = VALUE      VALUE is a number, a 'text', a NAME, or VALUE + VALUE
 *   print(VALUE)
 *   raise NAME('text')
 *   VALUE             what the code displays; of the last line it is the result */
#include <ctype.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "plugins/fake/fake.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

#define LANGUAGE "python"

struct program
{
  struct berth_call *call;
  struct berth_json *variables;
  struct berth_buffer output;
  struct berth_buffer result; /* of the last line; empty: none */
  char error[64];             /* name of what was raised */
  char message[256];
};

static int
raise_error (struct program *program, const char *name, const char *message)
{
  snprintf (program->error, sizeof program->error, "%s", name);
  snprintf (program->message, sizeof program->message, "%s", message);
  return -1;
}

static size_t
name_size (const char *text)
{
  size_t size = 0;

  while (isalnum ((unsigned char) text[size]) || text[size] == '_')
    size++;
  return isdigit ((unsigned char) *text) ? 0 : size;
}

/* One number, text or name; *AT moves behind it. */
static struct berth_json *
read_atom (struct program *program, const char **at)
{
  size_t size = name_size (*at);
  BERTH_AUTO_FREE char *text = NULL;
  const char *begin = *at;
  int64_t number;

  if (size == 0 && (*begin == '\'' || *begin == '"'))
    {
      size = strcspn (begin + 1, *begin == '"' ? "\"\n" : "'\n");
      *at = begin + size + 2;
      text = begin[size + 1] == *begin ? strndup (begin + 1, size) : NULL;
      return text != NULL ? berth_json_new_string (text) : NULL;
    }
  if (size > 0)
    {
      struct berth_json *value;

      text = strndup (begin, size);
      value = text != NULL ? berth_json_get (program->variables, text) : NULL;
      *at += size;
      if (value == NULL)
        raise_error (program, "NameError", text != NULL ? text : "?");
      return value != NULL ? berth_json_share (value) : NULL;
    }
  size = strspn (begin, "-0123456789");
  text = strndup (begin, size);
  *at += size;
  if (text == NULL || berth_string_to_int64 (text, INT64_MIN / 2, INT64_MAX / 2, &number) < 0)
    return NULL;
  return berth_json_new_int64 (number);
}

static struct berth_json *
add_values (struct program *program, const struct berth_json *left, const struct berth_json *right)
{
  const char *texts[] = { berth_json_string (left), berth_json_string (right) };
  BERTH_AUTO_FREE char *joined = NULL;
  int64_t numbers[2];

  if (texts[0] != NULL && texts[1] != NULL)
    {
      joined = berth_string_format ("%s%s", texts[0], texts[1]);
      return joined != NULL ? berth_json_new_string (joined) : NULL;
    }
  if (berth_json_to_int64 (left, &numbers[0]) == 0 && berth_json_to_int64 (right, &numbers[1]) == 0)
    return berth_json_new_int64 (numbers[0] + numbers[1]);
  raise_error (program, "TypeError", "a number and a text do not add up");
  return NULL;
}

/* A whole value, up to END; NULL with an error raised. */
static struct berth_json *
read_value (struct program *program, const char *text, const char *end)
{
  BERTH_AUTO_JSON struct berth_json *sum = NULL;

  for (const char *at = text; ; at++)
    {
      BERTH_AUTO_JSON struct berth_json *atom = NULL;
      struct berth_json *next;

      at += strspn (at, " ");
      atom = read_atom (program, &at);
      if (atom == NULL || at > end)
        break;
      next = sum == NULL ? berth_json_share (atom) : add_values (program, sum, atom);
      berth_json_free (sum);
      sum = next;
      at += strspn (at, " ");
      if (at == end && sum != NULL)
        return BERTH_STEAL_POINTER (sum);
      if (*at != '+' || sum == NULL)
        break;
    }
  if (*program->error == '\0')
    raise_error (program, "SyntaxError", text);
  return NULL;
}

static void
show (const struct berth_json *value, int quoted, struct berth_buffer *text)
{
  const char *string = berth_json_string (value);

  if (string != NULL)
    berth_buffer_appendf (text, quoted ? "'%s'" : "%s", string);
  else
    (void) berth_json_print (value, false, text);
}

static int
run_print (struct program *program, const char *line, const char *end)
{
  BERTH_AUTO_JSON struct berth_json *value = NULL;

  if (end[-1] != ')')
    return raise_error (program, "SyntaxError", line);
  value = read_value (program, line + strlen ("print("), end - 1);
  if (value == NULL)
    return -1;
  show (value, 0, &program->output);
  berth_buffer_append_byte (&program->output, '\n');
  return 0;
}

static int
run_raise (struct program *program, const char *line, const char *end)
{
  const char *name = line + strlen ("raise ");
  size_t size = name_size (name);
  BERTH_AUTO_JSON struct berth_json *value = NULL;
  BERTH_AUTO_FREE char *copy = strndup (name, size);

  if (size == 0 || copy == NULL || name[size] != '(' || end[-1] != ')')
    return raise_error (program, "SyntaxError", line);
  value = read_value (program, name + size + 1, end - 1);
  if (value == NULL)
    return -1;
  return raise_error (program, copy, berth_json_string (value) != NULL ? berth_json_string (value) : "");
}

static int
run_statement (struct program *program, const char *line)
{
  const char *end = line + strlen (line);
  size_t name = name_size (line);
  const char *equals = line + name + strspn (line + name, " ");
  BERTH_AUTO_JSON struct berth_json *value = NULL;
  BERTH_AUTO_FREE char *key = NULL;

  berth_buffer_clear (&program->result);
  if (*line == '\0' || *line == '#')
    return 0;
  if (berth_string_starts_with (line, "print("))
    return run_print (program, line, end);
  if (berth_string_starts_with (line, "raise "))
    return run_raise (program, line, end);
  if (name > 0 && *equals == '=')
    {
      value = read_value (program, equals + 1, end);
      key = strndup (line, name);
      return value == NULL || key == NULL
                 ? -1
                 : berth_json_set (program->variables, key, BERTH_STEAL_POINTER (value));
    }
  value = read_value (program, line, end);
  if (value == NULL)
    return -1;
  show (value, 1, &program->result);
  return 0;
}

static void
run_program (struct program *program, const char *text, size_t size)
{
  BERTH_AUTO_FREE char *copy = strndup (text, size);
  char *rest = copy;
  char *line;

  while (rest != NULL && (line = strsep (&rest, "\n;")) != NULL)
    {
      line += strspn (line, " \t");
      if (run_statement (program, line) < 0)
        {
          if (*program->error == '\0')
            raise_error (program, "MemoryError", "");
          return;
        }
    }
}

/* --- the groups --------------------------------------------------------------------------------------------- */

static int
check_language (struct berth_call *call, const char *language)
{
  if (berth_string_equal (language, LANGUAGE))
    return 0;
  return call->services->fail (call, BERTH_E_CAPABILITY_NOT_SUPPORTED, "no interpreter for `%s` (there is: %s)",
                               language != NULL ? language : "", LANGUAGE);
}

static char *
context_file (const char *id)
{
  return berth_string_format ("contexts/%s.json", id);
}

static struct berth_json *
load_context (struct berth_call *call, struct fake_box *box, const char *id)
{
  BERTH_AUTO_FREE char *path = fake_id_is_valid (id) ? context_file (id) : NULL;
  struct berth_json *variables = path != NULL ? fake_json_load (box->directory, path) : NULL;

  if (variables == NULL)
    call->services->fail (call, BERTH_E_NOT_FOUND, "no context `%s`", id);
  return variables;
}

static int
save_context (struct berth_call *call, struct fake_box *box, const char *id, const struct berth_json *variables)
{
  BERTH_AUTO_FREE char *path = context_file (id);

  if (mkdirat (box->directory, "contexts", 0700) < 0 && errno != EEXIST)
    return fake_failed (call, "make the folder of contexts");
  if (path == NULL || fake_json_save (box->directory, path, variables) < 0)
    return fake_failed (call, "write a context");
  return 0;
}

static int
run_code (struct berth_call *call, struct berth_handle *handle, const struct berth_code *code, struct program *program)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  int stateful = (code->asks & BERTH_CODE_CONTEXT) != 0;

  if (fake_box_for_handle (call, handle, &box) < 0)
    return -1;
  program->variables = stateful ? load_context (call, &box, code->context_id) : berth_json_new_object ();
  if (program->variables == NULL)
    return -1;
  run_program (program, code->text, code->text_size);
  return stateful ? save_context (call, &box, code->context_id, program->variables) : 0;
}

static int
tell_program (const struct program *program, const struct berth_code_sink *sink)
{
  struct berth_exit end = { .struct_size = sizeof end, .reason = BERTH_EXITED, .code = *program->error != '\0' };
  struct berth_rich rich = { .struct_size = sizeof rich,
                             .main = 1,
                             .mime_type = "text/plain",
                             .data = program->result.data,
                             .size = program->result.size };
  char trace[512];

  if (program->output.size > 0
      && sink->output (sink->context, BERTH_STDOUT, program->output.data, program->output.size) < 0)
    return -1;
  if (program->result.size > 0 && sink->rich (sink->context, &rich) < 0)
    return -1;
  snprintf (trace, sizeof trace, "Traceback (most recent call last):\n%s: %s\n", program->error, program->message);
  if (*program->error != '\0' && sink->error (sink->context, program->error, program->message, trace) < 0)
    return -1;
  return sink->exit (sink->context, &end);
}

static int
fake_run (struct berth_call *call, struct berth_handle *handle, const struct berth_code *code,
          const struct berth_code_sink *sink)
{
  struct program program = { .call = call };
  int result;

  if (fake_needs (call, handle->state, BERTH_CAP_RUN_CODE, "RUN_CODE") < 0
      || BERTH_REFUSE_UNKNOWN (call, CODE, code->asks, BERTH_CODE_KNOWN_1_0) < 0
      || ((code->asks & BERTH_CODE_CONTEXT) != 0
          && fake_needs (call, handle->state, BERTH_CAP_STATEFUL_CODE, "STATEFUL_CODE") < 0)
      || check_language (call, code->language) < 0 || fake_point (call, handle->state, "code.run") < 0)
    return -1;
  result = run_code (call, handle, code, &program);
  if (result == 0)
    result = tell_program (&program, sink);
  berth_json_free (program.variables);
  berth_buffer_free (&program.output);
  berth_buffer_free (&program.result);
  return result;
}

static int
enter (struct berth_call *call, struct berth_handle *handle, const char *point, struct fake_box *box)
{
  if (fake_needs (call, handle->state, BERTH_CAP_STATEFUL_CODE, "STATEFUL_CODE") < 0
      || fake_point (call, handle->state, point) < 0)
    return -1;
  return fake_box_for_handle (call, handle, box);
}

static int
fake_create_context (struct berth_call *call, struct berth_handle *handle, const char *language,
                     const struct berth_text_sink *context_id)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  BERTH_AUTO_JSON struct berth_json *variables = berth_json_new_object ();
  char id[32];

  if (enter (call, handle, "contexts.create", &box) < 0 || check_language (call, language) < 0)
    return -1;
  if (berth_id_generate ("context-", 10, id, sizeof id) < 0 || variables == NULL)
    return fake_failed (call, "make a context");
  if (save_context (call, &box, id, variables) < 0)
    return -1;
  fake_box_close (&box);
  return context_id->text (context_id->context, id);
}

static int
fake_list_contexts (struct berth_call *call, struct berth_handle *handle, const struct berth_context_sink *sink)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  BERTH_AUTO_DIR DIR *dir = NULL;
  struct dirent *entry;

  if (enter (call, handle, "contexts.list", &box) < 0)
    return -1;
  dir = fake_directory_open (box.directory, "contexts");
  if (dir == NULL)
    return errno == ENOENT ? 0 : fake_failed (call, "list contexts");
  fake_box_close (&box);
  while ((entry = readdir (dir)) != NULL)
    {
      struct berth_context context = { .struct_size = sizeof context, .language = LANGUAGE };
      char id[FAKE_ID_MAX + 1];

      if (entry->d_name[0] == '.' || !berth_string_ends_with (entry->d_name, ".json"))
        continue;
      snprintf (id, sizeof id, "%.*s", (int) (strlen (entry->d_name) - strlen (".json")), entry->d_name);
      context.context_id = id;
      if (sink->found (sink->context, &context) < 0)
        return -1;
    }
  return 0;
}

static int
fake_remove_context (struct berth_call *call, struct berth_handle *handle, const char *context_id)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  BERTH_AUTO_FREE char *path = fake_id_is_valid (context_id) ? context_file (context_id) : NULL;

  if (enter (call, handle, "contexts.remove", &box) < 0)
    return -1;
  if (path != NULL && unlinkat (box.directory, path, 0) == 0)
    return 0;
  return path == NULL || errno == ENOENT
             ? call->services->fail (call, BERTH_E_NOT_FOUND, "no context `%s`", context_id)
             : fake_failed (call, "remove a context");
}

const struct berth_code_ops fake_code = {
  .struct_size = sizeof fake_code,
  .run = fake_run,
};

const struct berth_contexts_ops fake_contexts = {
  .struct_size = sizeof fake_contexts,
  .create = fake_create_context,
  .list = fake_list_contexts,
  .remove = fake_remove_context,
};
