/* What a shared object says of itself, read without running anything of it. */
#ifndef CORE_REGISTRY_ELF_H
#define CORE_REGISTRY_ELF_H

#include "core/registry/problems.h"

/* Whether the file FD can be a backend on this machine: class, machine, stack, relocations, symbols,
 * needed libraries.  Constructors run when a file is loaded, before anybody can ask its table; so
 * what a file can be refused for is found here first. */
void berth_elf_check (int fd, struct berth_problems *problems, struct berth_problems *warnings);

/* What a file says, as far as it can be read; see berth_elf_read. */
#define BERTH_ELF_NOW 1u      /* bound at load time */
#define BERTH_ELF_NODELETE 2u /* stays loaded */
#define BERTH_ELF_TEXTREL 4u  /* changes its code when it is loaded */
#define BERTH_ELF_STACK 8u    /* says that its stack is not executable */
#define BERTH_ELF_ENTRY 16u   /* exports BERTH_BACKEND_SYMBOL, a function */
struct berth_elf_facts
{
  uint32_t flags;              /* BERTH_ELF_* */
  uint32_t export_count;       /* the entry too */
  struct berth_buffer exports; /* names, the entry left out, with ", " between */
  struct berth_buffer paths;   /* where it looks for libraries, with ":" between */
};

/* For who judges a file rather than loads it.  0, or -1 when it is no shared object of this machine.  The
 * buffers are the caller's to free. */
int berth_elf_read (int fd, struct berth_elf_facts *facts);

#endif
