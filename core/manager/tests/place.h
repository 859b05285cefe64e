/* place.h - a state directory for one test, a host on it, and short ways to use both. */
#ifndef CORE_MANAGER_TESTS_PLACE_H
#define CORE_MANAGER_TESTS_PLACE_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/wait.h>

#include "core/manager/manager.h"
#include "sdk/base/tests/runner.h"

struct place
{
  char directory[64];
  char state[80];
  char runtime[80];
  const char *backend; /* that hosts of this place have as their default */
  const char *config;  /* text of berth.conf; NULL: none */
  struct berth_host *host;
};

/* PLACE place; place_make (&place, "fake"); - all of it is gone at the end of the scope. */
#define PLACE BERTH_CLEANUP (place_leave) struct place

void place_make (struct place *place, const char *backend);
void place_leave (struct place *place);

/* A host as another process would have it; NULL with *ERROR. */
struct berth_host *place_host (const struct place *place, const char *owner, struct berth_error *error);
/* Opens place->host, which must work. */
void place_open (struct place *place);
void place_reopen (struct place *place);

/* What is there belongs to another installation from now on: the host is a new one. */
void place_become_another (struct place *place);

/* For a child process, which uses nothing of its parent's host: ends it when there is none. */
struct berth_host *place_own_host (const struct place *place);
/* What is on record of it, for the caller to clear. */
void place_load (const struct place *place, const struct berth_sandbox *sandbox, struct berth_record *record);
/* How many sandboxes have a mark of their last use. */
size_t place_marks (const struct place *place);
/* Once a host has looked nothing is left: no record, no sandbox.  Leaves no host open. */
void place_sweep (const struct place *place);
void place_check_swept (struct place *place);

/* A file below the directory of the place. */
void place_write (const struct place *place, const char *path, const char *text);
/* What the fake backend does wrong from now on; see plugins/fake/faults.c.  "" for nothing. */
void place_faults (const struct place *place, const char *faults);

/* How many records there are, of all owners. */
size_t place_records (const struct place *place);
/* How many sandboxes the backend holds, whoever they belong to. */
size_t place_sightings (const struct place *place);

/* Runs a shell line; its status as a shell tells it, or -1. */
int place_run (struct berth_sandbox *sandbox, const char *line, struct berth_error *error);

/* A source in memory: berth_file_write (…, place_give, &text, …). */
struct place_text
{
  const char *bytes; /* what is left */
  size_t size;
};
int64_t place_give (void *text, void *bytes, size_t size);
/* A sink that appends to a struct berth_buffer. */
int place_take (void *buffer, const void *bytes, size_t size);

#define PLACE_LATER_MS 100
/* Body of a thread: triggers the struct berth_cancel that it is given, so much later. */
void *place_trigger_later (void *cancel);

/* True, or false and the message is printed: for CU_ASSERT_TRUE. */
bool error_is (const struct berth_error *error, uint32_t code, const char *part);

/* WORK in a child process: its wait status. */
int place_child (void (*work) (const struct place *place, int number), const struct place *place, int number);

#endif
