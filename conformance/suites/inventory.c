/* L17, L23: what the runtime tells of its sandboxes. */
#include <stdio.h>
#include <string.h>

#include "conformance/suites/box.h"
#include "conformance/suites/lifecycle.h"
#include "sdk/base/string.h"

#define MADE 5
#define PAGE 2

/* ---- L17 ---- */

struct sought
{
  const char *native_id;
  const struct berth_spec *spec;
  unsigned int found;
};

static int
compare_labels (void *context, const struct berth_found *found)
{
  struct sought *sought = context;

  if (strcmp (found->native_id, sought->native_id) == 0 && (found->has & BERTH_FOUND_LABELS) != 0
      && berth_string_equal (found->sandbox_id, sought->spec->sandbox_id)
      && berth_string_equal (found->assignment_id, sought->spec->assignment_id)
      && berth_string_equal (found->installation_id, sought->spec->installation_id))
    sought->found++;
  return 0;
}

/* 63 bytes, every kind of character that an id may have. */
void
suite_l17 (struct suite_context *suite)
{
  static const char *const assignments[]
      = { "A.b_c:d-E0123456789012345678901234567890123456789012345678901", "0", "a.1" };

  for (size_t i = 0; i < sizeof assignments / sizeof *assignments; i++)
    {
      struct suite_box *box = suite_box_new (suite);
      struct suite_plan plan;
      struct sought sought;

      suite_plan_init (&plan, box);
      plan.spec.assignment_id = assignments[i];
      SUITE_REQUIRE (suite, suite_box_create (box, &plan.spec) == 0, "create: %s", box->error.message);
      sought = (struct sought) { .native_id = box->native_id, .spec = &plan.spec };
      SUITE_CHECK_CODE (suite, "list_ids", suite_list (suite, compare_labels, &sought, NULL), 0);
      SUITE_CHECK (suite, sought.found == 1, "the labels with assignment %s did not come back", assignments[i]);
    }
}

/* ---- L23 ---- */

struct page
{
  char ids[2 * MADE][256];
  unsigned int count;
  unsigned int of_page;
  char cursor[1024];
};

static int
take_found (void *context, const struct berth_found *found)
{
  struct page *page = context;

  page->of_page++;
  if (page->count < 2 * MADE)
    snprintf (page->ids[page->count++], sizeof page->ids[0], "%s", found->native_id);
  return 0;
}

static int
take_cursor (void *context, const char *next)
{
  struct page *page = context;

  snprintf (page->cursor, sizeof page->cursor, "%s", next != NULL ? next : "");
  return 0;
}

static uint32_t
list_page (struct suite_context *suite, const char *cursor, struct page *page)
{
  struct berth_found_sink sink
      = { .struct_size = sizeof sink, .context = page, .found = take_found, .cursor = take_cursor };
  struct suite_call call;
  struct berth_call *made = suite_call_begin (&call, suite, NULL, NULL, 0);

  page->of_page = 0;
  page->cursor[0] = '\0';
  return suite_call_end (&call, suite->backend->inventory->list_page (made, suite->state, cursor, PAGE, &sink), NULL);
}

static void
list_pages (struct suite_context *suite, struct page *page)
{
  char cursor[1024] = "";
  unsigned int pages = 0;

  page->count = 0;
  do
    {
      uint32_t code = list_page (suite, pages == 0 ? NULL : cursor, page);

      SUITE_CHECK_CODE (suite, "list_page", code, 0);
      SUITE_CHECK (suite, page->of_page <= PAGE, "a page of %u, at most %u asked", page->of_page, PAGE);
      strcpy (cursor, page->cursor);
      pages++;
    }
  while (cursor[0] != '\0' && pages < 20);
  SUITE_CHECK (suite, pages < 20, "the pages do not end");
}

static bool
holds_each_once (const struct page *page, struct suite_box *const *boxes)
{
  for (unsigned int b = 0; b < MADE; b++)
    {
      unsigned int times = 0;

      for (unsigned int i = 0; i < page->count; i++)
        times += strcmp (page->ids[i], boxes[b]->native_id) == 0;
      if (times != 1)
        return false;
    }
  return page->count == MADE;
}

static uint32_t
describe (struct suite_box *box, struct page *page)
{
  struct suite_context *suite = box->suite;
  struct berth_native native = suite_box_native (box);
  struct berth_found_sink sink
      = { .struct_size = sizeof sink, .context = page, .found = take_found, .cursor = take_cursor };
  struct suite_call call;
  struct berth_call *made = suite_call_begin (&call, suite, native.id, NULL, 0);

  page->count = 0;
  return suite_call_end (&call, suite->backend->inventory->describe (made, suite->state, &native, &sink), &box->error);
}

void
suite_l23 (struct suite_context *suite)
{
  struct suite_box *boxes[MADE];
  struct suite_box *unknown = suite_box_new (suite);
  struct page first = { .count = 0 };
  struct page second = { .count = 0 };

  for (unsigned int i = 0; i < MADE; i++)
    boxes[i] = suite_box_make (suite);
  list_pages (suite, &first);
  list_pages (suite, &second);
  SUITE_CHECK (suite, holds_each_once (&first, boxes), "%u were made, the pages hold %u, or some twice", MADE,
               first.count);
  SUITE_CHECK (suite, first.count == second.count && memcmp (first.ids, second.ids, sizeof first.ids) == 0,
               "the same pages in another order");
  SUITE_CHECK_CODE (suite, "describe", describe (boxes[2], &first), 0);
  SUITE_CHECK (suite, first.count == 1 && strcmp (first.ids[0], boxes[2]->native_id) == 0, "describe told another");
  strcpy (unknown->native_id, SUITE_UNKNOWN_ID);
  SUITE_CHECK_CODE (suite, "describe of an unknown one", describe (unknown, &first), BERTH_E_SANDBOX_NOT_FOUND);
}
