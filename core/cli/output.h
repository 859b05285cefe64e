/* output.h - JSON on standard output, and values that several commands print. */
#ifndef BERTH_CLI_OUTPUT_H
#define BERTH_CLI_OUTPUT_H

#include "core/cli/cli.h"
#include "core/cli/text.h"
#include "sdk/base/json.h"

/* Prints a document and a line end.  0, or the exit status. */
int cli_print_json (const struct cli *cli, const struct berth_json *document);

/* What a command lists: a table, or an array with --json.  With --quiet the command itself prints a word for
 * each instead of a row. */
struct cli_list
{
  const struct cli *cli;
  struct berth_json *array; /* NULL without --json */
  struct cli_table table;
};
#define CLI_AUTO_LIST BERTH_CLEANUP (cli_list_free)
void cli_list_begin (struct cli_list *list, const struct cli *cli, const char *const *titles, size_t columns);
/* COLOUR as of cli_table_print, used where there are colours.  0, or the exit status. */
int cli_list_print (struct cli_list *list, const char *(*colour) (size_t column, const char *text));
void cli_list_free (struct cli_list *list);

/* All that is known of a sandbox; see berth(1). */
struct berth_json *cli_json_sandbox (const struct berth_sandbox_info *info);

/* An end: {"at", "remaining_ms"}, "never", or null when it is not known. */
struct berth_json *cli_json_expiry (const struct berth_expiry *expiry);

/* A list of {"name", "value"}, with "secret" too where that is FLAGGED. */
struct berth_json *cli_json_pairs (const struct berth_pair *pairs, uint64_t count, bool flagged);

/* `rm` of several of a KIND ("snapshot"), the words after the first.  The exit status. */
int cli_remove_all (struct cli *cli, const char *kind,
                    int (*remove) (struct berth_host *host, const char *name, struct berth_error *error));

/* Asks for it and prints it.  0, or the exit status. */
int cli_print_sandbox (const struct cli *cli, struct berth_sandbox *sandbox);

/* The names of the bits of MASK: capabilities, limits, protections. */
struct berth_json *cli_json_capabilities (uint64_t mask);
struct berth_json *cli_json_enforced (uint64_t mask);

/* Protections, from 0 on; NULL past the end. */
const char *cli_posture_name (unsigned int index);

/* The default of a network: "deny" and the like; NULL when it is not known. */
const char *cli_network_name (uint32_t action);
/* "keep" and the like, NULL for 0; and back, 0 for NULL. */
const char *cli_idle_name (uint32_t action);
uint32_t cli_idle_action (const char *name);
const char *cli_outcome_name (uint32_t outcome);

/* The limits of a sandbox, from 0 on: what is in force and in which unit. */
enum cli_unit
{
  CLI_UNIT_BYTES,
  CLI_UNIT_THOUSANDTHS,
  CLI_UNIT_COUNT
};
struct cli_limit
{
  const char *name; /* for people */
  const char *key;  /* in JSON */
  uint64_t bit;     /* BERTH_SPEC_* */
  uint64_t value;
  enum cli_unit unit;
};
/* 1, or 0 past the end. */
int cli_limit_at (const struct berth_sandbox_info *info, unsigned int index, struct cli_limit *limit);

/* The terminal's colour for a state or verdict, or NULL. */
const char *cli_colour (const char *word);

#endif
