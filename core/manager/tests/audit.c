/* Records of operations: that there is one of each, whole, without secrets, and what happens when it
 * cannot be written. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "core/manager/tests/place.h"
#include "sdk/base/fs.h"
#include "sdk/base/json.h"
#include "sdk/base/string.h"

#define SECRET_VALUE "hunter2-hunter2"
#define SECRET_BASE64 "aHVudGVyMi1odW50ZXIy"
#define ARGUMENTS_TOLD "\"argv\":[\"echo\",\"(secret)\",\"a(secret)b\",\"x=(secret)\"]"

/* ---- looking ---- */

struct seen
{
  char operations[1024]; /* each with a blank after it */
  char last[2048];
  int count;
};

static int
note (void *context, const struct berth_event *event)
{
  struct seen *seen = context;
  BERTH_AUTO_JSON struct berth_json *record = berth_json_parse (event->json, strlen (event->json), 1 << 20, NULL);

  CU_ASSERT_PTR_NOT_NULL (record);
  strncat (seen->operations, event->operation, sizeof seen->operations - strlen (seen->operations) - 1);
  strncat (seen->operations, " ", sizeof seen->operations - strlen (seen->operations) - 1);
  snprintf (seen->last, sizeof seen->last, "%s", event->json);
  seen->count++;
  return 0;
}

static struct seen
look (const struct place *place)
{
  struct seen seen = { .count = 0 };

  CU_ASSERT_EQUAL (berth_event_list (place->host, NULL, note, &seen, NULL), 0);
  return seen;
}

/* Fails, and is recorded. */
static void
make_record (const struct place *place)
{
  CU_ASSERT_EQUAL (berth_environment_remove (place->host, "none", NULL), -1);
}

/* ---- what is in them ---- */

static void
test_operations (void)
{
  PLACE place;
  struct place_text nothing = { "", 0 };
  struct berth_sandbox *sandbox = NULL;

  place_make (&place, "fake");
  place_open (&place);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, NULL, &sandbox, NULL), 0);
  CU_ASSERT_EQUAL (place_run (sandbox, "exit 3", NULL), 3);
  struct seen seen = look (&place);
  CU_ASSERT_PTR_NOT_NULL (strstr (seen.last, "\"argv\":[\"/bin/sh\",\"-c\",\"exit 3\"]"));
  CU_ASSERT_PTR_NOT_NULL (strstr (seen.last, "\"status\":3"));
  CU_ASSERT_PTR_NOT_NULL (strstr (seen.last, "\"backend\":\"fake\""));
  CU_ASSERT_PTR_NOT_NULL (strstr (seen.last, "\"tier\":\"container\""));
  CU_ASSERT_PTR_NOT_NULL (strstr (seen.last, "\"owner\":\"me\""));
  CU_ASSERT_EQUAL (berth_file_write (sandbox, "a", NULL, 0, place_give, &nothing, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_pause (sandbox, NULL, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_resume (sandbox, NULL, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_renew (sandbox, 60 * 1000, NULL, NULL), 0);
  CU_ASSERT_EQUAL (berth_file_remove (sandbox, "nothing", NULL, NULL), -1);
  seen = look (&place);
  CU_ASSERT_PTR_NOT_NULL (strstr (seen.last, "\"error\":\"PATH_NOT_FOUND\""));
  CU_ASSERT_EQUAL (berth_sandbox_destroy (sandbox, NULL, NULL), 0);
  berth_sandbox_close (sandbox);
  seen = look (&place);
  CU_ASSERT_STRING_EQUAL (seen.operations, "create exec file.write pause resume renew file.remove destroy ");
  CU_ASSERT_PTR_NOT_NULL (strstr (seen.last, "\"outcome\":\"confirmed\""));
}

static void
test_network (void)
{
  const struct berth_policy allow = { .struct_size = sizeof allow, .default_action = BERTH_ALLOW };
  PLACE place;
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;

  place_make (&place, "fake");
  place_open (&place);
  options.network = &allow;
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, &options, &sandbox, NULL), 0);
  CU_ASSERT_PTR_NOT_NULL (strstr (look (&place).last, "\"network\":\"allow\""));
}

/* As it is, in base64, and where the call that brings it fails. */
static void
test_secrets (void)
{
  const struct berth_pair secret = { "TOKEN", SECRET_VALUE, BERTH_PAIR_SECRET, 0 };
  const char *const arguments[] = { "echo", SECRET_VALUE, ("a" SECRET_VALUE "b"), ("x=" SECRET_BASE64) };
  PLACE place;
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  struct berth_exec_options options = BERTH_EXEC_OPTIONS_INIT;
  struct berth_exec_result result;

  place_make (&place, "fake");
  place_open (&place);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, NULL, &sandbox, NULL), 0);
  options.arguments = arguments;
  options.argument_count = 4;
  options.environment = &secret;
  options.environment_count = 1;
  options.workdir = "/nowhere/\n/" SECRET_VALUE;
  CU_ASSERT_NOT_EQUAL (berth_sandbox_run (sandbox, &options, &result, NULL), 0);
  options.workdir = NULL;
  CU_ASSERT_EQUAL (berth_sandbox_run (sandbox, &options, &result, NULL), 0);
  berth_exec_result_clear (&result);
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/audit.jsonl", place.state);
  CU_ASSERT_EQUAL_FATAL (berth_fs_read (AT_FDCWD, path, &text, 1 << 20), 0);
  const char *first = strstr (berth_buffer_string (&text), ARGUMENTS_TOLD);
  CU_ASSERT_PTR_NOT_NULL_FATAL (first);
  CU_ASSERT_PTR_NOT_NULL (strstr (first + 1, ARGUMENTS_TOLD));
  CU_ASSERT_PTR_NULL (strstr (berth_buffer_string (&text), SECRET_VALUE));
  CU_ASSERT_PTR_NULL (strstr (berth_buffer_string (&text), SECRET_BASE64));
}

/* Each record that is seen makes the next one, three times. */
struct following
{
  const struct place *place;
  int count;
};

static int
make_next (void *context, const struct berth_event *event)
{
  struct following *following = context;

  (void) event;
  make_record (following->place);
  return ++following->count == 3;
}

static void
test_follow (void)
{
  PLACE place;
  struct following following = { .place = &place };
  struct berth_event_options options = BERTH_EVENT_OPTIONS_INIT;
  struct berth_error error = { 0 };

  place_make (&place, "fake");
  place_open (&place);
  make_record (&place);
  options.follow = 1;
  CU_ASSERT_EQUAL (berth_event_list (place.host, &options, make_next, &following, NULL), 0);
  CU_ASSERT_EQUAL (following.count, 3);
  CU_ASSERT_EQUAL_FATAL (berth_cancel_new (&options.cancel, NULL), 0);
  berth_cancel_trigger (options.cancel);
  options.sandbox = "sb-none";
  CU_ASSERT_EQUAL (berth_event_list (place.host, &options, make_next, &following, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_CANCELLED);
  berth_cancel_free (options.cancel);
}

static void
test_filters (void)
{
  PLACE place;
  struct berth_event_options options = BERTH_EVENT_OPTIONS_INIT;
  struct berth_sandbox *sandbox = NULL;
  struct seen seen = { .count = 0 };

  place_make (&place, "fake");
  place_open (&place);
  make_record (&place);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, NULL, &sandbox, NULL), 0);
  options.sandbox = berth_sandbox_id (sandbox);
  CU_ASSERT_EQUAL (berth_event_list (place.host, &options, note, &seen, NULL), 0);
  CU_ASSERT_STRING_EQUAL (seen.operations, "create ");
  options.sandbox = NULL;
  options.since_wall_ms = INT64_MAX;
  seen = (struct seen) { .count = 0 };
  CU_ASSERT_EQUAL (berth_event_list (place.host, &options, note, &seen, NULL), 0);
  CU_ASSERT_EQUAL (seen.count, 0);
  options.since_wall_ms = 0;
  struct berth_host *other = place_host (&place, "you", NULL);
  CU_ASSERT_EQUAL (berth_event_list (other, &options, note, &seen, NULL), 0);
  CU_ASSERT_EQUAL (seen.count, 0);
  options.all_owners = 1;
  CU_ASSERT_EQUAL (berth_event_list (other, &options, note, &seen, NULL), 0);
  CU_ASSERT_EQUAL (seen.count, 2);
  berth_host_close (other);
  berth_sandbox_cleanup (&sandbox);
}

/* ---- writing ---- */

#define WRITERS 4
#define RECORDS 100

static void
write_many (const struct place *place, int number)
{
  struct berth_host *host = place_own_host (place);

  (void) number;
  for (int i = 0; i < RECORDS; i++)
    (void) berth_environment_remove (host, "none", NULL);
  berth_host_close (host);
}

/* Who finds the file moved up already moves nothing: each but the last is as large as was said. */
static void
check_sizes (const struct place *place)
{
  struct stat status;
  int number = 1;

  for (;; number++)
    {
      BERTH_AUTO_FREE char *path = berth_string_format ("%s/audit.jsonl.%d", place->state, number);
      if (stat (path, &status) != 0)
        break;
      CU_ASSERT_TRUE (status.st_size >= 4096);
    }
  CU_ASSERT_TRUE (number > 2);
}

static void
test_many (void)
{
  PLACE place;
  pid_t writers[WRITERS];

  place_make (&place, "fake");
  place.config = "[audit]\nsize = 4K\nkeep = 1000\n";
  place_open (&place);
  for (int i = 0; i < WRITERS; i++)
    writers[i] = berth_test_start (write_many, &place, i);
  for (int i = 0; i < WRITERS; i++)
    CU_ASSERT_EQUAL (berth_test_end (writers[i]), 0);
  CU_ASSERT_EQUAL (look (&place).count, WRITERS * RECORDS);
  check_sizes (&place);
}

static bool
is_there (const struct place *place, const char *name)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/%s", place->state, name);
  struct stat status;

  return stat (path, &status) == 0 && status.st_size < 4096 + 1024;
}

static void
test_rotation (void)
{
  PLACE place;

  place_make (&place, "fake");
  place.config = "[audit]\nsize = 4K\nkeep = 2\n";
  place_open (&place);
  for (int i = 0; i < 100; i++)
    make_record (&place);
  CU_ASSERT_TRUE (is_there (&place, "audit.jsonl.1"));
  CU_ASSERT_TRUE (is_there (&place, "audit.jsonl.2"));
  CU_ASSERT_FALSE (is_there (&place, "audit.jsonl.3"));
  CU_ASSERT_TRUE (look (&place).count < 100);
}

static void
test_cut (void)
{
  PLACE place;

  place_make (&place, "fake");
  place_write (&place, "state/audit.jsonl", "{\"time\":\"2026-");
  place_open (&place);
  make_record (&place);
  make_record (&place);
  CU_ASSERT_EQUAL (look (&place).count, 2);
}

/* Where nothing can be written: as with a full disk. */
static void
test_unwritable (void)
{
  PLACE place;
  struct berth_sandbox *sandbox = NULL, *refused = NULL;
  struct berth_error error = { 0 };

  place_make (&place, "fake");
  place_write (&place, "state/audit.jsonl/in-the-way", "");
  place_open (&place);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, NULL, &sandbox, NULL), 0);
  CU_ASSERT_EQUAL (place_run (sandbox, "exit 0", NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_destroy (sandbox, NULL, NULL), 0);
  berth_sandbox_close (sandbox);
  place.config = "[audit]\nrequired = yes\n";
  place_reopen (&place);
  CU_ASSERT_EQUAL (berth_sandbox_create (place.host, NULL, &refused, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_CONFIGURATION, "create: it cannot be recorded"));
  CU_ASSERT_EQUAL (place_records (&place), 0);
  CU_ASSERT_EQUAL (place_sightings (&place), 0);
}

static void
test_required (void)
{
  PLACE place;

  place_make (&place, "fake");
  place.config = "[audit]\nrequired = yes\n";
  place_open (&place);
  make_record (&place);
  CU_ASSERT_EQUAL (look (&place).count, 2);
  CU_ASSERT_PTR_NOT_NULL (strstr (look (&place).last, "\"phase\":\"end\""));
}

static void
test_journal (void)
{
  PLACE place;
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  char datagram[4096];
  struct berth_error error = { 0 };

  place_make (&place, "fake");
  snprintf (address.sun_path, sizeof address.sun_path, "%s/journal", place.directory);
  BERTH_AUTO_FREE char *config = berth_string_format ("[audit]\nto = journald\nsocket = %s\n", address.sun_path);
  BERTH_AUTO_FD int fd = socket (AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  CU_ASSERT_EQUAL_FATAL (bind (fd, (struct sockaddr *) &address, sizeof address), 0);
  place.config = config;
  place_open (&place);
  make_record (&place);
  ssize_t size = recv (fd, datagram, sizeof datagram - 1, MSG_DONTWAIT);
  CU_ASSERT_TRUE_FATAL (size > 0);
  datagram[size] = '\0';
  CU_ASSERT_PTR_NOT_NULL (strstr (datagram, "SYSLOG_IDENTIFIER=berth\nMESSAGE={\"time\":"));
  CU_ASSERT_EQUAL (berth_event_list (place.host, NULL, note, NULL, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_CONFIGURATION, "in the journal"));
}

static void
test_settings (void)
{
  static const char *const wrong[][2] = {
    { "[audit]\nto = paper\n", "want file, journald or off" },
    { "[audit]\nrequired = maybe\n", "want yes or no" },
    { "[audit]\nsize = 0\n", "want a size" },
    { "[audit]\nkeep = 0\n", "want a number of files" },
    { "[audit]\nto = off\nrequired = yes\n", "where nothing is recorded" },
    { "[audit]\nsice = 4K\n", "size" },
  };

  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    {
      PLACE place;
      struct berth_error error = { 0 };
      place_make (&place, "fake");
      place.config = wrong[i][0];
      CU_ASSERT_PTR_NULL (place_host (&place, "me", &error));
      CU_ASSERT_TRUE (error_is (&error, BERTH_E_CONFIGURATION, wrong[i][1]));
    }
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "each operation is recorded with how it ended", test_operations },
    { "N02 a network that is allowed is recorded", test_network },
    { "I04 no record tells a secret in any spelling", test_secrets },
    { "events are followed as they come", test_follow },
    { "events of one sandbox, one owner, or since a time", test_filters },
    { "many processes write whole records", test_many },
    { "files are rotated by size", test_rotation },
    { "a record that was cut off costs no other", test_cut },
    { "what cannot be recorded fails nothing, unless it is required", test_unwritable },
    { "what is required is recorded before it is done, too", test_required },
    { "records go to the journal", test_journal },
    { "settings that make no sense are refused", test_settings },
    { NULL, NULL },
  };

  return berth_test_main ("audit", tests);
}
