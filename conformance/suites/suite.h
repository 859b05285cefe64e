/* suite.h - clauses of the backend contract as tests that know nothing but the plugin ABI.
 *
 * Each clause runs in a process of its own, with directories of its own, under a watchdog: a
 * backend that hangs or crashes fails its clause and the run goes on.  The process that
 * counts never loads the backend. */
#ifndef CONFORMANCE_SUITES_SUITE_H
#define CONFORMANCE_SUITES_SUITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <berth/backend.h>

#include "core/registry/registry.h"

struct suite_context;

#define SUITE_PROGRAM 1u     /* runs a program: not applicable where nothing is executed */
#define SUITE_LONG 2u        /* more than ten seconds */
#define SUITE_SLOW 16u       /* more than two seconds */
#define SUITE_ROOT 4u        /* only root can make it */
#define SUITE_NO_INSTANCE 8u /* nothing is loaded before it: `instance` is NULL */
#define SUITE_ALONE 32u      /* measures time, or takes much of the machine: none runs beside it */

/* One clause of contract.md, or one case that belongs to it. */
struct suite_clause
{
  const char *id;    /* "E09", or "D-034" for a case; unique */
  const char *title; /* what holds, in a few words */
  uint64_t needs;    /* BERTH_CAP_*; without them it is not applicable and the refusal is tested */
  uint32_t flags;    /* SUITE_* flags */
  uint32_t seconds;  /* the watchdog; 0: 30 */
  void (*run) (struct suite_context *suite);
  uint64_t shows; /* BERTH_CAP_* that it shows beside `needs`, where they are declared */
};

/* What another process does for a clause.  Its standard output goes back to the clause. */
struct suite_role
{
  const char *name;
  void (*run) (struct suite_context *suite, int count, char **arguments);
};

struct suite
{
  const char *name;
  const struct suite_clause *clauses; /* ends with a NULL id */
  const struct suite_role *roles;     /* ends with a NULL name; may be NULL */
};

extern const struct suite suite_structure;
extern const struct suite suite_lifecycle;
extern const struct suite suite_commands;
extern const struct suite suite_files;
extern const struct suite suite_workspace;
extern const struct suite suite_processes;
extern const struct suite suite_network;
extern const struct suite suite_isolation;
extern const struct suite suite_escape;

/* What a clause is given.  Read only for the clauses. */
struct suite_context
{
  const char *plugin;    /* absolute path of berth-backend-NAME.so */
  const char *directory; /* empty, of this clause alone, removed afterwards; holds the next four */
  const char *state_dir;
  const char *runtime_dir;
  const char *cache_dir;
  const char *config_file; /* berth.conf, with the settings of the command line */
  const char *agent_path;  /* NULL: as configured */
  const char *image;      /* of its sandboxes; NULL: none is asked for */
  const char *account;    /* an account of the image beside root; NULL: none is known */
  const char *self;       /* absolute path of the running program */
  const struct suite_clause *clause;
  struct berth_registry *registry;
  struct berth_instance *instance; /* NULL with SUITE_NO_INSTANCE */
  const struct berth_backend *backend;
  struct berth_state *state;
  const char *installation_id;
  const char *tag;         /* begins every sandbox id of this clause, and nothing else's */
  uint32_t network_action; /* enum berth_action that the backend can give by default */
  struct suite_box *boxes; /* every sandbox of this clause; they are destroyed when it ends */
  int report;              /* where failures go */
  bool failed;
};

/* ---- judging ----
 * SUITE is the context in all of them.  CHECK goes on after a failure, REQUIRE ends the
 * clause; REQUIRE is for the clause's own thread only. */
void suite_fail (struct suite_context *suite, const char *file, int line, const char *format, ...) BERTH_FORMAT (4, 5);
_Noreturn void suite_stop (struct suite_context *suite);
/* This machine cannot show it (not the backend): counted as skipped.  Ends the clause. */
_Noreturn void suite_skip (struct suite_context *suite, const char *format, ...) BERTH_FORMAT (2, 3);
/* The backend does not claim what the clause is about, which only a sandbox shows.  Ends the
 * clause. */
_Noreturn void suite_not_applicable (struct suite_context *suite, const char *format, ...) BERTH_FORMAT (2, 3);
/* A warning of the report: changes no result. */
void suite_warn (struct suite_context *suite, const char *format, ...) BERTH_FORMAT (2, 3);

#define SUITE_CHECK(suite, condition, ...)                                                        \
  ((condition) ? (void) 0 : suite_fail ((suite), __FILE__, __LINE__, __VA_ARGS__))
#define SUITE_REQUIRE(suite, condition, ...)                                                      \
  ((condition) ? (void) 0                                                                         \
               : (suite_fail ((suite), __FILE__, __LINE__, __VA_ARGS__), suite_stop (suite)))

#endif
