/* seccomp.c - the filter of a sandbox, made once and kept in the cache directory.
 *
 * libseccomp knows the numbers of this machine's calls.  The result depends on nothing but the lists and these, so it
 * is not even loaded while the cache has it. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plugins/ns/ns.h"
#include "plugins/ns/syscalls.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/fd.h"
#include "sdk/base/fs.h"
#include "sdk/base/hash.h"
#include "sdk/base/library.h"
#include "sdk/base/string.h"

#define FILTER_MAXIMUM (BPF_MAXINSNS * sizeof (struct sock_filter))

struct cache_header
{
  char magic[8];
  uint64_t hash; /* of the filter that follows */
};
static const char cache_magic[8] = "BERTHbpf";

/* ---- libseccomp, loaded for the numbers ---- */

struct library
{
  __typeof__ (seccomp_syscall_resolve_name) *resolve_name;
  __typeof__ (seccomp_arch_native) *arch_native;
};

static bool
open_library (struct library *library, char *reason, size_t size)
{
  const struct berth_library_symbol symbols[] = {
    { "seccomp_syscall_resolve_name", &library->resolve_name },
    { "seccomp_arch_native", &library->arch_native },
  };

  return berth_library_load (LIBSECCOMP_SONAME, symbols, sizeof symbols / sizeof *symbols, reason, size);
}

/* ---- guards: calls that are allowed, but not with these values ----
 *
 * They look at 32 bits of an argument: an allowance by 64 bits could be had with rubbish in the upper half. */

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
  /* Of another architecture (i386 on x86-64) the numbers mean other calls: none of them is known. */
  emit_load (out, offsetof (struct seccomp_data, arch));
  emit (out, (struct sock_filter)BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, library->arch_native (), 1, 0));
  emit (out, (struct sock_filter)BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS));
  return berth_buffer_append (out, guards.data, guards.size);
}

/* ---- numbers: what each call is answered ----
 *
 * A search among spans of numbers, which are few: the kernel compiles the filter anew for each sandbox, and
 * libseccomp's own, with an instruction for each call, takes it three times as long. */

#define SPANS_MAX 256 /* of as many the farthest jump is as far as one goes */
#define UNKNOWN (SECCOMP_RET_ERRNO | ENOSYS)

struct span
{
  uint32_t first; /* to the next one's */
  uint32_t verdict;
};

/* Names that this libseccomp or this machine does not know are left to the filter's default. */
static void
add_number (const struct library *library, const char *name, uint32_t verdict, struct berth_buffer *numbers)
{
  int number = library->resolve_name (name);
  const struct span one = { (uint32_t) number, verdict };

  if (number >= 0)
    berth_buffer_append (numbers, &one, sizeof one);
}

/* By number, and of two verdicts on one number the refusal first. */
static int
compare (const void *left, const void *right)
{
  const struct span *a = left, *b = right;

  if (a->first != b->first)
    return a->first < b->first ? -1 : 1;
  return a->verdict < b->verdict ? -1 : a->verdict > b->verdict;
}

static void
begin_span (struct berth_buffer *spans, uint32_t first, uint32_t verdict)
{
  const struct span span = { first, verdict };
  struct span last;

  if (spans->size > 0)
    {
      memcpy (&last, spans->data + spans->size - sizeof last, sizeof last);
      if (last.verdict == verdict)
        return;
    }
  berth_buffer_append (spans, &span, sizeof span);
}

/* SPANS cover all numbers; those of x32 on x86-64 are above all that are listed. */
static void
join_numbers (const struct berth_buffer *numbers, struct berth_buffer *spans)
{
  const size_t count = numbers->size / sizeof (struct span);
  uint32_t next = 0;

  for (size_t i = 0; i < count; i++)
    {
      struct span one;
      memcpy (&one, numbers->data + i * sizeof one, sizeof one);
      if (one.first < next)
        continue;
      if (one.first > next)
        begin_span (spans, next, UNKNOWN);
      begin_span (spans, one.first, one.verdict);
      next = one.first + 1;
    }
  begin_span (spans, next, UNKNOWN);
}

/* With the number loaded.  COUNT spans become 2 * COUNT - 1 instructions. */
static void
emit_search (struct berth_buffer *out, const struct span *spans, size_t count)
{
  size_t half = count / 2;

  if (count == 1)
    {
      emit (out, (struct sock_filter)BPF_STMT (BPF_RET | BPF_K, spans->verdict));
      return;
    }
  emit (out, (struct sock_filter)BPF_JUMP (BPF_JMP | BPF_JGE | BPF_K, spans[half].first, (uint8_t) (2 * half - 1), 0));
  emit_search (out, spans, half);
  emit_search (out, spans + half, count - half);
}

/* What no list names is answered as by a kernel that does not have it, so that programs take
 * their older way. */
static int
emit_numbers (const struct library *library, struct berth_buffer *out)
{
  BERTH_AUTO_BUFFER struct berth_buffer numbers = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer joined = { 0 };
  struct span spans[SPANS_MAX];

  for (size_t i = 0; ns_syscalls_allowed[i] != NULL; i++)
    add_number (library, ns_syscalls_allowed[i], SECCOMP_RET_ALLOW, &numbers);
  for (size_t i = 0; ns_syscalls_refused[i].name != NULL; i++)
    add_number (library, ns_syscalls_refused[i].name, SECCOMP_RET_ERRNO | (uint32_t) ns_syscalls_refused[i].error, &numbers);
  if (numbers.error == 0 && numbers.size > 0)
    qsort (numbers.data, numbers.size / sizeof (struct span), sizeof (struct span), compare);
  join_numbers (&numbers, &joined);
  if (numbers.error != 0 || joined.error != 0 || joined.size > sizeof spans)
    {
      errno = joined.size > sizeof spans ? E2BIG : ENOMEM;
      return -1;
    }
  memcpy (spans, joined.data, joined.size);
  emit_load (out, offsetof (struct seccomp_data, nr));
  emit_search (out, spans, joined.size / sizeof (struct span));
  return out->error == 0 ? 0 : -1;
}

/* ---- compiling ---- */

static int
compile (struct berth_call *call, bool user_namespaces, struct berth_buffer *out)
{
  struct library library;
  char reason[256];

  if (!open_library (&library, reason, sizeof reason))
    {
      call->services->fail (call, BERTH_E_CONFIGURATION, "cannot compile the seccomp filter: %s", reason);
      call->services->hint (call, "install " LIBSECCOMP_SONAME);
      return -1;
    }
  if (emit_guards (&library, user_namespaces, out) < 0 || emit_numbers (&library, out) < 0)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "cannot make the filter of a sandbox: %m");
  return 0;
}

/* ---- the cache ---- */

static uint64_t
hash_text (uint64_t seed, const char *text)
{
  return berth_hash (seed, text, strlen (text) + 1);
}

/* Changes with the lists, the version of Berth and the library. */
static char *
cache_path (const struct berth_state *state, bool user_namespaces)
{
  uint64_t hash = hash_text (BERTH_HASH_SEED, PACKAGE_VERSION " spans " LIBSECCOMP_SONAME);

  if (state->cache == NULL)
    return NULL;
  for (size_t i = 0; ns_syscalls_allowed[i] != NULL; i++)
    hash = hash_text (hash, ns_syscalls_allowed[i]);
  for (const struct ns_syscall_refusal *refusal = ns_syscalls_refused; refusal->name != NULL; refusal++)
    hash = berth_hash (hash_text (hash, refusal->name), &refusal->error, sizeof refusal->error);
  for (const struct ns_syscall_guard *guard = ns_syscall_guards; guard->name != NULL; guard++)
    hash = berth_hash (hash_text (hash, guard->name), &guard->error, sizeof *guard - offsetof (struct ns_syscall_guard, error));
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
  return berth_hash (BERTH_HASH_SEED, out->data, out->size) == header.hash ? 0 : -1;
}

static void
write_cache (const char *path, const struct berth_buffer *filter)
{
  BERTH_AUTO_BUFFER struct berth_buffer file = { 0 };
  struct cache_header header = { .hash = berth_hash (BERTH_HASH_SEED, filter->data, filter->size) };

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
