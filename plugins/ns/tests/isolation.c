/* isolation.c - what a sandbox of ns sees, and what it may call. */
#include <CUnit/CUnit.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugins/ns/tests/host.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

static void
assert_output (struct guest *guest, const char *script, const char *wanted)
{
  const char *got = guest_output (guest, script);

  if (strcmp (got, wanted) != 0)
    fprintf (stderr, "%s: \"%s\", not \"%s\"\n", script, got, wanted);
  CU_ASSERT_STRING_EQUAL (got, wanted);
}

/* ---- secrets ---- */

#define SECRET "berth-secret-7f3a"

/* What of the host's is shown on purpose: programs and libraries. */
static bool
is_shown (const char *name)
{
  return strcmp (name, "usr") == 0 || strcmp (name, "bin") == 0 || strcmp (name, "sbin") == 0
         || strncmp (name, "lib", 3) == 0;
}

static bool
plant (const char *directory, char *path, size_t size)
{
  snprintf (path, size, "%s/" SECRET, directory);
  BERTH_AUTO_FD int fd = open (path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  return fd >= 0 && write (fd, SECRET, strlen (SECRET)) > 0 && fchown (fd, 1000, 1000) == 0 && fchmod (fd, 0644) == 0;
}

static void
no_secret_in_any_top_level_directory (void)
{
  struct host host;
  struct guest guest;
  char path[300];
  int planted = 0;

  if (!guest_alone (&host, &guest, NULL))
    return;
  BERTH_AUTO_DIR DIR *top = opendir ("/");
  for (struct dirent *entry; (entry = readdir (top)) != NULL;)
    {
      BERTH_AUTO_FREE char *directory = berth_string_format ("/%s", entry->d_name);
      if (entry->d_name[0] == '.' || is_shown (entry->d_name) || !plant (directory, path, sizeof path))
        continue;
      BERTH_AUTO_FREE char *script
          = berth_string_format ("cat %s 2>/dev/null || cat /proc/1/root%s 2>/dev/null || echo none", path, path);
      planted++;
      assert_output (&guest, script, "none");
      unlink (path);
    }
  /* The control: a place that is shown can be read. */
  CU_ASSERT (planted >= 5);
  if (plant ("/usr/share", path, sizeof path))
    {
      assert_output (&guest, "cat /usr/share/" SECRET, SECRET);
      unlink (path);
    }
  guest_alone_end (&host, &guest);
}

static void
the_hosts_accounts_are_not_there (void)
{
  struct host host;
  struct guest guest;

  if (!guest_alone (&host, &guest, NULL))
    return;
  assert_output (&guest, "cut -d: -f1 /etc/passwd | tr '\\n' ' '", "root daemon bin sys mail www-data sandbox nobody ");
  assert_output (&guest, "ls /etc/shadow /etc/gshadow /etc/sudoers /etc/ssh /etc/ssl/private 2>/dev/null | wc -l", "0");
  assert_output (&guest, "cat /etc/resolv.conf | wc -c", "0");
  assert_output (&guest, "cat /etc/hostname", "sandbox");
  assert_output (&guest, "hostname", "sandbox");
  guest_alone_end (&host, &guest);
}

/* ---- mounts ---- */

static void
only_the_sandboxes_own_can_be_written (void)
{
  struct host host;
  struct guest guest;

  if (!guest_alone (&host, &guest, NULL))
    return;
  assert_output (&guest,
                 "for d in / /usr /usr/bin /etc /dev /sys /proc/sys /proc/sys/kernel /var /opt /home /root /sys/devices/system/cpu; do"
                 " (: > $d/x) 2>/dev/null && echo $d; mkdir $d/y 2>/dev/null && echo $d; done; echo done",
                 "done");
  /* Root of the sandbox has a home of its own, and is not above the owner of /workspace. */
  for (int root = 0; root < 2; root++)
    {
      BERTH_AUTO_BUFFER struct berth_buffer out = { 0 };
      guest_run (&guest, root ? "root" : NULL,
                 "for d in /usr /etc /dev /proc/sys/kernel /var / ; do (: > $d/x) 2>/dev/null && echo $d; done;"
                 " for d in $HOME /tmp /var/tmp /dev/shm /run/lock; do (: > $d/x$$) 2>/dev/null || echo not $d; done",
                 &out, NULL, NULL);
      CU_ASSERT_STRING_EQUAL (berth_buffer_string (&out), "");
    }
  /* Every mount of the host's is read-only, nosuid and nodev but for the devices. */
  assert_output (&guest,
                 "awk '$4 != \"/\" && $5 !~ \"^/(workspace|tmp|var/tmp|run|root|dev)\" && ($6 !~ /ro/ || $6 !~ /nosuid/) {print}"
                 " ' /proc/self/mountinfo | wc -l",
                 "0");
  assert_output (&guest, "awk '$6 !~ /nosuid/ {print}' /proc/self/mountinfo | wc -l", "0");
  assert_output (&guest, "awk '$5 ~ \"^/workspace\" && $6 ~ /nodev/' /proc/self/mountinfo | wc -l", "1");
  guest_alone_end (&host, &guest);
}

static void
what_proc_tells_about_the_machine_is_covered (void)
{
  struct host host;
  struct guest guest;

  if (!guest_alone (&host, &guest, NULL))
    return;
  /* Files, and directories; what this kernel has not needs no cover. */
  assert_output (&guest,
                 "for f in buddyinfo cmdline config.gz consoles diskstats dma interrupts iomem ioports kallsyms kcore key-users keys kmsg"
                 " latency_stats locks misc modules mtrr partitions sched_debug schedstat softirqs swaps sysrq-trigger timer_list timer_stats zoneinfo; do"
                 " [ -e /proc/$f ] || continue; [ -f /proc/$f ] && [ -z \"$(cat /proc/$f 2>&1)\" ] || echo $f;"
                 " (echo 1 > /proc/$f) 2>/dev/null && echo writes $f; done; echo looked",
                 "looked");
  assert_output (&guest,
                 "for d in acpi asound bus driver fs irq pressure scsi; do [ -z \"$(ls -A /proc/$d 2>/dev/null)\" ] || echo $d; done; echo looked",
                 "looked");
  assert_output (&guest, "ls /sys", "devices\nkernel");
  assert_output (&guest, "ls /sys/firmware /sys/fs /sys/class /sys/kernel/security 2>/dev/null | wc -l", "0");
  assert_output (&guest, "nproc >/dev/null && head -c 1 /proc/cpuinfo | wc -c", "1");
  /* The control: outside they do tell something. */
  CU_ASSERT (access ("/proc/interrupts", R_OK) == 0 && access ("/sys/class", R_OK) == 0);
  guest_alone_end (&host, &guest);
}

static void
devices_are_the_harmless_ones (void)
{
  struct host host;
  struct guest guest;

  if (!guest_alone (&host, &guest, NULL))
    return;
  assert_output (&guest, "stat -c '%n %F' /dev/* | grep special | cut -d' ' -f1 | tr '\\n' ' '",
                 "/dev/full /dev/null /dev/random /dev/tty /dev/urandom /dev/zero ");
  assert_output (&guest, "head -c 4 /dev/zero | wc -c; echo x > /dev/null; head -c 4 /dev/urandom | wc -c", "4\n4");
  BERTH_AUTO_BUFFER struct berth_buffer out = { 0 };
  guest_run (&guest, "root", "mknod /tmp/sda b 8 0 2>/dev/null && echo made; mknod /tmp/null c 1 3 2>/dev/null && echo made", &out, NULL,
             NULL);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&out), "");
  guest_alone_end (&host, &guest);
}

/* ---- identity ---- */

static void
ids_and_privileges (void)
{
  struct host host;
  struct guest guest;
  char path[64];
  struct stat status;

  if (!guest_alone (&host, &guest, NULL))
    return;
  assert_output (&guest, "id", "uid=1000(sandbox) gid=1000(sandbox) groups=1000(sandbox)");
  assert_output (&guest, "echo $HOME; pwd", "/workspace\n/workspace");
  assert_output (&guest, "grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t' | tr '\\n' ' '",
                 "CapInh:0000000000000000 CapPrm:0000000000000000 CapEff:0000000000000000 CapBnd:0000000000000000 "
                 "CapAmb:0000000000000000 NoNewPrivs:1 Seccomp:2 ");
  BERTH_AUTO_BUFFER struct berth_buffer out = { 0 };
  CU_ASSERT_EQUAL (guest_run (&guest, "root", "id -u; grep CapEff /proc/self/status | tr -d '\\t'", &out, NULL, NULL), 0);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&out), "0\nCapEff:0000000000000000\n");
  /* Of the host's ids none is used: neither by the agent nor by what it writes. */
  snprintf (path, sizeof path, "/proc/%d", (int) guest.pid);
  CU_ASSERT_EQUAL (stat (path, &status), 0);
  CU_ASSERT (guest.pid > 0 && status.st_uid >= 65536);
  guest_run (&guest, NULL, "touch /workspace/mine", NULL, NULL, NULL);
  BERTH_AUTO_FREE char *file = berth_string_format ("%s/boxes/%s/workspace/mine", host.directory[0], guest.id);
  CU_ASSERT_EQUAL (stat (file, &status), 0);
  CU_ASSERT (status.st_uid > 65536);
  /* Where the kernel looks for the users of another sandbox is another place, of 128. */
  CU_ASSERT_EQUAL (status.st_uid % 65536, (1000 + status.st_uid / 65536 % 128 * 128) % 65536);
  guest_alone_end (&host, &guest);
}

static void
setuid_files_are_inert (void)
{
  struct host host;
  struct guest guest;

  if (!guest_alone (&host, &guest, NULL))
    return;
  CU_ASSERT_EQUAL (guest_run (&guest, "root", "cp /usr/bin/id /tmp/id && chmod 4755 /tmp/id", NULL, NULL, NULL), 0);
  assert_output (&guest, "/tmp/id -u", "1000");
  guest_alone_end (&host, &guest);
}

/* Those of the machine's own programs, one of which is made here: outside it makes root of anybody. */
static void
setuid_files_of_the_machine_are_inert (void)
{
  static const char file[] = "/usr/share/" SECRET;
  struct host host;
  struct guest guest;

  if (!guest_alone (&host, &guest, NULL))
    return;
  if (system ("cp /usr/bin/id /usr/share/" SECRET " && chmod 4755 /usr/share/" SECRET) != 0)
    berth_test_skip ("/usr cannot be written");
  else
    {
      CU_ASSERT_EQUAL (system ("setpriv --reuid 61234 --clear-groups /usr/share/" SECRET " -u | grep -qx 0"), 0);
      assert_output (&guest, "stat -c %A /usr/share/" SECRET "; /usr/share/" SECRET " -u", "-rwsr-xr-x\n1000");
      unlink (file);
    }
  guest_alone_end (&host, &guest);
}

static void
nothing_of_the_host_is_visible (void)
{
  struct host host;
  struct guest guest;

  if (!guest_alone (&host, &guest, NULL))
    return;
  assert_output (&guest, "[ $(ls -d /proc/[0-9]* | wc -l) -lt 12 ] && cat /proc/1/comm", "berth-agent");
  assert_output (&guest, "ls /sys/class/net 2>/dev/null; tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '", "lo");
  assert_output (&guest, "cat /proc/net/unix | grep -c @; ls /proc/sysvipc/shm >/dev/null && wc -l < /proc/sysvipc/shm", "0\n1");
  assert_output (&guest, "readlink /proc/1/exe /proc/1/root /proc/1/cwd 2>/dev/null | wc -l; ls /proc/1/fd 2>/dev/null | wc -l", "0\n0");
  assert_output (&guest, "cat /proc/1/environ 2>/dev/null | wc -c", "0");
  assert_output (&guest, "cat /proc/self/cgroup | grep -c berth", "0");
  BERTH_AUTO_BUFFER struct berth_buffer out = { 0 };
  guest_run (&guest, "root", "kill -9 1; kill -STOP 1; readlink /proc/1/fd/* /proc/1/exe; ls -d /proc/1/root/* /proc/1/map_files/* 2>/dev/null; (: > /proc/1/exe) 2>/dev/null && echo wrote; echo alive",
             &out, NULL, NULL);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&out), "alive\n");
  guest_alone_end (&host, &guest);
}

static void
the_loopback_is_up_and_alone (void)
{
  struct host host;
  struct guest guest;

  if (!guest_alone (&host, &guest, NULL))
    return;
  assert_output (&guest,
                 "perl -e 'use Socket;"
                 " socket (my $l, AF_INET, SOCK_STREAM, 0); bind ($l, sockaddr_in (0, INADDR_LOOPBACK)) && listen ($l, 1) or die;"
                 " socket (my $c, AF_INET, SOCK_STREAM, 0); connect ($c, getsockname ($l)) && print \"own\\n\";"
                 " socket (my $o, AF_INET, SOCK_STREAM, 0);"
                 " print connect ($o, sockaddr_in (80, inet_aton (\"192.0.2.1\"))) ? \"out\" : $! + 0'",
                 "own\n101");
  guest_alone_end (&host, &guest);
}

static void
no_descriptor_comes_along (void)
{
  struct host host;
  struct guest guest;
  /* Not close-on-exec, as a careless application's. */
  int careless = open ("/etc/passwd", O_RDONLY);

  if (guest_alone (&host, &guest, NULL))
    {
      BERTH_AUTO_FREE char *path = berth_string_format ("/proc/%d/fd", (int) guest.pid);
      BERTH_AUTO_DIR DIR *fds = opendir (path);
      for (struct dirent *entry; fds != NULL && (entry = readdir (fds)) != NULL;)
        {
          char target[256] = "";
          if (readlinkat (dirfd (fds), entry->d_name, target, sizeof target - 1) > 0)
            CU_ASSERT (target[0] != '/' || strcmp (target, "/dev/null") == 0 || strcmp (target, "/proc") == 0
                       || strcmp (target, "/") == 0 || strncmp (target, "/memfd:berth-agent-errors", 25) == 0);
        }
      CU_ASSERT_PTR_NOT_NULL (fds);
      assert_output (&guest, "ls /proc/self/fd | tr '\\n' ' '", "0 1 2 3 ");
      guest_alone_end (&host, &guest);
    }
  close (careless);
}

/* ---- system calls ---- */

static char *
calls_program (void)
{
  const char *build = getenv ("BERTH_TEST_BUILDDIR");

  return berth_string_format ("%s/plugins/ns/tests/calls", build != NULL ? build : ".");
}

static void
run_outside (const char *program, const char *entry, struct berth_buffer *out)
{
  BERTH_AUTO_FREE char *command = berth_string_format ("%s %s", program, entry);
  FILE *pipe = popen (command, "r");
  char line[256];

  while (pipe != NULL && fgets (line, sizeof line, pipe) != NULL)
    berth_buffer_append_string (out, line);
  if (pipe != NULL)
    pclose (pipe);
}

static int
errno_of (const char *lines, const char *name)
{
  BERTH_AUTO_FREE char *needle = berth_string_format ("\n%s ", name);
  const char *at = strncmp (lines, needle + 1, strlen (needle + 1)) == 0 ? lines - 1 : strstr (lines, needle);

  return at != NULL ? atoi (at + strlen (needle)) : -1;
}

static bool
is_refusal (int number)
{
  return number == EPERM || number == ENOSYS || number == EAFNOSUPPORT || number == EPROTONOSUPPORT;
}

static void
check_entry (struct guest *guest, const char *program, const char *entry)
{
  BERTH_AUTO_BUFFER struct berth_buffer inside = { 0 }, outside = { 0 };
  BERTH_AUTO_FREE char *script = berth_string_format ("/workspace/calls %s", entry);
  int refused = 0, controls = 0;

  CU_ASSERT_EQUAL (guest_run (guest, NULL, script, &inside, NULL, NULL), 0);
  run_outside (program, entry, &outside);
  BERTH_AUTO_FREE char *copy = strdup (berth_buffer_string (&inside));
  char *save = NULL;
  for (char *line = strtok_r (copy, "\n", &save); line != NULL; line = strtok_r (NULL, "\n", &save))
    {
      char name[64];
      int number;
      if (sscanf (line, "%63s %d", name, &number) != 2 || strcmp (name, "getppid") == 0)
        continue;
      if (!is_refusal (number))
        fprintf (stderr, "%s by %s: errno %d\n", name, entry, number);
      CU_ASSERT (is_refusal (number));
      refused++;
      controls += !is_refusal (errno_of (berth_buffer_string (&outside), name));
    }
  CU_ASSERT (refused >= 30);
  /* The control: most of the same calls get past the entry outside, and harmless ones do inside. */
  if (strcmp (entry, "64") == 0)
    {
      CU_ASSERT (controls >= 20);
      CU_ASSERT_EQUAL (errno_of (berth_buffer_string (&inside), "getppid"), 0);
      CU_ASSERT_EQUAL (errno_of (berth_buffer_string (&inside), "clone3"), ENOSYS);
    }
  else
    CU_ASSERT_EQUAL (errno_of (berth_buffer_string (&inside), "getppid"), ENOSYS);
}

static void
refused_calls (void)
{
  BERTH_AUTO_FREE char *program = calls_program ();
  struct host host;
  struct guest guest;

#if !defined __x86_64__
  berth_test_skip ("the numbers are of x86-64");
  return;
#endif
  if (!guest_alone (&host, &guest, NULL))
    return;
  CU_ASSERT_TRUE (guest_write (&guest, "/workspace/calls", program, 0755));
  check_entry (&guest, program, "64");
  check_entry (&guest, program, "x32");
  check_entry (&guest, program, "i386");
  guest_alone_end (&host, &guest);
}

static void
ordinary_tools_work (void)
{
  static const char *const scripts[][2] = {
    { "bash", "bash -c 'set -o pipefail; a=(1 2 3); echo ${#a[@]} | cat'" },
    { "python3", "python3 -c 'import threading; t=[threading.Thread(target=lambda: None) for i in range(20)];"
                 " [x.start() for x in t]; [x.join() for x in t]; print(3)'" },
    { "python3", "python3 -c 'from multiprocessing import shared_memory as s; m=s.SharedMemory(create=True,size=4096);"
                 " m.buf[0]=3; print(m.buf[0]); m.close(); m.unlink()'" },
    { "python3", "python3 -c 'import subprocess,tempfile; print(subprocess.run([\"echo\",\"3\"],capture_output=True,text=True).stdout.strip())'" },
    { "gcc", "echo 'int puts(const char*); int main(void){puts(\"3\");return 0;}' > a.c && gcc -O1 a.c -o a && ./a" },
    { "make", "printf 'all:\\n\\t@echo 3\\n' > Makefile && make -s" },
    { "git", "git init -q r && cd r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git log --oneline | wc -l | sed s/1/3/" },
    { "perl", "perl -e 'my $p = fork; if (!$p) { exit 3 } waitpid $p, 0; print $? >> 8, \"\\n\"'" },
    { "script", "script -qec 'tty >/dev/null && echo 3' /dev/null | tr -d '\\r'" },
  };
  struct host host;
  struct guest guest;

  if (!guest_alone (&host, &guest, NULL))
    return;
  for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
    {
      BERTH_AUTO_FREE char *there = berth_string_format ("/usr/bin/%s", scripts[i][0]);
      if (access (there, X_OK) == 0)
        assert_output (&guest, scripts[i][1], "3");
    }
  guest_alone_end (&host, &guest);
}

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#endif

/* A process has room for 16 rule sets, one of which is ours already. */
static void
landlock_is_in_force (void)
{
  struct host host;
  struct guest guest;

  if (syscall (SYS_landlock_create_ruleset, NULL, 0, 1) < 2)
    {
      berth_test_skip ("the kernel has no Landlock, or its first version");
      return;
    }
  if (!guest_alone (&host, &guest, NULL))
    return;
  assert_output (&guest,
                 "perl -e '$handled = pack (\"Q\", 2); while (($fd = syscall (444, $handled, 8, 0)) >= 0 && syscall (446, $fd, 0) == 0)"
                 " { $count++ } print $count'",
                 "15");
  guest_alone_end (&host, &guest);
}

/* D-052: a link inside is resolved inside. */
static void
links_lead_nowhere (void)
{
  static const char *const targets[] = { "/tmp", "/etc", "../../../..", "/proc/self/root/tmp", "/root" };
  struct host host;
  struct guest guest;

  if (!guest_alone (&host, &guest, NULL))
    return;
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
    {
      BERTH_AUTO_FREE char *script = berth_string_format ("rm -f out; ln -s %s out", targets[i]);
      CU_ASSERT_EQUAL (guest_run (&guest, NULL, script, NULL, NULL, NULL), 0);
      CU_ASSERT_FALSE (guest_write (&guest, "/workspace/out/" SECRET, "/etc/hostname", 0644));
    }
  CU_ASSERT_EQUAL (access ("/tmp/" SECRET, F_OK), -1);
  CU_ASSERT_EQUAL (access ("/etc/" SECRET, F_OK), -1);
  CU_ASSERT_EQUAL (access ("/" SECRET, F_OK), -1);
  /* The control: a link that stays inside is followed. */
  guest_run (&guest, NULL, "mkdir in; rm -f out; ln -s in out", NULL, NULL, NULL);
  CU_ASSERT_TRUE (guest_write (&guest, "/workspace/out/" SECRET, "/etc/hostname", 0644));
  assert_output (&guest, "ls in", SECRET);
  guest_alone_end (&host, &guest);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "E19 no secret of a top-level directory can be read", no_secret_in_any_top_level_directory },
    { "E19 the host's accounts and names are not there", the_hosts_accounts_are_not_there },
    { "E18 only the sandbox's own can be written", only_the_sandboxes_own_can_be_written },
    { "E18 what proc tells about the machine is covered", what_proc_tells_about_the_machine_is_covered },
    { "E18 devices are the harmless ones", devices_are_the_harmless_ones },
    { "E18 ids and privileges", ids_and_privileges },
    { "E18 setuid files are inert", setuid_files_are_inert },
    { "E18 setuid files of the machine are inert", setuid_files_of_the_machine_are_inert },
    { "E19 nothing of the host is visible, and the agent is out of reach", nothing_of_the_host_is_visible },
    { "N01 the loopback is up, and alone", the_loopback_is_up_and_alone },
    { "B49 no descriptor of the host's comes along", no_descriptor_comes_along },
    { "E18 refused calls, in the three entries of x86-64", refused_calls },
    { "E18 ordinary tools work", ordinary_tools_work },
    { "E18 Landlock is in force where the kernel has it", landlock_is_in_force },
    { "D-052 links lead nowhere outside", links_lead_nowhere },
    { NULL, NULL },
  };

  return host_main_of_root ("ns: isolation", tests);
}
