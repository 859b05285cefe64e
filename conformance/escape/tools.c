/* D-170: what people run goes on working, as it is. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conformance/escape/escape.h"
#include "conformance/suites/content.h"
#include "conformance/suites/run.h"

/* Each prints "works", where PROGRAM is in the sandbox; with spaces it is a command that succeeds there. */
static const struct tool
{
  const char *program;
  const char *script;
} tools[] = {
  { "bash", "bash -c 'set -o pipefail; a=(1 2 3); diff <(echo ${#a[@]}) <(echo 3) && coproc cat; echo works'" },
  { "bash", "bash -c 'shopt -s lastpipe; trap \"echo works\" EXIT; (exit 3) & wait $!; [ $? = 3 ] && printf x | read -r y'" },
  { "python3", "python3 -c 'import threading; t=[threading.Thread(target=sum, args=([1],)) for i in range(50)];"
               " [x.start() for x in t]; [x.join() for x in t]; print(\"works\")'" },
  { "python3", "python3 -m venv --without-pip v && v/bin/python -c 'import sys; print(\"works\" if sys.prefix != sys.base_prefix else 0)'" },
  { "python3", "python3 -c 'from multiprocessing import Pool, shared_memory as s; m=s.SharedMemory(create=True, size=4096);"
               " m.buf[0]=3; m.close(); m.unlink(); p=Pool(4); print(\"works\" if p.map(abs, [-1]*9)==[1]*9 else 0)'" },
  { "python3", "python3 -c 'import asyncio; p=asyncio.run(asyncio.create_subprocess_exec(\"true\")); print(\"works\")'" },
  { "python3", "python3 -c 'import sqlite3, ssl, ctypes, curses, mmap; sqlite3.connect(\"d\").execute(\"create table t(x)\"); print(\"works\")'" },
  { "gcc", "cat > t.c <<'T'\n#include <fcntl.h>\n#include <pthread.h>\n#include <semaphore.h>\n#include <stdio.h>\n#include <sys/mman.h>\n"
           "#include <unistd.h>\nstatic sem_t *s;\nstatic void *f (void *p) { (*(int *) p)++; sem_post (s); return p; }\n"
           "int main (void) { pthread_t t; int m = shm_open (\"/m\", O_CREAT | O_RDWR, 0600); if (ftruncate (m, 4096)) return 1;\n"
           "int *p = mmap (0, 4096, 3, MAP_SHARED, m, 0); s = sem_open (\"/s\", O_CREAT, 0600, 0);\n"
           "if (p == MAP_FAILED || s == SEM_FAILED || pthread_create (&t, 0, f, p)) return 2;\n"
           "sem_wait (s); pthread_join (t, 0); shm_unlink (\"/m\"); sem_unlink (\"/s\"); return puts (*p == 1 ? \"works\" : \"\") < 0; }\n"
           "T\ngcc -O2 -Wall t.c -o t -pthread -lrt && ./t" },
  { "g++", "printf '#include <iostream>\\n#include <thread>\\nint main () { std::thread t ([] { std::cout << \"works\\\\n\"; }); t.join (); }\\n' > t.cc"
           " && g++ -O1 t.cc -o tt -pthread && ./tt" },
  { "make", "mkdir -p m && cd m && for i in 1 2 3 4 5 6; do echo \"int f$i (void) { return $i; }\" > f$i.c; done &&"
            " echo '#include <stdio.h>\nint f6 (void);\nint main (void) { return puts (f6 () == 6 ? \"works\" : \"\") < 0; }' > main.c &&"
            " printf 'main: main.o f1.o f2.o f3.o f4.o f5.o f6.o\\n\\t$(CC) -o $@ $^\\n' > Makefile && make -s -j4 && ./main" },
  { "python3 -c 'import ensurepip, venv'",
    "python3 -m venv pv &&"
    " python3 -c 'import zipfile; z = zipfile.ZipFile (\"wheely-1.0-py3-none-any.whl\", \"w\");"
    " z.writestr (\"wheely.py\", \"print (\\\"works\\\")\"); d = \"wheely-1.0.dist-info/\";"
    " z.writestr (d + \"METADATA\", \"Metadata-Version: 2.1\\nName: wheely\\nVersion: 1.0\\n\");"
    " z.writestr (d + \"WHEEL\", \"Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n\");"
    " z.writestr (d + \"RECORD\", \"\"); z.close ()' &&"
    " pv/bin/pip install -q --no-index --disable-pip-version-check wheely-1.0-py3-none-any.whl >&2; pv/bin/python -c 'import wheely'" },
  { "automake", "mkdir at && cd at && printf 'AC_INIT([greet],[1.0])\nAM_INIT_AUTOMAKE([foreign])\nAC_PROG_CC\nAC_CHECK_FUNCS([strdup])\n"
                "AC_CONFIG_HEADERS([config.h])\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n' > configure.ac &&"
                " printf 'bin_PROGRAMS = greet\ngreet_SOURCES = greet.c words.c\nTESTS = greet\n' > Makefile.am &&"
                " printf '#include <config.h>\n#include <stdio.h>\nconst char *words (void);\nint main (void)"
                " { return puts (HAVE_STRDUP ? words () : \"\") < 0; }\n' > greet.c &&"
                " echo 'const char *words (void) { return \"works\"; }' > words.c && autoreconf -fi >&2 && mkdir b && cd b &&"
                " ../configure -q --prefix=/workspace/inst >&2 && make -s -j2 >&2 && make -s check install >&2 && /workspace/inst/bin/greet" },
  { "gcc", "cat > shared.c <<'T'\n#include <semaphore.h>\n#include <stdio.h>\n#include <sys/ipc.h>\n#include <sys/mman.h>\n#include <sys/msg.h>\n"
           "#include <sys/sem.h>\n#include <sys/shm.h>\n#include <sys/wait.h>\n#include <unistd.h>\n"
           "int main (void) { int m = shmget (IPC_PRIVATE, 1 << 20, IPC_CREAT | 0600), s = semget (IPC_PRIVATE, 1, 0600);\n"
           "int q = msgget (IPC_PRIVATE, 0600), *p = shmat (m, 0, 0); struct { long t; int v; } g = { 1, 7 };\n"
           "sem_t *e = mmap (0, 4096, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0); struct sembuf up = { 0, 1, 0 }, down = { 0, -1, 0 };\n"
           "if (m < 0 || s < 0 || q < 0 || p == (void *) -1 || sem_init (e, 1, 0) < 0) return 1;\n"
           "if (fork () == 0) { *p = 5; semop (s, &up, 1); msgsnd (q, &g, sizeof g.v, 0); sem_post (e); _exit (0); }\n"
           "semop (s, &down, 1); g.v = 0; msgrcv (q, &g, sizeof g.v, 1, 0); sem_wait (e); wait (0);\n"
           "shmctl (m, IPC_RMID, 0); semctl (s, 0, IPC_RMID); msgctl (q, IPC_RMID, 0); return puts (*p + g.v == 12 ? \"works\" : \"\") < 0; }\n"
           "T\ngcc -O2 -Wall shared.c -o shared -pthread && ./shared" },
  { "git", "git init -q r && cd r && git config user.name a && git config user.email a@b && echo x > f && git add f &&"
           " git commit -q -m one && git branch two && git clone -q . ../c && cd ../c && [ $(git log --oneline | wc -l) = 1 ] &&"
           " git gc -q && git fsck 2>/dev/null && echo works" },
  { "perl", "perl -MFile::Temp -MPOSIX -e 'my $p = fork; if (!$p) { exit 3 } waitpid $p, 0; print \"works\\n\" if $? >> 8 == 3'" },
  { "node", "node -e 'const {Worker}=require(\"worker_threads\"); new Worker(\"require(\\\"worker_threads\\\").parentPort.postMessage(1)\","
            " {eval: true}).on(\"message\", () => require(\"child_process\").exec(\"echo works\", (e, o) => process.stdout.write(o)))'" },
  { "script", "script -qec 'stty -a > /dev/null && tty > /dev/null && echo works' /dev/null | tr -d '\\r'" },
  { "gdb", "gdb -q -batch -ex run -ex quit --args /bin/true > /dev/null 2>&1 && echo works" },
  { "strace", "strace -f -o t.out sh -c 'true; true' && grep -q execve t.out && echo works" },
  { "tar", "mkdir -p a/b && echo x > a/b/c && ln a/b/c a/d && tar cz a | tar tz | grep -q a/d && echo works" },
  { "xargs", "seq 100 | xargs -P 8 -n 1 echo | sort -n | tail -1 | grep -q 100 && echo works" },
  { "flock", "flock l -c 'echo works'" },
  { "timeout", "timeout 1 sleep 20; [ $? = 124 ] && nice -n 5 nohup setsid -w echo works" },
};

static bool
has_program (struct suite_box *box, const char *program)
{
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  if (strchr (program, ' ') != NULL)
    suite_sh (box, &ran, 0, program);
  else
    suite_argv (box, &ran, (const char *const[]) { "/bin/sh", "-c", "command -v \"$0\"", program, NULL });
  return suite_ran_exited (&ran, 0);
}

/* What a libc asks first and then does another way must be unknown, not forbidden; what it expects must
 * work; and what is forbidden says so. */
static void
check_answers (struct suite_box *box)
{
#if defined __x86_64__
  static const char script[]
      = "for ([435, 'ENOSYS', 0, 0], [1000, 'ENOSYS', 0, 0], [425, 'ENOSYS', 1, 0], [272, 'EPERM', 0x10000000, 0], [436, '', 100, 200]) "
        "{ my ($n, $want, $a, $b) = @$_; $! = 0; my $got = syscall ($n, $a, $b, 0); "
        "print \"$n $!\\n\" unless $want eq '' ? $got == 0 : $got == -1 && $!{$want}; } "
        "my $root = '/'; print \"faccessat2 $!\\n\" if syscall (439, -100, $root, 0, 0) != 0; print \"works\\n\"";
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  if ((box->effective.posture & BERTH_POSTURE_SECCOMP) == 0 || !has_program (box, "perl"))
    return;
  suite_argv (box, &ran, (const char *const[]) { "perl", "-MErrno", "-e", script, NULL });
  SUITE_CHECK_PRINTED (box->suite, &ran, "works\n", "answers of the filter");
#else
  (void) box;
#endif
}

void
escape_tools (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  unsigned int missing = 0;

  for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
    {
      SUITE_AUTO_RAN struct suite_ran ran = { 0 };

      if (!has_program (box, tools[i].program))
        {
          missing++;
          suite_warn (suite, "no %s in this sandbox", tools[i].program);
          continue;
        }
      suite_sh (box, &ran, 240000, tools[i].script);
      SUITE_CHECK_PRINTED (suite, &ran, "works\n", tools[i].program);
    }
  check_answers (box);
  if (missing == sizeof tools / sizeof *tools)
    suite_skip (suite, "none of the tools is in the sandbox");
}
