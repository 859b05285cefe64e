/* library.h - libarchive, opened when it is first needed and never linked: it costs a process two
 * milliseconds, and most never touch an archive. */
#ifndef BERTH_SDK_ARCHIVE_LIBRARY_H
#define BERTH_SDK_ARCHIVE_LIBRARY_H

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

#include <berth/services.h>

#define LIBARCHIVE_FUNCTIONS(X)                                                                   \
  X (archive_error_string)                                                                        \
  X (archive_write_new)                                                                           \
  X (archive_write_set_format_pax)                                                                \
  X (archive_write_set_bytes_per_block)                                                           \
  X (archive_write_open)                                                                          \
  X (archive_write_header)                                                                        \
  X (archive_write_data)                                                                          \
  X (archive_write_close)                                                                         \
  X (archive_write_free)                                                                          \
  X (archive_read_new)                                                                            \
  X (archive_read_support_format_tar)                                                             \
  X (archive_read_open)                                                                           \
  X (archive_read_next_header)                                                                    \
  X (archive_read_header_position)                                                                \
  X (archive_read_data_block)                                                                     \
  X (archive_read_free)                                                                           \
  X (archive_entry_new)                                                                           \
  X (archive_entry_clear)                                                                         \
  X (archive_entry_free)                                                                          \
  X (archive_entry_copy_pathname)                                                                 \
  X (archive_entry_pathname)                                                                      \
  X (archive_entry_set_filetype)                                                                  \
  X (archive_entry_filetype)                                                                      \
  X (archive_entry_set_perm)                                                                      \
  X (archive_entry_perm)                                                                          \
  X (archive_entry_set_uid)                                                                       \
  X (archive_entry_set_gid)                                                                       \
  X (archive_entry_copy_uname)                                                                    \
  X (archive_entry_copy_gname)                                                                    \
  X (archive_entry_set_mtime)                                                                     \
  X (archive_entry_mtime)                                                                         \
  X (archive_entry_mtime_nsec)                                                                    \
  X (archive_entry_set_size)                                                                      \
  X (archive_entry_size)                                                                          \
  X (archive_entry_copy_symlink)                                                                  \
  X (archive_entry_symlink)                                                                       \
  X (archive_entry_copy_hardlink)                                                                 \
  X (archive_entry_hardlink)                                                                      \
  X (archive_entry_acl_types)                                                                     \
  X (archive_entry_xattr_count)                                                                   \
  X (archive_entry_sparse_add_entry)                                                              \
  X (archive_entry_sparse_reset)                                                                  \
  X (archive_entry_sparse_next)

struct berth_libarchive
{
#define LIBARCHIVE_MEMBER(name) __typeof__ (name) *name;
  LIBARCHIVE_FUNCTIONS (LIBARCHIVE_MEMBER)
#undef LIBARCHIVE_MEMBER
  /* Names are bytes, which libarchive wants to convert.  Written in UTF-8 they go as they are, and only
   * those that are none are marked; read in UTF-8, decomposed letters would come out composed, but
   * read in C they are left alone.  0 where there is no such locale. */
  locale_t writing;
  locale_t reading;
};

/* NULL after fail, with the package to install as the hint.  Stays loaded. */
const struct berth_libarchive *berth_libarchive (struct berth_call *call);

#endif
