/* L24, L25, I07: sandboxes that are made of others, and those that a platform keeps ready. */
#include <stdio.h>
#include <string.h>

#include "conformance/suites/content.h"
#include "conformance/suites/platform.h"
#include "sdk/base/string.h"

#define KEPT SUITE_WORKSPACE "/kept"

/* ---- FORK ---- */

#define CHILDREN 3

struct children
{
  struct suite_box *boxes[CHILDREN];
  unsigned int made, effective, failed, strange;
};

static int
take_child (void *context, uint64_t index, const struct berth_native *native)
{
  struct children *children = context;

  if (index >= CHILDREN || strlen (native->id) >= sizeof children->boxes[0]->native_id)
    {
      children->strange++;
      return 0;
    }
  children->made += children->boxes[index]->native_id[0] == '\0';
  strcpy (children->boxes[index]->native_id, native->id);
  children->boxes[index]->made = true;
  children->boxes[index]->private_size = native->private_size;
  if (native->private_size > 0 && native->private_size <= BERTH_PRIVATE_MAX)
    memcpy (children->boxes[index]->private_data, native->private_data, native->private_size);
  return 0;
}

static int
take_child_effective (void *context, uint64_t index, const struct berth_effective *effective)
{
  struct children *children = context;

  (void) effective;
  children->effective++;
  children->strange += index >= CHILDREN || children->boxes[index]->native_id[0] == '\0';
  return 0;
}

static int
take_child_failure (void *context, uint64_t index, uint32_t code, const char *message)
{
  struct children *children = context;

  (void) index, (void) code, (void) message;
  children->failed++;
  return 0;
}

static void
check_child (struct suite_box *parent, struct suite_box *child)
{
  struct suite_context *suite = parent->suite;

  SUITE_CHECK (suite, strcmp (child->native_id, parent->native_id) != 0, "a child has its parent's id");
  SUITE_REQUIRE (suite, suite_box_connect (child, NULL, &child->handle) == 0, "connect to a child: %s", child->error.message);
  suite_check_content (child, KEPT, "of the parent", strlen ("of the parent"));
  SUITE_CHECK_CODE (suite, "write", suite_write_text (child, KEPT, child->sandbox_id), 0);
}

void
suite_l24 (struct suite_context *suite)
{
  struct suite_box *parent = suite_box_make (suite);
  struct berth_native native = suite_box_native (parent);
  struct children children = { 0 };
  struct suite_plan plans[CHILDREN];
  const struct berth_spec *specs[CHILDREN];
  struct berth_children_sink sink
      = { sizeof sink, 0, &children, take_child, take_child_effective, take_child_failure };

  SUITE_CHECK_CODE (suite, "write", suite_write_text (parent, KEPT, "of the parent"), 0);
  for (size_t i = 0; i < CHILDREN; i++)
    {
      children.boxes[i] = suite_box_new (suite);
      suite_plan_init (&plans[i], children.boxes[i]);
      specs[i] = &plans[i].spec;
    }
  SUITE_CHECK_CODE (suite, "fork",
                    SUITE_CALL (suite, native.id, suite->backend->fork->fork (made, suite->state, &native, specs, CHILDREN, &sink)),
                    0);
  SUITE_REQUIRE (suite, children.made == CHILDREN && children.effective == CHILDREN && children.failed == 0
                     && children.strange == 0,
                 "of %d children %u are told, %u with what they have, %u failed, %u told strangely", CHILDREN, children.made,
                 children.effective, children.failed, children.strange);
  for (size_t i = 0; i < CHILDREN; i++)
    check_child (parent, children.boxes[i]);
  suite_check_content (parent, KEPT, "of the parent", strlen ("of the parent"));
  for (size_t i = 0; i < CHILDREN; i++)
    suite_check_content (children.boxes[i], KEPT, children.boxes[i]->sandbox_id, strlen (children.boxes[i]->sandbox_id));
}

/* ---- SNAPSHOT_DISK, SNAPSHOT_MEMORY ---- */

struct saved
{
  char id[256];
  uint32_t kind;
  unsigned int count;
};

static int
take_snapshot (void *context, const struct berth_snapshot *snapshot)
{
  struct saved *saved = context;

  saved->count++;
  saved->kind = snapshot->kind;
  snprintf (saved->id, sizeof saved->id, "%s", snapshot->snapshot_id);
  return 0;
}

static uint32_t
restore (struct suite_box *box, const char *snapshot_id)
{
  struct suite_context *suite = box->suite;
  struct berth_create_sink sink = suite_box_sink (box);
  struct suite_plan plan;
  uint32_t code;

  suite_plan_init (&plan, box);
  code = SUITE_CALL (suite, NULL,
                     suite->backend->snapshots->restore (made, suite->state, snapshot_id, &plan.spec, &sink, &box->handle));
  box->made = code == 0;
  return code;
}

static void
check_snapshot (struct suite_context *suite, uint32_t kind)
{
  const struct berth_snapshots_ops *ops = suite->backend->snapshots;
  struct suite_box *box = suite_box_make (suite), *again = suite_box_new (suite), *never = suite_box_new (suite);
  struct berth_native native = suite_box_native (box);
  struct saved saved = { .count = 0 }, listed = { .count = 0 }, after = { .count = 0 };
  struct berth_snapshot_sink sink = { sizeof sink, 0, &saved, take_snapshot };

  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, KEPT, "then"), 0);
  SUITE_CHECK_CODE (suite, "save", SUITE_CALL (suite, native.id, ops->save (made, suite->state, &native, "one", NULL, &sink)), 0);
  SUITE_REQUIRE (suite, saved.count == 1 && saved.id[0] != '\0', "save told %u snapshots", saved.count);
  SUITE_CHECK (suite, kind == 0 || saved.kind == kind, "the snapshot is of kind %u", saved.kind);
  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, KEPT, "later"), 0);
  SUITE_CHECK_CODE (suite, "restore of an unknown one", restore (never, "no-such-snapshot"), BERTH_E_SNAPSHOT_NOT_FOUND);
  SUITE_CHECK_CODE (suite, "restore", restore (again, saved.id), 0);
  SUITE_REQUIRE (suite, again->handle != NULL, "restore gave no handle");
  suite_check_content (again, KEPT, "then", strlen ("then"));
  suite_check_content (box, KEPT, "later", strlen ("later"));
  sink.context = &listed;
  SUITE_CHECK_CODE (suite, "list", SUITE_CALL (suite, NULL, ops->list (made, suite->state, &sink)), 0);
  SUITE_CHECK (suite, listed.count == 1 && strcmp (listed.id, saved.id) == 0, "list tells %u snapshots", listed.count);
  for (int i = 0; i < 2; i++)
    SUITE_CHECK_CODE (suite, "remove", SUITE_CALL (suite, NULL, ops->remove (made, suite->state, saved.id)), 0);
  sink.context = &after;
  SUITE_CHECK_CODE (suite, "list", SUITE_CALL (suite, NULL, ops->list (made, suite->state, &sink)), 0);
  SUITE_CHECK (suite, after.count == 0, "a removed snapshot is listed");
}

void
suite_l25_disk (struct suite_context *suite)
{
  check_snapshot (suite, 0);
}

void
suite_l25 (struct suite_context *suite)
{
  check_snapshot (suite, BERTH_SNAPSHOT_KIND_MEMORY);
}

/* ---- CLIENT_POOL ---- */

#define POOL "conform"

static int
take_pool (void *context, const struct berth_pool_state *state)
{
  *(struct berth_pool_state *) context = *state;
  return 0;
}

static uint32_t
acquire (struct suite_box *box, uint64_t memory)
{
  struct suite_context *suite = box->suite;
  struct berth_create_sink sink = suite_box_sink (box);
  struct suite_plan plan;
  uint32_t code;

  suite_plan_init (&plan, box);
  plan.spec.memory_bytes = memory;
  plan.spec.must |= BERTH_SPEC_MEMORY;
  code = SUITE_CALL (suite, NULL, suite->backend->pool->acquire (made, suite->state, POOL, &plan.spec, &sink, &box->handle));
  box->made = code == 0;
  return code;
}

void
suite_i07 (struct suite_context *suite)
{
  const struct berth_pool_ops *ops = suite->backend->pool;
  struct suite_box *box = suite_box_new (suite), *other = suite_box_new (suite);
  struct berth_native native;
  struct suite_plan plan;
  struct berth_pool pool = { .struct_size = sizeof pool, .wanted = 2, .name = POOL, .spec = &plan.spec };
  struct berth_pool_state told = { 0 };
  struct berth_pool_sink sink = { sizeof sink, 0, &told, take_pool };

  suite_plan_init (&plan, box);
  SUITE_CHECK_CODE (suite, "describe of no pool", SUITE_CALL (suite, NULL, ops->describe (made, suite->state, POOL, &sink)),
                    BERTH_E_NOT_FOUND);
  for (int i = 0; i < 2; i++)
    SUITE_CHECK_CODE (suite, "ensure", SUITE_CALL (suite, NULL, ops->ensure (made, suite->state, &pool)), 0);
  SUITE_CHECK_CODE (suite, "acquire with other limits", acquire (other, plan.spec.memory_bytes * 2),
                    BERTH_E_CAPABILITY_NOT_SUPPORTED);
  SUITE_CHECK_CODE (suite, "acquire", acquire (box, plan.spec.memory_bytes), 0);
  SUITE_REQUIRE (suite, box->handle != NULL, "acquire gave no handle");
  native = suite_box_native (box);
  SUITE_CHECK (suite, ops->owns_unclaimed != NULL && SUITE_CALL (suite, native.id, ops->owns_unclaimed (made, suite->state, &native)) == 0,
               "whether it is unclaimed cannot be told");
  SUITE_CHECK_CODE (suite, "write into a claimed one", suite_write_text (box, KEPT, "mine"), 0);
  SUITE_CHECK_CODE (suite, "describe", SUITE_CALL (suite, NULL, ops->describe (made, suite->state, POOL, &sink)), 0);
  SUITE_CHECK (suite, told.claimed == 1, "%u are claimed", told.claimed);
  for (int i = 0; i < 2; i++)
    SUITE_CHECK_CODE (suite, "retire", SUITE_CALL (suite, NULL, ops->retire (made, suite->state, POOL)), 0);
  suite_check_content (box, KEPT, "mine", strlen ("mine"));
  SUITE_CHECK (suite, suite_count (suite, NULL) == 1, "after retire more is there than what was claimed");
}
