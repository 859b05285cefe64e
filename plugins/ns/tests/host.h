/* host.h - the built plugin in a host that only records, with directories of its own. */
#ifndef BERTH_PLUGINS_NS_TESTS_HOST_H
#define BERTH_PLUGINS_NS_TESTS_HOST_H

#include <berth/backend.h>
#include <stdbool.h>

#include "sdk/base/buffer.h"
#include "sdk/base/tests/runner.h"

struct host
{
  const struct berth_backend *backend;
  struct berth_state *state;
  char top[64]; /* holds state, run and cache */
  char directory[3][80];
  char agent[512];     /* may be changed to make create fail */
  int64_t uid_base;    /* 0: the default */
  int64_t uid_count;
  const char *uid_map; /* NULL: what BERTH_NS_UID_MAP says */
  int next;
};

/* A call and what was recorded through it; one at a time for each thread. */
struct host_call
{
  struct berth_call call; /* first */
  uint32_t code;
  char message[512];
  char hint[256];
  bool cancelled;
  int64_t cancel_at; /* count of questions after which it is cancelled; 0: never */
  int64_t asked;
};

/* Skips the test and returns false where ns cannot run. */
bool host_start (struct host *host);
/* Destroys what is left and removes the directories; fails the test when something stays. */
void host_stop (struct host *host);
void host_call_start (struct host *host, struct host_call *call);
void host_close (struct host *host);
int host_open (struct host *host, struct host_call *call);

/* Whether sandboxes have more than one account here. */
bool host_has_accounts (void);
/* berth_test_main of tests that nobody but root can run; others skip them. */
int host_main_of_root (const char *suite, const struct berth_test *tests);

struct guest
{
  struct host *host;
  char id[64];
  struct berth_handle *handle;
  struct berth_effective effective;
  int created; /* how often the sink was told */
  int told;
  pid_t pid;   /* of the agent, from its record */
};

/* A specification with the bits that every host sets; more is added by the test. */
struct berth_spec guest_spec (void);
/* 0, or -1 with the reason in CALL. */
int guest_create_in (struct host *host, struct guest *guest, const struct berth_spec *spec, struct host_call *call);
/* The same, and failing fails the test. */
bool guest_create (struct host *host, struct guest *guest, const struct berth_spec *spec);
void guest_release (struct guest *guest);
uint32_t guest_destroy (struct guest *guest);
void guest_end (struct guest *guest);
bool guest_is_present (struct guest *guest);
bool guest_is_running (struct guest *guest);
/* These answer as the backend does, with the reason in CALL. */
int guest_pause (struct guest *guest, struct host_call *call);
int guest_resume (struct guest *guest, struct host_call *call);
int guest_stop (struct guest *guest, struct host_call *call);
/* Takes a new handle too. */
int guest_start (struct guest *guest, struct host_call *call);
/* As describe tells it; 0 when it does not. */
uint32_t guest_life (struct guest *guest);
/* Returns once it is dead. */
void guest_kill_agent (struct guest *guest);

/* A host with one guest; NULL: an ordinary one.  False when the test is over already. */
bool guest_alone (struct host *host, struct guest *guest, const struct berth_spec *spec);
/* The same with one that can be paused, or the test is skipped. */
bool guest_pausable (struct host *host, struct guest *guest);
void guest_alone_end (struct host *host, struct guest *guest);

/* Runs /bin/sh -c SCRIPT as USER (NULL: the default).  The exit code, 128 + signal, or -1; what
 * it wrote in OUT and ERR, each of which may be NULL. */
int guest_run (struct guest *guest, const char *user, const char *script, struct berth_buffer *out,
               struct berth_buffer *err, struct berth_exit *exit);
/* Its standard output without the newline at its end, in memory that the next call reuses. */
const char *guest_output (struct guest *guest, const char *script);
/* Fails the test where that is not WANTED. */
void guest_expect (struct guest *guest, const char *script, const char *wanted);
bool guest_write (struct guest *guest, const char *path, const char *host_file, uint32_t mode);

/* What is on the machine: a line for each mount, and for each cgroup and process of sandboxes whose
 * ids begin with PREFIX. */
void machine_state (const char *prefix, struct berth_buffer *out);
/* How many loop devices have a file of HOST's. */
int machine_loops (const struct host *host);

#endif
