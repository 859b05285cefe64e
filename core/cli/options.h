/* options.h - the command line: one table of options, one of commands, one parser.
 *
 * Help texts, completion scripts and the man page are made from the same two tables. */
#ifndef BERTH_CLI_OPTIONS_H
#define BERTH_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <berth/types.h>

#include "sdk/base/cleanup.h"

enum cli_option_id
{
  CLI_HELP,
  CLI_VERSION,
  CLI_JSON,
  CLI_VERBOSE,
  CLI_STATE_DIR,
  CLI_CONFIG,
  CLI_NAME,
  CLI_ENV,
  CLI_ENV_FILE,
  CLI_SECRET,
  CLI_WORKDIR,
  CLI_USER,
  CLI_TIMEOUT,
  CLI_MAX_OUTPUT,
  CLI_MEMORY,
  CLI_CPUS,
  CLI_PIDS,
  CLI_DISK,
  CLI_TMP,
  CLI_SHM,
  CLI_FILE_SIZE,
  CLI_OPEN_FILES,
  CLI_TTL,
  CLI_IDLE,
  CLI_IDLE_ACTION,
  CLI_IDLE_RESUME,
  CLI_LABEL,
  CLI_BACKEND,
  CLI_IMAGE,
  CLI_ISOLATION,
  CLI_LIMITS,
  CLI_NET,
  CLI_NO_ROOT,
  CLI_ALLOW_USER_NAMESPACES,
  CLI_SNAPSHOT,
  CLI_COUNT,
  CLI_REQUEST_ID,
  CLI_QUIET,
  CLI_ALL_OWNERS,
  CLI_NULL,
  CLI_OFFSET,
  CLI_LENGTH,
  CLI_MAX_BYTES,
  CLI_OUTPUT,
  CLI_INPUT,
  CLI_CONTENT,
  CLI_MODE,
  CLI_OWNER,
  CLI_GROUP,
  CLI_NEW,
  CLI_ALL,
  CLI_YES,
  CLI_MATRIX,
  CLI_REBUILD,
  CLI_KILL,
  CLI_ENVIRONMENT,
  CLI_SESSIONS,
  CLI_FOLLOW,
  CLI_SINCE,
  CLI_OPTION_COUNT
};

/* A set of options. */
#define CLI_BIT(id) (UINT64_C (1) << (id))
#define CLI_GLOBAL                                                                                \
  (CLI_BIT (CLI_HELP) | CLI_BIT (CLI_VERSION) | CLI_BIT (CLI_JSON) | CLI_BIT (CLI_VERBOSE) | CLI_BIT (CLI_STATE_DIR) | CLI_BIT (CLI_CONFIG))

enum cli_type
{
  CLI_TYPE_FLAG,
  CLI_TYPE_TEXT,
  CLI_TYPE_CHOICE,
  CLI_TYPE_INTEGER,
  CLI_TYPE_SIZE,        /* bytes */
  CLI_TYPE_DURATION,    /* milliseconds */
  CLI_TYPE_THOUSANDTHS, /* 1.5 is 1500 */
  CLI_TYPE_OCTAL,
  CLI_TYPE_PAIR, /* KEY=VALUE (ls: or KEY), may be repeated */
  CLI_TYPE_VARIABLE, /* KEY=VALUE, or KEY with the value of our own environment; may be repeated */
  CLI_TYPE_SECRET /* NAME, or NAME=SOURCE; may be repeated */
};

struct cli_option
{
  const char *name; /* without the dashes */
  char letter;      /* '\0': none */
  enum cli_type type;
  const char *value;   /* what help calls the value; NULL for flags */
  const char *choices; /* CHOICE: "deny|allow" */
  int64_t least;       /* of numbers */
  int64_t most;
  const char *help; /* half a sentence */
};

extern const struct cli_option cli_options[CLI_OPTION_COUNT];

enum cli_command_id
{
  CLI_COMMAND_RUN,
  CLI_COMMAND_CREATE,
  CLI_COMMAND_LS,
  CLI_COMMAND_INSPECT,
  CLI_COMMAND_EXEC,
  CLI_COMMAND_FILES,
  CLI_COMMAND_READ,
  CLI_COMMAND_WRITE,
  CLI_COMMAND_CP,
  CLI_COMMAND_PAUSE,
  CLI_COMMAND_RESUME,
  CLI_COMMAND_STOP,
  CLI_COMMAND_START,
  CLI_COMMAND_RENEW,
  CLI_COMMAND_SNAPSHOT,
  CLI_COMMAND_SNAPSHOTS,
  CLI_COMMAND_ROLLBACK,
  CLI_COMMAND_FORK,
  CLI_COMMAND_RM,
  CLI_COMMAND_REAP,
  CLI_COMMAND_ENV,
  CLI_COMMAND_EVENTS,
  CLI_COMMAND_BACKENDS,
  CLI_COMMAND_DOCTOR,
  CLI_COMMAND_CONFIG,
  CLI_COMMAND_VERSION,
  CLI_COMMAND_COMPLETION,
  CLI_COMMAND_HELP,
  CLI_COMMAND_COUNT
};

struct cli_command
{
  const char *name;
  const char *words;   /* what follows the options */
  const char *summary; /* half a sentence */
  const char *detail;  /* a paragraph or several */
  size_t least_words;
  size_t most_words;
  /* After this many words the next one begins a command line that is not ours to read;
   * SIZE_MAX: options may stand anywhere. */
  size_t verbatim_after;
  uint64_t options;     /* without the global ones */
  bool runs;            /* exits as the command it runs: own failures are 125, usage too */
  bool names_sandbox;   /* for completion: the first word is one */
};

extern const struct cli_command cli_commands[CLI_COMMAND_COUNT];

/* The command called NAME, or NULL. */
const struct cli_command *cli_command_find (const char *name);

struct cli_value
{
  bool given;
  int64_t number;
  const char *text;
};

struct cli_pairs
{
  struct berth_pair *items; /* the names are ours, the values parts of the line, except those of secrets */
  size_t count;
};

/* One command line, taken apart. */
struct cli_line
{
  const struct cli_command *command; /* NULL while the global options are read */
  struct cli_value values[CLI_OPTION_COUNT];
  struct cli_pairs environment;
  struct cli_pairs labels;
  struct cli_pairs secrets; /* their values are sources, or NULL */
  char *environment_file; /* text that `environment` points into; ours */
  char **words; /* points into argv; NULL-terminated like it when verbatim */
  size_t word_count;
  char problem[512]; /* what is wrong, after a failure */
  char hint[256];
};

#define BERTH_AUTO_LINE BERTH_CLEANUP (cli_line_free)

/* Reads options from ARGV[*at] on.  Before the command: the global ones, up to the first word.
 * After `line->command` is set: everything; the words are moved to the front of what was read
 * and `words` set.  0, or -1 with problem and hint. */
int cli_line_read (struct cli_line *line, int argc, char **argv, int *at);

/* Finds the command in ARGV and reads the whole line.  `command` stays NULL when none was
 * given.  0, or -1 with problem and hint. */
int cli_line_parse (struct cli_line *line, int argc, char **argv);

/* Adds one KEY=VALUE (see the types).  0, or -1 with problem. */
int cli_pairs_add (struct cli_line *line, enum cli_option_id id, const char *text);

/* Takes a pair over with its name.  0, or -1 with errno; the name is then freed. */
int cli_pairs_push (struct cli_pairs *pairs, struct berth_pair *pair);
void cli_pairs_free (struct cli_pairs *pairs);

void cli_line_free (struct cli_line *line);

/* FALLBACK when the option was not given. */
int64_t cli_number (const struct cli_line *line, enum cli_option_id id, int64_t fallback);
const char *cli_text (const struct cli_line *line, enum cli_option_id id);
bool cli_given (const struct cli_line *line, enum cli_option_id id);

#endif
