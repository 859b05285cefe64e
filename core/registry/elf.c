#include "core/registry/elf.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <berth/backend.h>

#include "sdk/base/buffer.h"
#include "sdk/base/string.h"

/* Our own header, put here by the linker: what this machine's files look like. */
extern const ElfW (Ehdr) __ehdr_start __attribute__ ((visibility ("hidden")));

/* A file in memory; nothing in it is believed before its bounds are checked. */
struct image
{
  const unsigned char *bytes;
  size_t size;
  ElfW (Ehdr) header;
  uint64_t symbols, strings, strings_size, gnu_hash, hash; /* addresses in memory; 0: none */
  uint64_t flags, flags_1;
  bool bind_now, text_relocations;
  struct berth_problems *problems;
  struct berth_problems *warnings;
};

static bool
take (const struct image *image, uint64_t offset, void *to, size_t size)
{
  if (offset > image->size || size > image->size - offset)
    return false;
  memcpy (to, image->bytes + offset, size);
  return true;
}

static bool
take_segment (const struct image *image, unsigned int index, ElfW (Phdr) *segment)
{
  return index < image->header.e_phnum
         && take (image, image->header.e_phoff + (uint64_t) index * sizeof *segment, segment, sizeof *segment);
}

/* The place in the file of an address in memory. */
static bool
find_address (const struct image *image, uint64_t address, uint64_t *offset)
{
  ElfW (Phdr) segment;

  for (unsigned int i = 0; take_segment (image, i, &segment); i++)
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
      {
        *offset = segment.p_offset + (address - segment.p_vaddr);
        return true;
      }
  return false;
}

static bool
take_at (const struct image *image, uint64_t address, void *to, size_t size)
{
  uint64_t offset;

  return find_address (image, address, &offset) && take (image, offset, to, size);
}

/* A text of the string table; "" when it is not inside. */
static const char *
text_at (const struct image *image, uint64_t index)
{
  uint64_t offset;

  if (index >= image->strings_size || !find_address (image, image->strings + index, &offset) || offset >= image->size
      || memchr (image->bytes + offset, '\0', image->size - offset) == NULL)
    return "";
  return (const char *) image->bytes + offset;
}

static const char *
machine_name (unsigned int machine)
{
  switch (machine)
    {
    case EM_386:
      return "i386";
    case EM_X86_64:
      return "x86-64";
    case EM_ARM:
      return "arm";
    case EM_AARCH64:
      return "aarch64";
    case EM_RISCV:
      return "riscv";
    case EM_PPC64:
      return "ppc64";
    case EM_S390:
      return "s390";
    default:
      return "other";
    }
}

/* A file that begins like a text was probably put there by libtool or by mistake. */
static void
complain_of_magic (struct image *image)
{
  if (image->size >= 2 && image->bytes[0] == '#'
      && memmem (image->bytes, image->size < 256 ? image->size : 256, "libtool library file", 20) != NULL)
    berth_problem (image->problems, "install the .so file that it names", "is a text file of libtool (want a shared object)");
  else
    berth_problem (image->problems, "install a shared object", "is not an ELF file");
}

static bool
check_header (struct image *image)
{
  const unsigned char *here = __ehdr_start.e_ident, *there = image->header.e_ident;

  if (image->size == 0)
    berth_problem (image->problems, "install it again", "is empty");
  else if (image->size < SELFMAG || memcmp (image->bytes, ELFMAG, SELFMAG) != 0)
    complain_of_magic (image);
  else if (!take (image, 0, &image->header, sizeof image->header))
    berth_problem (image->problems, "install it again", "ends inside the ELF header");
  else if (there[EI_CLASS] != here[EI_CLASS] || there[EI_DATA] != here[EI_DATA])
    berth_problem (image->problems, "install the backend for this machine", "is %s %s-endian (want %s %s-endian)",
                   there[EI_CLASS] == ELFCLASS64 ? "64-bit" : "32-bit", there[EI_DATA] == ELFDATA2MSB ? "big" : "little",
                   here[EI_CLASS] == ELFCLASS64 ? "64-bit" : "32-bit", here[EI_DATA] == ELFDATA2MSB ? "big" : "little");
  else if (image->header.e_machine != __ehdr_start.e_machine)
    berth_problem (image->problems, "install the backend for this machine", "is for machine %u %s (want %u %s)",
                   image->header.e_machine, machine_name (image->header.e_machine), __ehdr_start.e_machine,
                   machine_name (__ehdr_start.e_machine));
  else if (image->header.e_type != ET_DYN || image->header.e_phentsize != sizeof (ElfW (Phdr)))
    berth_problem (image->problems, "link it with -shared", "is ELF type %u (want %u, a shared object)",
                   image->header.e_type, ET_DYN);
  else
    return true;
  return false;
}

/* The flags of GNU_STACK, or -1 when there is none: then the loader makes the stack executable. */
static int
stack_flags (const struct image *image)
{
  ElfW (Phdr) segment;

  for (unsigned int i = 0; take_segment (image, i, &segment); i++)
    if (segment.p_type == PT_GNU_STACK)
      return (int) (segment.p_flags & (PF_R | PF_W | PF_X));
  return -1;
}

static void
check_stack (struct image *image)
{
  int flags = stack_flags (image);

  if (flags < 0)
    berth_problem (image->problems, "link it with -Wl,-z,noexecstack",
                   "does not say that its stack is not executable (no GNU_STACK, want RW)");
  else if ((flags & PF_X) != 0)
    berth_problem (image->problems, "link it with -Wl,-z,noexecstack",
                   "wants an executable stack (GNU_STACK is RWE, want RW)");
}

static void
note_entry (struct image *image, const ElfW (Dyn) *entry)
{
  switch (entry->d_tag)
    {
    case DT_SYMTAB:
      image->symbols = entry->d_un.d_ptr;
      break;
    case DT_STRTAB:
      image->strings = entry->d_un.d_ptr;
      break;
    case DT_STRSZ:
      image->strings_size = entry->d_un.d_val;
      break;
    case DT_GNU_HASH:
      image->gnu_hash = entry->d_un.d_ptr;
      break;
    case DT_HASH:
      image->hash = entry->d_un.d_ptr;
      break;
    case DT_TEXTREL:
      image->text_relocations = true;
      break;
    case DT_BIND_NOW:
      image->bind_now = true;
      break;
    case DT_FLAGS:
      image->flags = entry->d_un.d_val;
      break;
    case DT_FLAGS_1:
      image->flags_1 = entry->d_un.d_val;
      break;
    }
}

static bool
take_dynamic (const struct image *image, unsigned int index, ElfW (Dyn) *entry)
{
  ElfW (Phdr) segment;

  for (unsigned int i = 0; take_segment (image, i, &segment); i++)
    if (segment.p_type == PT_DYNAMIC)
      return ((uint64_t) index + 1) * sizeof *entry <= segment.p_filesz
             && take (image, segment.p_offset + (uint64_t) index * sizeof *entry, entry, sizeof *entry)
             && entry->d_tag != DT_NULL;
  return false;
}

static void
check_needed (struct image *image)
{
  ElfW (Dyn) entry;

  for (unsigned int i = 0; take_dynamic (image, i, &entry); i++)
    if (entry.d_tag == DT_NEEDED && berth_string_starts_with (text_at (image, entry.d_un.d_val), "libberth.so"))
      berth_problem (image->problems, "leave -lberth out: a backend gets everything through its services",
                     "links %s, which would put a second Berth into the process", text_at (image, entry.d_un.d_val));
    else if (entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH)
      berth_problem (image->warnings, NULL, "looks for libraries in \"%s\"", text_at (image, entry.d_un.d_val));
}

static bool
is_bound_now (const struct image *image)
{
  return image->bind_now || (image->flags & DF_BIND_NOW) != 0 || (image->flags_1 & DF_1_NOW) != 0;
}

static bool
changes_text (const struct image *image)
{
  return image->text_relocations || (image->flags & DF_TEXTREL) != 0;
}

static void
check_flags (struct image *image)
{
  if (changes_text (image))
    berth_problem (image->problems, "compile it with -fPIC", "has relocations in its code (TEXTREL)");
  /* libltdl loads lazily: what is missing would end the process in the middle of a call. */
  if (!is_bound_now (image))
    berth_problem (image->problems, "link it with -Wl,-z,now", "is not bound at load time (no BIND_NOW)");
  if ((image->flags_1 & DF_1_NODELETE) == 0)
    berth_problem (image->warnings, "link it with -Wl,-z,nodelete", "does not say that it stays loaded (no NODELETE)");
}

static uint64_t
count_gnu_hash (const struct image *image)
{
  uint32_t header[4], bucket, last = 0, hash;
  uint64_t buckets, chain;

  if (!take_at (image, image->gnu_hash, header, sizeof header))
    return 0;
  buckets = image->gnu_hash + sizeof header + (uint64_t) header[2] * sizeof (ElfW (Addr));
  for (uint32_t i = 0; i < header[0] && take_at (image, buckets + (uint64_t) i * 4, &bucket, 4); i++)
    if (bucket > last)
      last = bucket;
  if (last < header[1])
    return header[1];
  chain = buckets + (uint64_t) header[0] * 4;
  do
    if (!take_at (image, chain + (uint64_t) (last - header[1]) * 4, &hash, 4))
      return last;
  while (last++, (hash & 1) == 0);
  return last;
}

static uint64_t
count_symbols (const struct image *image)
{
  uint32_t header[2];

  if (image->gnu_hash != 0)
    return count_gnu_hash (image);
  return image->hash != 0 && take_at (image, image->hash, header, sizeof header) ? header[1] : 0;
}

static bool
is_of_the_linker (const char *name)
{
  static const char *const names[] = { "_init", "_fini", "__bss_start", "_edata", "_end" };

  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp (names[i], name) == 0)
      return true;
  return false;
}

/* The next exported symbol from *INDEX on; NULL after the last. */
static const char *
next_export (const struct image *image, uint64_t count, uint64_t *index, bool *is_function)
{
  ElfW (Sym) symbol;

  while (*index < count && take_at (image, image->symbols + *index * sizeof symbol, &symbol, sizeof symbol))
    {
      const char *name = text_at (image, symbol.st_name);
      unsigned int binding = symbol.st_info >> 4;

      ++*index;
      *is_function = (symbol.st_info & 15) == STT_FUNC;
      if (symbol.st_shndx != SHN_UNDEF && (binding == STB_GLOBAL || binding == STB_WEAK) && !is_of_the_linker (name))
        return name;
    }
  return NULL;
}

/* What the exported symbols come to. */
struct exports
{
  bool entry, is_function;
  const char *other_major; /* "" for none */
  struct berth_buffer others;
  uint32_t other_count;
};

static void
complain_of_entry (struct image *image, const struct exports *exports)
{
  if (exports->entry && !exports->is_function)
    berth_problem (image->problems, "define it as a function", "%s is not a function", BERTH_BACKEND_SYMBOL);
  else if (!exports->entry && exports->other_major[0] != '\0')
    berth_problem (image->problems, "install the backend for this version of Berth", "is for another ABI (got %s, want %s)",
                   exports->other_major, BERTH_BACKEND_SYMBOL);
  else if (!exports->entry)
    berth_problem (image->problems, "define and export that function", "does not export %s: it is not a backend",
                   BERTH_BACKEND_SYMBOL);
  else if (exports->other_count > 0)
    berth_problem (image->warnings, "link it with a version script", "exports %u symbol%s beside %s: %s",
                   exports->other_count, exports->other_count == 1 ? "" : "s", BERTH_BACKEND_SYMBOL,
                   berth_buffer_string (&exports->others));
}

/* The second spelling of libltdl's would be found before the entry. */
static void
note_export (struct image *image, struct exports *exports, const char *name, bool is_function)
{
  if (strcmp (name, BERTH_BACKEND_SYMBOL) == 0)
    {
      exports->entry = true;
      exports->is_function = is_function;
      return;
    }
  if (image->problems != NULL && berth_string_ends_with (name, "_LTX_" BERTH_BACKEND_SYMBOL))
    berth_problem (image->problems, "leave that symbol out", "exports %s, which libltdl would take for %s", name,
                   BERTH_BACKEND_SYMBOL);
  if (berth_string_starts_with (name, "berth_backend_v"))
    exports->other_major = name;
  exports->other_count++;
  berth_buffer_appendf (&exports->others, exports->others.size > 0 ? ", %s" : "%s", name);
}

/* IMAGE has no list of problems when it is only read. */
static void
read_exports (struct image *image, struct exports *exports)
{
  uint64_t count = count_symbols (image), index = 1;
  bool is_function;
  const char *name;

  *exports = (struct exports) { .other_major = "", .others = { .limit = 512 } };
  while ((name = next_export (image, count, &index, &is_function)) != NULL)
    note_export (image, exports, name, is_function);
}

/* Whether there is something to go on with. */
static bool
read_dynamic (struct image *image)
{
  ElfW (Dyn) entry;

  for (unsigned int i = 0; take_dynamic (image, i, &entry); i++)
    note_entry (image, &entry);
  return image->strings != 0 && image->symbols != 0;
}

static void
check_image (struct image *image)
{
  struct exports exports;

  if (!check_header (image))
    return;
  if (!read_dynamic (image))
    {
      berth_problem (image->problems, "install it again", "has no dynamic section: it is damaged or not a shared object");
      return;
    }
  check_stack (image);
  check_flags (image);
  check_needed (image);
  read_exports (image, &exports);
  complain_of_entry (image, &exports);
  berth_buffer_free (&exports.others);
}

/* Maps the file FD into IMAGE; an empty one has no bytes. */
static bool
map_image (int fd, struct image *image)
{
  struct stat status;
  void *bytes = NULL;

  if (fstat (fd, &status) < 0)
    return false;
  image->size = (size_t) status.st_size;
  if (image->size > 0)
    bytes = mmap (NULL, image->size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (bytes == MAP_FAILED)
    return false;
  image->bytes = bytes;
  return true;
}

static void
unmap_image (struct image *image)
{
  if (image->bytes != NULL)
    munmap ((void *) image->bytes, image->size);
}

void
berth_elf_check (int fd, struct berth_problems *problems, struct berth_problems *warnings)
{
  struct image image = { .problems = problems, .warnings = warnings };

  if (map_image (fd, &image))
    check_image (&image);
  else
    berth_problem (problems, NULL, "cannot be read: %s", strerror (errno));
  unmap_image (&image);
}

static void
take_paths (const struct image *image, struct berth_buffer *paths)
{
  ElfW (Dyn) entry;

  for (unsigned int i = 0; take_dynamic (image, i, &entry); i++)
    if (entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH)
      berth_buffer_appendf (paths, paths->size > 0 ? ":%s" : "%s", text_at (image, entry.d_un.d_val));
}

static void
take_facts (struct image *image, struct berth_elf_facts *facts)
{
  struct exports exports;
  int stack = stack_flags (image);

  read_exports (image, &exports);
  facts->exports = exports.others;
  facts->export_count = exports.other_count + exports.entry;
  facts->flags = (is_bound_now (image) ? BERTH_ELF_NOW : 0) | ((image->flags_1 & DF_1_NODELETE) != 0 ? BERTH_ELF_NODELETE : 0)
                 | (changes_text (image) ? BERTH_ELF_TEXTREL : 0)
                 | (stack >= 0 && (stack & PF_X) == 0 ? BERTH_ELF_STACK : 0)
                 | (exports.entry && exports.is_function ? BERTH_ELF_ENTRY : 0);
  take_paths (image, &facts->paths);
}

int
berth_elf_read (int fd, struct berth_elf_facts *facts)
{
  BERTH_AUTO_PROBLEMS struct berth_problems problems = { 0 };
  struct image image = { .problems = &problems };
  int result = -1;

  memset (facts, 0, sizeof *facts);
  if (map_image (fd, &image) && check_header (&image) && read_dynamic (&image))
    {
      image.problems = NULL;
      take_facts (&image, facts);
      result = 0;
    }
  unmap_image (&image);
  return result;
}
