/* conform.h - a run of the contract against one backend.
 *
 * main.c reads the command line, clauses.c chooses, schedule.c runs each clause in processes of
 * its own, perform.c is what the last of them does, verdict.c makes CUnit tests and TAP of what they reported, report.c writes files. */
#ifndef CONFORMANCE_CONFORM_CONFORM_H
#define CONFORMANCE_CONFORM_CONFORM_H

#include "conformance/conform/child.h"
#include "core/registry/table.h"

#define CONFORM_JOBS_MAX 16

enum conform_result
{
  CONFORM_PASSED,
  CONFORM_FAILED,
  CONFORM_SKIPPED,
  CONFORM_NOT_APPLICABLE,
};

/* A clause that was chosen. */
struct conform_item
{
  const char *suite;
  const struct suite_clause *clause;
  uint64_t missing; /* capabilities that are not declared: the refusal is tested instead */
  char *name;       /* of its test */
  char *why_not;    /* why it is not run at all; else NULL */
  bool done;
  enum conform_result result;
  const char *reason;          /* of a skip; a part of `report` or `why_not` */
  struct berth_buffer report;  /* lines as child.h has them, each ends with a NUL */
  int64_t duration_ms;         /* of the slowest of its runs */
};

/* What the backend said of itself, in a child. */
struct conform_backend
{
  bool opens;               /* the host opens an instance of it */
  uint64_t declared;        /* by the plugin */
  uint64_t capabilities;    /* of its sandboxes on this machine */
  uint64_t flags;           /* BERTH_BACKEND_* */
  char text[512];           /* "ns 0.1.0: Linux namespaces" */
  char unreachable[512];    /* why nothing can be made; "" when something can */
};

struct conform_slot
{
  struct conform_item *item; /* NULL: free */
  pid_t pid;
  int output;
  int64_t started_ms;
};

struct conform
{
  struct child_setup setup;
  /* The command line. */
  uint32_t left_out;     /* flags of clauses that run only when named */
  const char **names;    /* suites and clauses; the first `name_count` */
  size_t name_count;
  unsigned int jobs;
  int64_t stress_ms;
  unsigned int seconds; /* what a clause may take; 0: what each says */
  const char *junit_file;
  const char *report_file;

  struct conform_backend backend;
  struct conform_item *items; /* those that run alone last */
  size_t count;
  struct conform_item **order; /* in which they are started: the longest first, those that run alone last */
  size_t next;                 /* in `order`: that has not been started */
  struct conform_slot slots[CONFORM_JOBS_MAX];
  unsigned int running;
  unsigned int results[4]; /* by enum conform_result */
  unsigned int unshown;    /* declared capabilities without a passing clause */
  int64_t duration_ms;
};

/* ---- clauses.c ---- */

extern const struct suite *const conform_suites[]; /* ends with NULL */

void conform_ask_backend (struct conform *run);
/* False when memory is short.  An unknown name is told to standard error, and false. */
bool conform_choose (struct conform *run);
void conform_list (void);
/* ---- perform.c ---- */

/* What a clause's process does with it. */
void conform_perform (struct suite_context *suite, const struct child_job *job);

/* ---- schedule.c ---- */

/* Starts what may run, and returns when ITEM is done. */
void conform_await (struct conform *run, struct conform_item *item);
/* Runs everything that was chosen again and again. */
void conform_stress (struct conform *run);

/* ---- verdict.c ---- */

/* Prints TAP as the clauses end: the exit status. */
int conform_run (struct conform *run);

/* How a declared capability was shown. */
struct conform_shown
{
  struct berth_buffer by; /* clauses, separated by blanks */
  bool passed;
  bool judged; /* none of its clauses was left out */
};
void conform_shown (const struct conform *run, uint64_t bit, struct conform_shown *shown);
const char *conform_result_name (enum conform_result result);

/* ---- report.c ---- */

/* The lines of KIND ('F', 'W') of an item, one after the other: NULL to begin, NULL at the end. */
const char *conform_line (const struct conform_item *item, char kind, const char *after);
/* False with errno when a file cannot be written. */
bool conform_write_junit (const struct conform *run);
bool conform_write_report (const struct conform *run);

#endif
