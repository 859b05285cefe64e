/* directories.h - where an installation keeps what it has. */
#ifndef CORE_MANAGER_DIRECTORIES_H
#define CORE_MANAGER_DIRECTORIES_H

#include "core/manager/manager.h"
#include "core/registry/config.h"

/* A path of this length still leaves room for the socket of a sandbox in it (107 bytes in all:
 * "/" instance "/" native id "/agent.sock", with an instance's longest name). */
#define BERTH_RUNTIME_DIR_MAX 37

/* Fills config_file, owner, state_dir, runtime_dir and cache_dir, and makes the directories of
 * state and runtime: option, else environment, else berth.conf (the user's, else the system's),
 * else root's or the user's own.  *CONFIG, what berth.conf says, is the caller's, with a failure too. */
int berth_directories_find (struct berth_host *host, const struct berth_host_options *options, struct berth_config **config,
                            struct berth_error *error);

#endif
