/* seccomp.c - the filter of a sandbox, compiled by libseccomp and kept in the cache directory.
 *
 * Compiling takes milliseconds and the result depends on nothing but the lists, so it is done
 * once; libseccomp is not even loaded while the cache has it. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plugins/ns/ns.h"
#include "plugins/ns/syscalls.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/fd.h"
#include "sdk/base/fs.h"
#include "sdk/base/library.h"
#include "sdk/base/string.h"

#define FILTER_MAXIMUM (BPF_MAXINSNS * sizeof (struct sock_filter))

struct cache_header
{
  char magic[8];
  uint64_t hash; /* of the filter that follows */
};
static const char cache_magic[8] = "BERTHbpf";

/* ---- libseccomp, loaded for one compilation ---- */

struct library
{
  __typeof__ (seccomp_init) *init;
  __typeof__ (seccomp_release) *release;
  __typeof__ (seccomp_attr_set) *attr_set;
  __typeof__ (seccomp_rule_add_array) *rule_add_array;
  __typeof__ (seccomp_syscall_resolve_name) *resolve_name;
  __typeof__ (seccomp_export_bpf) *export_bpf;
  __typeof__ (seccomp_arch_native) *arch_native;
};

static bool
open_library (struct library *library, char *reason, size_t size)
{
  const struct berth_library_symbol symbols[] = {
    { "seccomp_init", &library->init },
    { "seccomp_release", &library->release },
    { "seccomp_attr_set", &library->attr_set },
    { "seccomp_rule_add_array", &library->rule_add_array },
    { "seccomp_syscall_resolve_name", &library->resolve_name },
    { "seccomp_export_bpf", &library->export_bpf },
    { "seccomp_arch_native", &library->arch_native },
  };

  return berth_library_load (LIBSECCOMP_SONAME, symbols, sizeof symbols / sizeof *symbols, reason, size);
}

/* ---- guards: a few instructions of our own before what libseccomp makes ----
 *
 * libseccomp cannot say "allowed, but not with these values" about 32 bits of an argument, and an
 * allowance by 64 bits could be had with rubbish in the upper half. */

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LOW_HALF 4
#else
#define LOW_HALF 0
#endif

static void
emit (struct berth_buffer *out, struct sock_filter instruction)
{
  berth_buffer_append (out, &instruction, sizeof instruction);
}

static void
emit_load (struct berth_buffer *out, size_t offset)
{
  emit (out, (struct sock_filter)BPF_STMT (BPF_LD | BPF_W | BPF_ABS, (uint32_t) offset));
}

static size_t
argument_offset (uint32_t argument, bool high)
{
  return offsetof (struct seccomp_data, args) + argument * sizeof (uint64_t) + (high ? 4 - LOW_HALF : LOW_HALF);
}

/* Jumps count from the next instruction; the refusal follows the last test, and ends the guard. */
static void
emit_test (struct berth_buffer *out, const struct ns_syscall_guard *guard, uint32_t index)
{
  uint8_t to_refusal = (uint8_t) (guard->count - 1 - index);
  uint8_t to_end = (uint8_t) (to_refusal + 1);
  bool last = index + 1 == guard->count;

  if (guard->kind == NS_GUARD_OTHERS)
    emit (out, (struct sock_filter)BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, guard->values[index], to_end, 0));
  else
    emit (out, (struct sock_filter)BPF_JUMP (BPF_JMP | (guard->kind == NS_GUARD_BITS ? BPF_JSET : BPF_JEQ) | BPF_K,
                                             guard->values[index], to_refusal, last ? 1 : 0));
}

static void
emit_guard (struct berth_buffer *out, const struct ns_syscall_guard *guard, uint32_t number)
{
  uint8_t tests = (uint8_t) (1 + guard->count + 1); /* load, compare, refuse */

  emit_load (out, offsetof (struct seccomp_data, nr));
  emit (out, (struct sock_filter)BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, number, 0,
                                           (uint8_t) (tests + (guard->when != 0 ? 2 : 0))));
  if (guard->when != 0)
    {
      emit_load (out, argument_offset (guard->when_argument, false));
      emit (out, (struct sock_filter)BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, guard->when_value, 0, tests));
    }
  emit_load (out, argument_offset (guard->argument, guard->high));
  for (uint32_t i = 0; i < guard->count; i++)
    emit_test (out, guard, i);
  emit (out, (struct sock_filter)BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t) guard->error));
}

static int
emit_guards (const struct library *library, bool user_namespaces, struct berth_buffer *out)
{
  BERTH_AUTO_BUFFER struct berth_buffer guards = { 0 };

  for (const struct ns_syscall_guard *guard = ns_syscall_guards; guard->name != NULL; guard++)
    {
      struct ns_syscall_guard used = *guard;
      int number = library->resolve_name (guard->name);

      if (user_namespaces && guard->open_value != 0)
        used.values[0] = guard->open_value;
      if (number >= 0)
        emit_guard (&guards, &used, (uint32_t) number);
    }
  /* Of another architecture the numbers mean other calls; what follows refuses them all. */
  emit_load (out, offsetof (struct seccomp_data, arch));
  emit (out, (struct sock_filter)BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, library->arch_native (), 1, 0));
  emit (out, (struct sock_filter)BPF_STMT (BPF_JMP | BPF_JA, (uint32_t) (guards.size / sizeof (struct sock_filter))));
  return berth_buffer_append (out, guards.data, guards.size);
}

/* ---- compiling ---- */

/* Names that this libseccomp or this machine does not know are left to the filter's default. */
static int
add_rule (const struct library *library, scmp_filter_ctx filter, uint32_t action, const char *name)
{
  int number = library->resolve_name (name);

  return number < 0 ? 0 : library->rule_add_array (filter, action, number, 0, NULL);
}

static int
add_rules (const struct library *library, scmp_filter_ctx filter)
{
  int result = 0;

  for (size_t i = 0; result == 0 && ns_syscalls_allowed[i] != NULL; i++)
    result = add_rule (library, filter, SCMP_ACT_ALLOW, ns_syscalls_allowed[i]);
  for (size_t i = 0; result == 0 && ns_syscalls_refused[i].name != NULL; i++)
    result = add_rule (library, filter, SCMP_ACT_ERRNO ((uint16_t) ns_syscalls_refused[i].error),
                       ns_syscalls_refused[i].name);
  return result;
}

/* What no list names is answered as by a kernel that does not have it, so that programs take
 * their older way.  Calls of another architecture (i386 and x32 on x86-64) get the same. */
static int
compile_to (const struct library *library, int fd)
{
  scmp_filter_ctx filter = library->init (SCMP_ACT_ERRNO (ENOSYS));
  if (filter == NULL)
    return -ENOMEM;
  int result = library->attr_set (filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO (ENOSYS));
  if (result == 0)
    result = library->attr_set (filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
  if (result == 0)
    result = add_rules (library, filter);
  if (result == 0)
    result = library->export_bpf (filter, fd);
  library->release (filter);
  return result;
}

static int
compile (struct berth_call *call, bool user_namespaces, struct berth_buffer *out)
{
  struct library library;
  char reason[256];
  BERTH_AUTO_FD int fd = memfd_create ("filter", MFD_CLOEXEC);

  if (fd < 0)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no descriptor to compile the seccomp filter: %m");
  if (!open_library (&library, reason, sizeof reason))
    {
      call->services->fail (call, BERTH_E_CONFIGURATION, "cannot compile the seccomp filter: %s", reason);
      call->services->hint (call, "install " LIBSECCOMP_SONAME);
      return -1;
    }
  int result = compile_to (&library, fd);
  if (result != 0)
    return call->services->fail (call, BERTH_E_CONFIGURATION, "cannot compile the seccomp filter: %s", strerror (-result));
  if (lseek (fd, 0, SEEK_SET) < 0 || emit_guards (&library, user_namespaces, out) < 0
      || berth_fd_read_all (fd, out, FILTER_MAXIMUM) < 0)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the filter of a sandbox: %m");
  return 0;
}

/* ---- the cache ---- */

static uint64_t
hash_text (uint64_t seed, const char *text)
{
  return ns_hash (seed, text, strlen (text) + 1);
}

/* Changes with the lists, the version of Berth and the library. */
static char *
cache_path (const struct berth_state *state, bool user_namespaces)
{
  uint64_t hash = hash_text (NS_HASH_SEED, PACKAGE_VERSION " " LIBSECCOMP_SONAME);

  if (state->cache == NULL)
    return NULL;
  for (size_t i = 0; ns_syscalls_allowed[i] != NULL; i++)
    hash = hash_text (hash, ns_syscalls_allowed[i]);
  for (const struct ns_syscall_refusal *refusal = ns_syscalls_refused; refusal->name != NULL; refusal++)
    hash = ns_hash (hash_text (hash, refusal->name), &refusal->error, sizeof refusal->error);
  for (const struct ns_syscall_guard *guard = ns_syscall_guards; guard->name != NULL; guard++)
    hash = ns_hash (hash_text (hash, guard->name), &guard->error, sizeof *guard - offsetof (struct ns_syscall_guard, error));
  return berth_string_format ("%s/seccomp-%016llx%s", state->cache, (unsigned long long) hash,
                              user_namespaces ? "-user-namespaces" : "");
}

/* A file that is not whole counts as none. */
static int
read_cache (const char *path, struct berth_buffer *out)
{
  struct cache_header header;

  if (path == NULL || berth_fs_read (AT_FDCWD, path, out, sizeof header + FILTER_MAXIMUM) < 0
      || out->size <= sizeof header)
    return -1;
  memcpy (&header, out->data, sizeof header);
  berth_buffer_consume (out, sizeof header);
  if (memcmp (header.magic, cache_magic, sizeof cache_magic) != 0 || out->size % sizeof (struct sock_filter) != 0)
    return -1;
  return ns_hash (NS_HASH_SEED, out->data, out->size) == header.hash ? 0 : -1;
}

static void
write_cache (const char *path, const struct berth_buffer *filter)
{
  BERTH_AUTO_BUFFER struct berth_buffer file = { 0 };
  struct cache_header header = { .hash = ns_hash (NS_HASH_SEED, filter->data, filter->size) };

  memcpy (header.magic, cache_magic, sizeof header.magic);
  if (path != NULL && berth_buffer_append (&file, &header, sizeof header) == 0
      && berth_buffer_append (&file, filter->data, filter->size) == 0)
    berth_fs_replace (AT_FDCWD, path, file.data, file.size, 0600);
}

int
ns_seccomp_open (struct berth_call *call, const struct berth_state *state, bool user_namespaces)
{
  BERTH_AUTO_FREE char *path = cache_path (state, user_namespaces);
  BERTH_AUTO_BUFFER struct berth_buffer filter = { 0 };
  BERTH_AUTO_FD int fd = memfd_create ("berth-filter", MFD_CLOEXEC);

  if (fd < 0)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no descriptor for the filter of a sandbox: %m");
  if (read_cache (path, &filter) < 0)
    {
      berth_buffer_clear (&filter);
      if (compile (call, user_namespaces, &filter) < 0)
        return -1;
      write_cache (path, &filter);
    }
  if (berth_fd_write_file (fd, filter.data, filter.size) < 0 || lseek (fd, 0, SEEK_SET) < 0)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the filter of a sandbox: %m");
  return BERTH_STEAL_FD (fd);
}
