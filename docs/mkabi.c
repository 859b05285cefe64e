/* mkabi man POD HEADERS: prints the source of berth-backend(3) with what is made of the headers in
 * the folder HEADERS, of the capability table and of the error codes in its places.
 * mkabi functions: prints every function of the ABI as GROUP.FUNCTION. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "core/registry/table.h"
#include "sdk/base/fs.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"

#define FILE_MOST ((size_t) 1 << 20)
#define GROUPS_MARK "/* ---- the groups ---- */\n"
#define GROUPS_END "/* ---- the backend ---- */\n"

/* --- texts ------------------------------------------------------------------------------------------------------- */

/* Prose of a comment as POD: `word` becomes code, angle brackets stay what they are. */
static void
add_prose (struct berth_buffer *out, const char *text, size_t size)
{
  int code = 0;

  for (size_t i = 0; i < size; i++)
    if (text[i] == '`')
      {
        berth_buffer_append_string (out, code ? " >>" : "C<< ");
        code = !code;
      }
    else if (text[i] == '<' || text[i] == '>')
      berth_buffer_append_string (out, text[i] == '<' ? "E<lt>" : "E<gt>");
    else
      berth_buffer_append_byte (out, (unsigned char) text[i]);
  berth_buffer_append_string (out, "\n\n");
}

/* The text of a comment, from behind its opening mark to before its closing one, without the
 * stars that begin its lines. */
static void
add_comment (struct berth_buffer *out, const char *begin, const char *end)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

  for (const char *at = begin; at < end; at++)
    {
      berth_buffer_append_byte (&text, (unsigned char) *at);
      if (*at != '\n')
        continue;
      at += strspn (at + 1, " ");
      if (at + 1 < end && at[1] == '*')
        at += at[2] == ' ' ? 2 : 1;
    }
  while (text.size > 0 && isspace ((unsigned char) text.data[text.size - 1]))
    text.size--;
  add_prose (out, berth_buffer_string (&text), text.size);
}

/* Code as it stands, a column to the right of the margin. */
static void
add_verbatim (struct berth_buffer *out, const char *begin, const char *end)
{
  while (begin < end)
    {
      const char *line = memchr (begin, '\n', (size_t) (end - begin));
      size_t size = (size_t) ((line != NULL ? line : end) - begin);

      if (size > 0)
        {
          berth_buffer_append_byte (out, ' ');
          berth_buffer_append (out, begin, size);
        }
      berth_buffer_append_byte (out, '\n');
      begin += size + 1;
    }
  berth_buffer_append_byte (out, '\n');
}

/* --- the groups --------------------------------------------------------------------------------------------------- */

/* One member of a group: its comment, then its declaration.  Returns what follows it, or NULL when
 * the group has no more. */
static const char *
add_function (struct berth_buffer *out, const char *at)
{
  const char *comment = strstr (at, "/*");
  const char *comment_end = comment != NULL ? strstr (comment, "*/") : NULL;
  const char *end = strstr (at, "};");
  const char *declaration;
  const char *name;

  if (comment_end == NULL || end == NULL || comment > end)
    return NULL;
  declaration = comment_end + 2 + strspn (comment_end + 2, " \n");
  name = strstr (declaration, "(*");
  end = strchr (declaration, ';');
  if (name == NULL || end == NULL || name > end)
    return NULL;
  berth_buffer_appendf (out, "=item B<%.*s>\n\n", (int) strcspn (name + 2, ")"), name + 2);
  add_verbatim (out, declaration, end + 1);
  add_comment (out, comment + 3, comment_end);
  return end + 1;
}

/* The capabilities that a group belongs to. */
static void
add_owners (struct berth_buffer *out, const char *group)
{
  const char *separator = "";

  for (uint32_t i = 0; i < berth_rule_count; i++)
    if (berth_string_equal (berth_rules[i].group, group))
      {
        berth_buffer_appendf (out, "%s%s", separator, berth_rules[i].bit != 0 ? berth_rules[i].name : "required");
        separator = ", ";
      }
}

/* Every `struct berth_NAME_ops` between the two marks of backend.h. */
static int
add_groups (struct berth_buffer *out, const char *header)
{
  const char *at = strstr (header, GROUPS_MARK);
  const char *end = at != NULL ? strstr (at, GROUPS_END) : NULL;

  if (end == NULL)
    return -1;
  for (at += strlen (GROUPS_MARK); (at = strstr (at, "/*")) != NULL && at < end;)
    {
      const char *comment_end = strstr (at, "*/");
      const char *group = comment_end != NULL ? strstr (comment_end, "struct berth_") : NULL;
      const char *function;
      BERTH_AUTO_FREE char *name = NULL;

      if (group == NULL)
        return -1;
      group += strlen ("struct berth_");
      name = strndup (group, (size_t) (strstr (group, "_ops\n") - group));
      if (name == NULL)
        return -1;
      berth_buffer_appendf (out, "=head2 %s (", name);
      add_owners (out, name);
      berth_buffer_append_string (out, ")\n\n");
      add_comment (out, at + 3, comment_end);
      berth_buffer_append_string (out, "=over 4\n\n");
      for (at = group; (function = add_function (out, at)) != NULL;)
        at = function;
      berth_buffer_append_string (out, "=back\n\n");
      at = strstr (at, "};");
    }
  return 0;
}

/* --- the other headers --------------------------------------------------------------------------------------------- */

/* Where the declarations of a header begin: behind what opens it for C++. */
static const char *
begin_of (const char *header)
{
  const char *at = strstr (header, "extern \"C\" {\n#endif\n");

  return at != NULL ? at + strlen ("extern \"C\" {\n#endif\n") : header;
}

static const char *
end_of (const char *header)
{
  const char *at = strstr (begin_of (header), "#ifdef __cplusplus\n}");

  return at != NULL ? at : header + strlen (header);
}

static void
add_part (struct berth_buffer *out, const char *begin, const char *end)
{
  while (begin < end && isspace ((unsigned char) *begin))
    begin++;
  while (begin < end && isspace ((unsigned char) end[-1]))
    end--;
  add_verbatim (out, begin, end);
}

/* --- tables ---------------------------------------------------------------------------------------------------------- */

static void
add_functions_of (struct berth_buffer *out, const struct berth_rule_row *rule)
{
  for (const struct berth_function_row *row = rule->functions; row != NULL && row->name != NULL; row++)
    berth_buffer_appendf (out, "%s%s%s", row == rule->functions ? "" : ", ", row->name,
                          row->optional ? " (optional)" : "");
}

static int
add_matrix (struct berth_buffer *out)
{
  berth_buffer_append_string (out, "=over 4\n\n");
  for (uint32_t i = 0; i < berth_rule_count; i++)
    {
      const struct berth_rule_row *rule = &berth_rules[i];

      berth_buffer_appendf (out, "=item %s%s%s\n\n", rule->bit != 0 ? "B<" : "the required group B<", rule->name, ">");
      berth_buffer_appendf (out, "%c%s.", toupper ((unsigned char) *rule->help), rule->help + 1);
      if (rule->group != NULL)
        {
          berth_buffer_appendf (out, " Functions of B<%s>: ", rule->group);
          add_functions_of (out, rule);
          berth_buffer_append_byte (out, '.');
        }
      if (rule->needs != 0)
        {
          BERTH_AUTO_BUFFER struct berth_buffer needs = { 0 };

          berth_bits_describe (0, rule->needs, &needs);
          berth_buffer_appendf (out, " Needs %s.", berth_buffer_string (&needs));
        }
      if (rule->parallel_only)
        berth_buffer_append_string (out, " Needs the concurrency BERTH_PARALLEL.");
      if (rule->reserved)
        berth_buffer_append_string (out, " A backend that declares it is refused.");
      berth_buffer_append_string (out, "\n\n");
    }
  return berth_buffer_append_string (out, "=back\n\n");
}

static int
add_errors (struct berth_buffer *out)
{
  berth_buffer_append_string (out, "=over 4\n\n");
#define ITEM(name, code, meaning, hint)                                                                                \
  berth_buffer_append_string (out, "=item B<" #name "> (" #code ")\n\n");                                              \
  add_prose (out, meaning, strlen (meaning));
  BERTH_ERRORS (ITEM)
#undef ITEM
  return berth_buffer_append_string (out, "=back\n\n");
}

/* --- the page ------------------------------------------------------------------------------------------------------ */

struct headers
{
  struct berth_buffer backend;
  struct berth_buffer types;
  struct berth_buffer services;
  struct berth_buffer abi;
};

/* What stands in the place of a mark; -1 for one that is not known. */
static int
add_marked (struct berth_buffer *out, const struct headers *headers, const char *mark, size_t size)
{
  const char *backend = berth_buffer_string (&headers->backend);
  const char *groups = strstr (backend, GROUPS_MARK);
  const char *table = strstr (backend, GROUPS_END);

  if (groups == NULL || table == NULL)
    return -1;
  if (size == 6 && memcmp (mark, "matrix", size) == 0)
    return add_matrix (out);
  if (size == 6 && memcmp (mark, "errors", size) == 0)
    return add_errors (out);
  if (size == 6 && memcmp (mark, "groups", size) == 0)
    return add_groups (out, backend);
  if (size == 5 && memcmp (mark, "sinks", size) == 0)
    add_part (out, begin_of (backend), groups);
  else if (size == 5 && memcmp (mark, "table", size) == 0)
    add_part (out, table + strlen (GROUPS_END), end_of (backend));
  else if (size == 5 && memcmp (mark, "types", size) == 0)
    add_part (out, begin_of (berth_buffer_string (&headers->types)), end_of (berth_buffer_string (&headers->types)));
  else if (size == 8 && memcmp (mark, "services", size) == 0)
    add_part (out, begin_of (berth_buffer_string (&headers->services)),
              end_of (berth_buffer_string (&headers->services)));
  else if (size == 3 && memcmp (mark, "abi", size) == 0)
    add_part (out, begin_of (berth_buffer_string (&headers->abi)), end_of (berth_buffer_string (&headers->abi)));
  else
    return -1;
  return 0;
}

static int
add_page (struct berth_buffer *out, const struct headers *headers, const char *pod)
{
  static const char mark[] = "=for berth ";
  const char *at;

  while ((at = strstr (pod, mark)) != NULL)
    {
      const char *name = at + strlen (mark);
      size_t size = strcspn (name, "\n");

      berth_buffer_append (out, pod, (size_t) (at - pod));
      if (add_marked (out, headers, name, size) < 0)
        {
          fprintf (stderr, "mkabi: nothing to put in place of \"%.*s\"\n", (int) size, name);
          return -1;
        }
      pod = name + size + strspn (name + size, "\n");
    }
  return berth_buffer_append_string (out, pod);
}

static int
read_file (const char *directory, const char *name, struct berth_buffer *text)
{
  BERTH_AUTO_FREE char *path = directory != NULL ? berth_path_join (directory, name) : strdup (name);

  if (path != NULL && berth_fs_read (AT_FDCWD, path, text, FILE_MOST) == 0)
    return 0;
  fprintf (stderr, "mkabi: cannot read %s: %s\n", path != NULL ? path : name, strerror (errno));
  return -1;
}

static int
make_man (struct berth_buffer *out, const char *pod_file, const char *directory)
{
  BERTH_AUTO_BUFFER struct berth_buffer pod = { 0 };
  struct headers headers = { { 0 }, { 0 }, { 0 }, { 0 } };
  int result = -1;

  if (read_file (NULL, pod_file, &pod) == 0 && read_file (directory, "backend.h", &headers.backend) == 0
      && read_file (directory, "types.h", &headers.types) == 0
      && read_file (directory, "services.h", &headers.services) == 0
      && read_file (directory, "abi.h", &headers.abi) == 0)
    result = add_page (out, &headers, berth_buffer_string (&pod));
  berth_buffer_free (&headers.backend);
  berth_buffer_free (&headers.types);
  berth_buffer_free (&headers.services);
  berth_buffer_free (&headers.abi);
  return result;
}

static int
list_functions (struct berth_buffer *out)
{
  for (uint32_t i = 0; i < berth_rule_count; i++)
    for (const struct berth_function_row *row = berth_rules[i].functions; row != NULL && row->name != NULL; row++)
      if (berth_rule_first (i) == i || berth_rules[i].functions != berth_rules[berth_rule_first (i)].functions)
        berth_buffer_appendf (out, "%s.%s\n", berth_rules[i].group, row->name);
  return out->error != 0 ? -1 : 0;
}

int
main (int argc, char **argv)
{
  BERTH_AUTO_BUFFER struct berth_buffer out = { 0 };
  int result = -1;

  if (argc == 4 && strcmp (argv[1], "man") == 0)
    result = make_man (&out, argv[2], argv[3]);
  else if (argc == 2 && strcmp (argv[1], "functions") == 0)
    result = list_functions (&out);
  else
    fprintf (stderr, "usage: mkabi man POD HEADERS | mkabi functions\n");
  return result < 0 || fputs (berth_buffer_string (&out), stdout) < 0 || fflush (stdout) != 0;
}
