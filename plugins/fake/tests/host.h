/* host.h - a host for the tests of one backend: services of its own, and sinks that collect. */
#ifndef BERTH_FAKE_TESTS_HOST_H
#define BERTH_FAKE_TESTS_HOST_H

#include <berth/backend.h>
#include <stdatomic.h>

#include "sdk/base/buffer.h"
#include "sdk/base/tests/runner.h"

struct berth_instance
{
  char directory[64]; /* the state directory */
  const char *settings[16][2];
  int private_calls;
};

struct call
{
  struct berth_call call; /* first: services get it back as this */
  uint32_t code;
  char message[512];
  uint64_t refused;
  atomic_int cancelled;
  int64_t deadline_ms; /* machine's monotonic time; 0: none */
};

/* A backend that is loaded, with one opened instance. */
struct host
{
  struct berth_instance instance;
  const struct berth_backend *backend;
  struct berth_state *state;
  struct call call;
};

/* SETTINGS: pairs that end with NULL; may be NULL. */
void host_begin (struct host *host, const char *const *settings);
void host_end (struct host *host);
/* The same instance again, as another process would open it. */
void host_reopen (struct host *host);
/* An empty call, for the next function. */
struct berth_call *host_call (struct host *host);
void call_begin (struct call *call, struct host *host);
/* Writes a file of the state directory ("faults", "clock"), NULL removes it. */
void host_write (struct host *host, const char *name, const char *text);
/* How many entries a folder of the state directory has. */
int host_entries (struct host *host, const char *folder);

/* A specification with nothing but ids made of NAME. */
struct berth_spec spec_of (const char *name);
struct berth_native native_of (const char *id);

/* What a create told. */
struct made
{
  char id[256];
  char private_data[64];
  unsigned int told;
  unsigned int effective_told;
  struct berth_effective effective;
};
struct berth_create_sink made_sink (struct made *made);
struct berth_effective_sink effective_sink (struct made *made);
/* Creates NAME and connects nothing: the handle is the caller's. */
struct berth_handle *host_create (struct host *host, const char *name);
void host_release (struct host *host, struct berth_handle *handle);
uint32_t host_destroy (struct host *host, const char *id);

/* What a command did. */
struct ran
{
  struct berth_buffer out;
  struct berth_buffer err;
  struct berth_exit exit;
  unsigned int exits;
};
struct berth_run_sink ran_sink (struct ran *ran);
void ran_clear (struct ran *ran);
int host_run (struct host *host, struct berth_handle *handle, struct ran *ran, const char *const *arguments);
int host_shell (struct host *host, struct berth_handle *handle, struct ran *ran, const char *line);

/* Sandboxes that were found, as "id:life " texts. */
struct berth_found_sink found_sink (struct berth_buffer *list);
struct berth_text_sink text_sink (struct berth_buffer *list);
struct berth_read_sink read_sink (struct berth_buffer *content);
struct berth_entry_sink entry_sink (struct berth_buffer *list);

struct bytes
{
  const char *data;
  size_t size;
  size_t at;
};
struct berth_source bytes_source (struct bytes *bytes);
int host_write_file (struct host *host, struct berth_handle *handle, const char *path, const char *text);
int host_read_file (struct host *host, struct berth_handle *handle, const char *path, struct berth_buffer *content);

#define ASSERT_FAILS(code_name, call_expression)                                                  \
  do                                                                                              \
    {                                                                                             \
      CU_ASSERT_EQUAL (call_expression, -1);                                                      \
      CU_ASSERT_EQUAL (host.call.code, BERTH_E_##code_name);                                      \
      if (host.call.code != BERTH_E_##code_name)                                                  \
        printf ("  got %u: %s\n", host.call.code, host.call.message);                             \
    }                                                                                             \
  while (0)
#define ASSERT_OK(call_expression)                                                                \
  do                                                                                              \
    {                                                                                             \
      int result_ = (call_expression);                                                            \
      CU_ASSERT_EQUAL (result_, 0);                                                               \
      if (result_ != 0)                                                                           \
        printf ("  failed with %u: %s\n", host.call.code, host.call.message);                     \
    }                                                                                             \
  while (0)

#endif
