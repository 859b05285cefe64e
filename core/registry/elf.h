/* What a shared object says of itself, read without running anything of it. */
#ifndef CORE_REGISTRY_ELF_H
#define CORE_REGISTRY_ELF_H

#include "core/registry/problems.h"

/* Whether the file FD can be a backend on this machine: class, machine, stack, relocations, symbols,
 * needed libraries.  Constructors run when a file is loaded, before anybody can ask its table; so
 * what a file can be refused for is found here first. */
void berth_elf_check (int fd, struct berth_problems *problems, struct berth_problems *warnings);

#endif
