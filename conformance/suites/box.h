/* box.h - sandboxes of a clause. */
#ifndef CONFORMANCE_SUITES_BOX_H
#define CONFORMANCE_SUITES_BOX_H

#include "conformance/suites/call.h"

#define SUITE_ID_SIZE 64
/* Ids that nobody has: a well-made one, and two that can be none. */
#define SUITE_UNKNOWN_ID "sb-22222222222222222222.9"
#define SUITE_IMPOSSIBLE_IDS SUITE_UNKNOWN_ID, "../../etc", "no/such:thing"

struct suite_box
{
  struct suite_context *suite;
  struct suite_box *next;
  char sandbox_id[SUITE_ID_SIZE];
  char assignment_id[SUITE_ID_SIZE];
  char native_hint[SUITE_ID_SIZE];
  char native_id[256]; /* "" until `created` told it */
  unsigned char private_data[BERTH_PRIVATE_MAX];
  uint32_t private_size;
  struct berth_handle *handle;
  struct berth_effective effective; /* of create; its texts are not kept */
  struct berth_error error;         /* of the last call that failed */
  unsigned int created_calls;
  unsigned int effective_calls;
  bool made;                  /* it is there, as far as the clause knows: destroy must end it */
  bool effective_early;       /* `effective` came before `created` */
  bool refuse_created;        /* what the sinks answer */
  bool refuse_effective;
  struct berth_cancel *cancel; /* of the create; may be NULL */
  int64_t deadline_ms;         /* of the create; 0: the usual */
  void (*on_created) (struct suite_box *box);
};

/* A specification with what it points to. */
struct suite_plan
{
  struct berth_spec spec;
  struct berth_policy policy;
  struct berth_pair mark; /* by which processes of the sandbox are found again */
};

/* A box with ids of its own; nothing is made yet.  It belongs to the clause. */
struct suite_box *suite_box_new (struct suite_context *suite);
/* A box that names what was never made. */
struct suite_box *suite_box_named (struct suite_context *suite, const char *native_id);
/* What a host asks when its user asks for nothing: limits and policy as defaults, no `must`. */
void suite_plan_init (struct suite_plan *plan, const struct suite_box *box);

uint32_t suite_box_validate (struct suite_box *box, const struct berth_spec *spec, struct berth_effective *effective);
uint32_t suite_box_create (struct suite_box *box, const struct berth_spec *spec);
/* For other functions that make a sandbox; who calls one sets box->made. */
struct berth_create_sink suite_box_sink (struct suite_box *box);
/* A box with the usual specification, or the end of the clause. */
struct suite_box *suite_box_make (struct suite_context *suite);
/* A new handle on what NATIVE_ID names; OUT is written on success. */
uint32_t suite_box_connect (struct suite_box *box, struct berth_effective *effective, struct berth_handle **out);
void suite_box_release (struct suite_box *box, struct berth_handle *handle);
/* Releases the box's own handle first, unless KEEP_HANDLE. */
uint32_t suite_box_destroy (struct suite_box *box, bool keep_handle, uint32_t *verdict);
/* 1, 0, or -1 with box->error. */
int suite_box_is_running (struct suite_box *box);
struct berth_native suite_box_native (const struct suite_box *box);

/* What list_ids tells, one call of VISIT each. */
uint32_t suite_list (struct suite_context *suite, int (*visit) (void *context, const struct berth_found *found),
                     void *context, struct berth_error *error);
/* How many list_ids tells, of BOX only when it is not NULL; -1 after a failure was reported. */
int suite_count (struct suite_context *suite, const struct suite_box *box);

/* Destroys everything that the clause made; a sandbox that does not go is a failure. */
void suite_boxes_end (struct suite_context *suite);
/* Lets go of the boxes, and leaves the sandboxes as they are. */
void suite_boxes_forget (struct suite_context *suite);
/* Destroys everything that list_ids tells, and says how much that was. */
unsigned int suite_sweep (struct suite_context *suite);

#endif
