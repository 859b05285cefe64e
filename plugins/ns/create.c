/* create.c - a new sandbox, step by step, each of them undone when a later one fails.
 *
 * Whatever a process that dies leaves behind is found by the native id alone: the record is made
 * first, and the names of cgroups, socket and user ids are made of the id. */
#include <errno.h>
#include <unistd.h>

#include "plugins/ns/boot.h"
#include "sdk/base/cleanup.h"

#define UNDO_MS 10000

static int
begin (struct ns_boot *boot, const struct berth_spec *spec)
{
  struct berth_call *call = boot->call;

  if (ns_hierarchies_find (boot->state, &boot->hierarchies) < 0)
    return call->services->fail (call, BERTH_E_INTERNAL, "cannot read /proc/self/mountinfo: %m");
  if (ns_users_choose (call, boot->state, &boot->users) < 0
      || ns_resolve (call, &boot->hierarchies, boot->users.single, spec, &boot->meta.limits) < 0 || ns_ids_check (call, boot->state) < 0)
    return -1;
  if (!ns_id_is_possible (boot->state, boot->id))
    return call->services->fail (call, BERTH_E_INVALID_REQUEST,
                                 "the native id %s is no file name, or too long for a socket in %s", boot->id,
                                 boot->state->runtime);
  if (ns_meta_from_spec (&boot->meta, boot->state, spec) < 0 || ns_hierarchies_note (&boot->hierarchies, &boot->meta) < 0)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no memory");
  if (spec->asks & BERTH_SPEC_ENVIRONMENT)
    {
      boot->environment = spec->environment;
      boot->environment_count = spec->environment_count;
    }
  boot->owned = spec->asks & BERTH_SPEC_OWNED;
  return 0;
}

/* Root's sandboxes have ids of their own each. */
static int
take_ids (struct ns_boot *boot)
{
  if (ns_is_ordinary_user ())
    return 0;
  uint32_t base = ns_ids_take (boot->call, boot->state, boot->id, boot->box);
  boot->meta.uid_base = boot->meta.gid_base = boot->users.range.uid = boot->users.range.gid = base;
  return base != 0 ? 0 : -1;
}

static int
make_storage (struct ns_boot *boot)
{
  boot->meta.uid_base = boot->users.range.uid;
  boot->meta.gid_base = boot->users.range.gid;
  boot->box = ns_box_make (boot->call, boot->state, boot->id);
  if (boot->box < 0 || ns_boot_write_meta (boot, ns_meta_write) < 0 || take_ids (boot) < 0
      || ns_box_fill (boot->call, boot->box, boot->id, &boot->users) < 0)
    return -1;
  if (!(boot->meta.limits.enforced & BERTH_SPEC_DISK))
    return 0;
  boot->disk = ns_disk_make (boot->call, boot->box, boot->id, boot->meta.limits.disk, ns_ids_outside (boot->meta.uid_base, NS_SANDBOX_ID));
  return boot->disk < 0 ? -1 : 0;
}

/* A conflict is somebody else's sandbox. */
static void
undo (struct ns_boot *boot)
{
  struct berth_call *call = boot->call;
  const struct berth_native native = { .struct_size = sizeof native, .id = boot->id };
  struct berth_destroyed destroyed;

  if (boot->box < 0)
    return;
  struct berth_call *shielded = call->services->shield (call, UNDO_MS);
  if (ns_destroy (shielded, boot->state, &native, &destroyed) < 0 || destroyed.verdict != BERTH_GONE)
    call->services->log (call->instance, BERTH_LOG_WARNING, "what a failed create made of %s is not all gone",
                         boot->id);
  call->services->unshield (shielded);
}

int
ns_create (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec,
           const struct berth_create_sink *sink, struct berth_handle **out)
{
  NS_AUTO_BOOT struct ns_boot boot;
  const struct berth_native native = { .struct_size = sizeof native, .id = spec->native_hint };

  ns_boot_begin (&boot, call, state, spec->native_hint);
  if (begin (&boot, spec) < 0 || sink->created (sink->context, &native) < 0)
    return -1;
  if (make_storage (&boot) < 0 || ns_boot (&boot) < 0
      || ns_tell_effective (&boot.meta.limits, sink->context, sink->effective) < 0)
    {
      ns_boot_kill (&boot);
      undo (&boot);
      return -1;
    }
  *out = boot.handle;
  return 0;
}
