/* process.h - processes that are named by number and start time, and boots by their id: so that
 * what is on record is not mistaken for a later one of the same number. */
#ifndef BERTH_BASE_PROCESS_H
#define BERTH_BASE_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

/* Start time of a live process in clock ticks since boot; 0 when there is none or it is a zombie. */
uint64_t berth_process_start (pid_t pid);

/* A pidfd of the very process, -1 with errno ESRCH when it is gone. */
int berth_process_open (pid_t pid, uint64_t start);

/* The id of this boot of the machine, 36 characters.  0, or -1 with errno. */
#define BERTH_BOOT_ID_SIZE 37
int berth_boot_id (char text[BERTH_BOOT_ID_SIZE]);

#endif
