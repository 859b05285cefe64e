/* codec.h - zstd and SHA-256, of libzstd and nettle, which are opened at the first snapshot and
 * never linked: most processes never make one. */
#ifndef CORE_MANAGER_CODEC_H
#define CORE_MANAGER_CODEC_H

#include <nettle/sha2.h>
#include <zstd.h>

#include <berth/berth.h>

#define CODEC_ZSTD_FUNCTIONS(X)                                                                                        \
  X (ZSTD_createCCtx)                                                                                                  \
  X (ZSTD_freeCCtx)                                                                                                    \
  X (ZSTD_CCtx_setParameter)                                                                                           \
  X (ZSTD_compressStream2)                                                                                             \
  X (ZSTD_createDCtx)                                                                                                  \
  X (ZSTD_freeDCtx)                                                                                                    \
  X (ZSTD_decompressStream)                                                                                            \
  X (ZSTD_isError)                                                                                                     \
  X (ZSTD_getErrorName)

#define CODEC_SHA256_FUNCTIONS(X)                                                                                      \
  X (nettle_sha256_init)                                                                                               \
  X (nettle_sha256_update)                                                                                             \
  X (nettle_sha256_digest)

struct berth_codec
{
#define CODEC_MEMBER(name) __typeof__ (name) *name;
  CODEC_ZSTD_FUNCTIONS (CODEC_MEMBER)
  CODEC_SHA256_FUNCTIONS (CODEC_MEMBER)
#undef CODEC_MEMBER
};

/* NULL with CONFIGURATION, and the packages to install as the hint.  Static. */
const struct berth_codec *berth_codec (struct berth_error *error);

#endif
