/* process.h - whether the process is still there that a record speaks of. */
#ifndef CORE_MANAGER_PROCESS_H
#define CORE_MANAGER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#define BERTH_BOOT_ID_SIZE 40

/* The id of this boot of the machine; "" when it cannot be read. */
void berth_boot_id (char id[BERTH_BOOT_ID_SIZE]);
/* When PID started, in ticks since boot, or -1: there is none. */
int64_t berth_process_start (int64_t pid);
/* Whether the very process lives: a later one with its number is another. */
bool berth_process_is_alive (int64_t pid, int64_t start, const char *boot_id);

#endif
