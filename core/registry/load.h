/* One backend file: checked, loaded, its table checked. */
#ifndef CORE_REGISTRY_LOAD_H
#define CORE_REGISTRY_LOAD_H

#include "core/registry/problems.h"
#include "core/registry/registry.h"

/* Loads FILE, an absolute path, and asks its table.  Everything that is wrong goes to PROBLEMS; a
 * file with one is never asked again, and is not called once it has refused.  Nothing is ever
 * unloaded: threads, exit handlers and keys of a library point into it for ever (D-156); a file
 * that is replaced is seen by the next process (D-157).  The constructors of a library run while it
 * is loaded, under the loader's lock; its functions run under none of ours. */
int berth_load (const char *file, struct berth_registered **out, struct berth_problems *problems,
                struct berth_problems *warnings);

#endif
