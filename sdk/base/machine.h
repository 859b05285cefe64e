/* machine.h - what of a machine sandboxes need, asked in one way by the backends that use it and by
 * `berth doctor`, which tells of it.
 *
 * ROOT stands before the path of each file: "" for this machine.  UID is who asks. */
#ifndef BERTH_BASE_MACHINE_H
#define BERTH_BASE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define BERTH_MACHINE_TUN "/dev/net/tun"
#define BERTH_MACHINE_LOOP "/dev/loop-control"

enum berth_machine_lack
{
  BERTH_MACHINE_LACKS_NOTHING = 0,
  BERTH_MACHINE_LACKS_PROGRAM,
  BERTH_MACHINE_LACKS_DEVICE, /* it is not there */
  BERTH_MACHINE_LACKS_RIGHT   /* it is, for others */
};

/* What a network needs: pasta in PATH, and BERTH_MACHINE_TUN.  *PROGRAM, where it is found, is the
 * caller's. */
enum berth_machine_lack berth_machine_network (const char *root, uid_t uid, char **program);
/* What a workspace of a limited size needs: root, BERTH_MACHINE_LOOP and mkfs.ext4. */
enum berth_machine_lack berth_machine_disk (const char *root, uid_t uid, char **program);

/* The first of COUNT ids in one piece that FILE (/etc/subuid, /etc/subgid) gives to the user, by NAME
 * or number; 0 when it gives none, and then *MOST is how many it gives in one piece. */
uint32_t berth_machine_subordinates (const char *root, const char *file, const char *name, uid_t uid, uint64_t count, uint64_t *most);

/* Whether the cgroup DIRECTORY is one that the user's systemd keeps for itself: it owns what it does
 * not delegate too, and undoes what others do there. */
bool berth_machine_is_systemds (const char *directory);

#endif
