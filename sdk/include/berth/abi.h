/* berth/abi.h - identity, sizes and growth rules of the plugin ABI.
 *
 * Growth: members, callbacks and functions are only ever appended.  A member added after 1.0
 * has a presence bit (`asks` for what the host wants, `has` for what the plugin tells) and
 * nobody touches a member whose bit is clear; that makes every pairing of an old and a new
 * side safe without size tests.  A callback or service added after 1.0 is reached through
 * BERTH_HAS only.  No struct has padding that a later member could slide into.
 *
 * Text is NUL-terminated bytes.  Paths, arguments, environment and file names are any bytes
 * but NUL; ids are [A-Za-z0-9._:-]{1,255}; messages and labels are UTF-8.  Sizes of buffers
 * are size_t, sizes of files and offsets uint64_t, durations int64_t in the unit of the name. */
#ifndef BERTH_ABI_H
#define BERTH_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "BRTH" as a number: the same on every byte order. */
#define BERTH_ABI_MAGIC UINT32_C (0x42525448)
/* A plugin of another major is refused. */
#define BERTH_ABI_MAJOR 1
/* Grows with every addition; used for messages and masks, never for memory safety. */
#define BERTH_ABI_MINOR 0
/* A struct_size above this is garbage. */
#define BERTH_ABI_SIZE_MAX UINT32_C (65536)
/* The one symbol that a backend exports; the major is part of the name. */
#define BERTH_BACKEND_SYMBOL "berth_backend_v1"
/* File names: BERTH_BACKEND_PREFIX name BERTH_BACKEND_SUFFIX. */
#define BERTH_BACKEND_PREFIX "berth-backend-"
#define BERTH_BACKEND_SUFFIX ".so"

/* Begins struct berth_backend and struct berth_services.  Frozen for ever: 16 bytes.
 * Not called major and minor: <sys/sysmacros.h> owns those names. */
struct berth_abi
{
  uint32_t magic;       /* BERTH_ABI_MAGIC */
  uint32_t struct_size; /* of the struct that this one begins, in bytes */
  uint16_t abi_major;   /* BERTH_ABI_MAJOR of the header it was compiled with */
  uint16_t abi_minor;   /* BERTH_ABI_MINOR of that header */
  uint32_t reserved;    /* 0 */
};

/* Elements of a type that may still grow.  Never index by sizeof: use berth_item.
 * Frozen for ever: 16 bytes on 64-bit machines. */
struct berth_array
{
  const void *first; /* NULL only when count is 0; the owner of the enclosing struct owns it */
  uint32_t count;    /* elements */
  uint32_t stride;   /* sizeof the element where the array was compiled */
};

/* Initialiser of a struct berth_array from a C array of known length. */
#define BERTH_ARRAY(array)                                                                        \
  { (array), (uint32_t) (sizeof (array) / sizeof *(array)), (uint32_t) sizeof *(array) }

/* Is MEMBER inside the struct of TYPE that the other side really has? */
#define BERTH_HAS(type, pointer, member)                                                          \
  ((pointer)->struct_size >= offsetof (struct type, member) + sizeof ((pointer)->member))

/* Bit 63 of every asks mask belongs to the conformance harness: it is never given a meaning,
 * and every function that is handed it refuses with BERTH_E_CAPABILITY_NOT_SUPPORTED. */
#define BERTH_ASKS_HARNESS (UINT64_C (1) << 63)

/* Copies element INDEX of ARRAY into LOCAL, a buffer of SIZE bytes; bytes that the array's
 * element does not have are zero.  Returns 1, or 0 past the end.  Pure; since 1.0. */
static inline int
berth_item (const struct berth_array *array, uint32_t index, void *local, size_t size)
{
  if (index >= array->count || array->first == NULL)
    return 0;
  const unsigned char *from = (const unsigned char *) array->first + (size_t) index * array->stride;
  size_t have = array->stride < size ? array->stride : size;
  for (size_t i = 0; i < size; i++)
    ((unsigned char *) local)[i] = i < have ? from[i] : 0;
  return 1;
}

#if defined __GNUC__
#define BERTH_EXPORT __attribute__ ((visibility ("default")))
#define BERTH_FORMAT(string, first) __attribute__ ((format (printf, string, first)))
#else
#define BERTH_EXPORT
#define BERTH_FORMAT(string, first)
#endif

#ifdef __cplusplus
}
#endif
#endif
