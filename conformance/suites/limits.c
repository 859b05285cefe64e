/* L04, L05: limits are in force, shown by exceeding them; each has its control below it. */
#include <stdio.h>

#include "conformance/suites/lifecycle.h"
#include "conformance/suites/tool.h"

#define MIB (UINT64_C (1) << 20)
#define ATTEMPTS 15

struct limit
{
  const char *name;
  uint64_t bit;
  void (*set) (struct berth_spec *spec);
  void (*exceed) (struct suite_context *suite, struct suite_box *box);
};

static void
set_memory (struct berth_spec *spec)
{
  spec->memory_bytes = 96 * MIB;
}

static void
exceed_memory (struct suite_context *suite, struct suite_box *box)
{
  SUITE_AUTO_RAN struct suite_ran below = { 0 };
  SUITE_AUTO_RAN struct suite_ran above = { 0 };

  suite_argv (box, &below, (const char *const[]) { SUITE_TOOL, "memory", "25165824", NULL });
  SUITE_CHECK_EXIT (suite, &below, 0, "24 MiB of 96");
  suite_argv (box, &above, (const char *const[]) { SUITE_TOOL, "memory", "402653184", NULL });
  SUITE_CHECK (suite,
               above.code == 0 && above.exits == 1
                   && (above.exit.reason == BERTH_OUT_OF_MEMORY
                       || (above.exit.reason == BERTH_SIGNALLED && above.exit.signal == 9)),
               "384 MiB of 96: %s", suite_ran_text (&above));
  SUITE_CHECK (suite, above.exit.reason == BERTH_OUT_OF_MEMORY, "memory exhaustion is not reported as such: %s",
               suite_ran_text (&above));
}

static void
set_pids (struct berth_spec *spec)
{
  spec->pids = 40;
}

static void
exceed_pids (struct suite_context *suite, struct suite_box *box)
{
  SUITE_AUTO_RAN struct suite_ran below = { 0 };
  SUITE_AUTO_RAN struct suite_ran above = { 0 };
  long made;

  suite_argv (box, &below, (const char *const[]) { SUITE_TOOL, "forks", "10", NULL });
  SUITE_CHECK_PRINTED (suite, &below, "10 ok\n", "10 children of 40");
  suite_argv (box, &above, (const char *const[]) { SUITE_TOOL, "forks", "200", NULL });
  SUITE_CHECK_EXIT (suite, &above, 0, "200 children of 40");
  made = strtol (berth_buffer_string (&above.out), NULL, 10);
  SUITE_CHECK (suite, made >= 20 && made < 40, "with 40 pids there were %ld children", made);
}

static void
set_tmp (struct berth_spec *spec)
{
  spec->tmp_bytes = 8 * MIB;
}

static void
exceed_space (struct suite_context *suite, struct suite_box *box, const char *below_script, const char *above_script)
{
  SUITE_AUTO_RAN struct suite_ran below = { 0 };
  SUITE_AUTO_RAN struct suite_ran above = { 0 };

  suite_sh (box, &below, 0, below_script);
  SUITE_CHECK_EXIT (suite, &below, 0, below_script);
  suite_sh (box, &above, 0, above_script);
  SUITE_CHECK (suite, above.code == 0 && above.exits == 1 && !suite_ran_exited (&above, 0), "%s: %s", above_script,
               suite_ran_text (&above));
}

static void
exceed_tmp (struct suite_context *suite, struct suite_box *box)
{
  exceed_space (suite, box, "head -c 4194304 /dev/zero > /tmp/a && rm /tmp/a", "head -c 16777216 /dev/zero > /tmp/a");
}

static void
set_shm (struct berth_spec *spec)
{
  spec->shm_bytes = 8 * MIB;
}

static void
exceed_shm (struct suite_context *suite, struct suite_box *box)
{
  exceed_space (suite, box, "head -c 4194304 /dev/zero > /dev/shm/a && rm /dev/shm/a",
                "head -c 16777216 /dev/zero > /dev/shm/a");
}

static void
set_disk (struct berth_spec *spec)
{
  spec->disk_bytes = 64 * MIB;
}

static void
exceed_disk (struct suite_context *suite, struct suite_box *box)
{
  exceed_space (suite, box, "head -c 16777216 /dev/zero > a && rm a", "head -c 134217728 /dev/zero > a");
}

static void
set_file_size (struct berth_spec *spec)
{
  spec->file_size_bytes = 4 * MIB;
}

static void
exceed_file_size (struct suite_context *suite, struct suite_box *box)
{
  exceed_space (suite, box, "head -c 2097152 /dev/zero > a", "head -c 8388608 /dev/zero > a");
}

static void
set_open_files (struct berth_spec *spec)
{
  spec->open_files = 64;
}

static void
exceed_open_files (struct suite_context *suite, struct suite_box *box)
{
  SUITE_AUTO_RAN struct suite_ran below = { 0 };
  SUITE_AUTO_RAN struct suite_ran above = { 0 };

  suite_argv (box, &below, (const char *const[]) { SUITE_TOOL, "descriptors", "20", NULL });
  SUITE_CHECK_PRINTED (suite, &below, "20 ok\n", "20 descriptors of 64");
  suite_argv (box, &above, (const char *const[]) { SUITE_TOOL, "descriptors", "200", NULL });
  SUITE_CHECK (suite, strstr (berth_buffer_string (&above.out), "EMFILE") != NULL, "200 descriptors of 64: %s",
               berth_buffer_string (&above.out));
}

static void
set_cpu (struct berth_spec *spec)
{
  spec->cpu_milli = 200;
}

static long
cpu_share (struct suite_box *box)
{
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  suite_argv (box, &ran, (const char *const[]) { SUITE_TOOL, "spin", "1000", NULL });
  return suite_ran_exited (&ran, 0) ? strtol (berth_buffer_string (&ran.out), NULL, 10) : -1;
}

/* A busy machine gives less to both, and then hardly more to the one than to the other: they are asked by turns until
 * the control shows the difference. */
static void
exceed_cpu (struct suite_context *suite, struct suite_box *box)
{
  struct suite_box *control = suite_box_make (suite);
  long limited = 0, free_running = -1;

  suite_tool_install (control);
  for (int i = 0; i < ATTEMPTS && free_running <= limited; i++)
    {
      limited = cpu_share (box);
      SUITE_CHECK (suite, limited > 0 && limited < 350, "with 200 thousandths of a core it got %ld", limited);
      free_running = cpu_share (control);
    }
  SUITE_CHECK (suite, free_running > limited, "the control with a whole core got no more: %ld", free_running);
}

static const struct limit limits[] = {
  { "memory", BERTH_SPEC_MEMORY, set_memory, exceed_memory },
  { "pids", BERTH_SPEC_PIDS, set_pids, exceed_pids },
  { "tmp", BERTH_SPEC_TMP, set_tmp, exceed_tmp },
  { "shm", BERTH_SPEC_SHM, set_shm, exceed_shm },
  { "disk", BERTH_SPEC_DISK, set_disk, exceed_disk },
  { "file size", BERTH_SPEC_FILE_SIZE, set_file_size, exceed_file_size },
  { "open files", BERTH_SPEC_OPEN_FILES, set_open_files, exceed_open_files },
  { "cpu", BERTH_SPEC_CPU, set_cpu, exceed_cpu },
};

/* A limit that the user wrote is refused, or in force. */
static void
try_limit (struct suite_context *suite, const struct limit *limit)
{
  struct suite_box *box = suite_box_new (suite);
  struct berth_effective effective = { 0 };
  SUITE_AUTO_RAN struct suite_ran after = { 0 };
  struct suite_plan plan;
  uint32_t code;

  suite_plan_init (&plan, box);
  plan.spec.asks |= limit->bit;
  plan.spec.must = limit->bit;
  limit->set (&plan.spec);
  code = suite_box_validate (box, &plan.spec, &effective);
  if (code != 0 || (effective.enforced & limit->bit) == 0)
    {
      if (code != 0)
        SUITE_CHECK_CODE (suite, limit->name, code, BERTH_E_CONFIGURATION, BERTH_E_CAPABILITY_NOT_SUPPORTED);
      SUITE_CHECK (suite, code == 0 || strlen (box->error.hint) > 0, "%s is refused without a hint: %s", limit->name,
                   box->error.message);
      if (suite_box_create (box, &plan.spec) == 0)
        SUITE_CHECK (suite, (box->effective.enforced & limit->bit) == 0, "%s: create says otherwise than validate",
                     limit->name);
      return;
    }
  SUITE_REQUIRE (suite, suite_box_create (box, &plan.spec) == 0, "create with a limit of %s: %s", limit->name,
                 box->error.message);
  suite_tool_install (box);
  limit->exceed (suite, box);
  suite_sh (box, &after, 0, "rm -f a /tmp/a /dev/shm/a; echo usable");
  SUITE_CHECK_PRINTED (suite, &after, "usable\n", limit->name);
}

void
suite_l04 (struct suite_context *suite)
{
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    try_limit (suite, &limits[i]);
}

/* ---- L05 ---- */

struct number
{
  const char *name;
  uint64_t bit;
  uint64_t value;
};

static void
check_numbers (struct suite_context *suite, const char *what, const struct berth_effective *effective)
{
  const struct number numbers[] = {
    { "memory", BERTH_SPEC_MEMORY, effective->memory_bytes }, { "cpu", BERTH_SPEC_CPU, effective->cpu_milli },
    { "pids", BERTH_SPEC_PIDS, effective->pids },             { "tmp", BERTH_SPEC_TMP, effective->tmp_bytes },
    { "disk", BERTH_SPEC_DISK, effective->disk_bytes },       { "shm", BERTH_SPEC_SHM, effective->shm_bytes },
    { "open files", BERTH_SPEC_OPEN_FILES, effective->open_files },
  };

  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    {
      uint64_t value = numbers[i].value;

      if ((effective->enforced & numbers[i].bit) != 0)
        SUITE_CHECK (suite, value > 0 && value < UINT64_MAX / 2 && value != UINT32_MAX,
                     "%s: %s is said to be in force, with %llu", what, numbers[i].name, (unsigned long long) value);
      else
        SUITE_CHECK (suite, value == 0, "%s: %s is not in force, and has the number %llu", what, numbers[i].name,
                     (unsigned long long) value);
    }
}

void
suite_l05 (struct suite_context *suite)
{
  static const uint64_t zeroed[] = { BERTH_SPEC_MEMORY, BERTH_SPEC_CPU, BERTH_SPEC_PIDS, BERTH_SPEC_TMP };
  struct suite_box *box = suite_box_new (suite);
  struct berth_effective effective = { 0 };
  struct suite_plan plan;

  suite_plan_init (&plan, box);
  SUITE_REQUIRE (suite, suite_box_validate (box, &plan.spec, &effective) == 0, "validate: %s", box->error.message);
  check_numbers (suite, "the defaults", &effective);
  plan.spec.memory_bytes = 1024 * MIB;
  plan.spec.pids = 512;
  SUITE_REQUIRE (suite, suite_box_validate (box, &plan.spec, &effective) == 0, "raised: %s", box->error.message);
  check_numbers (suite, "raised", &effective);
  if ((effective.enforced & BERTH_SPEC_MEMORY) != 0)
    SUITE_CHECK (suite, effective.memory_bytes == 1024 * MIB, "1 GiB asked, %llu in force",
                 (unsigned long long) effective.memory_bytes);
  for (size_t i = 0; i < sizeof zeroed / sizeof *zeroed; i++)
    {
      suite_plan_init (&plan, box);
      plan.spec.memory_bytes = zeroed[i] == BERTH_SPEC_MEMORY ? 0 : plan.spec.memory_bytes;
      plan.spec.cpu_milli = zeroed[i] == BERTH_SPEC_CPU ? 0 : plan.spec.cpu_milli;
      plan.spec.pids = zeroed[i] == BERTH_SPEC_PIDS ? 0 : plan.spec.pids;
      plan.spec.tmp_bytes = zeroed[i] == BERTH_SPEC_TMP ? 0 : plan.spec.tmp_bytes;
      if (suite_box_validate (box, &plan.spec, &effective) == 0)
        check_numbers (suite, "a limit of zero", &effective);
    }
}
