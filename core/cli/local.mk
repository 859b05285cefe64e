# berth: the front door. It uses libberth through its public functions only; of the ground floor it
# takes its own copy. What is made of the tables alone is also linked into mkmanual.
CLI_TABLES = %D%/complete.c %D%/manual.c %D%/manual.h %D%/options.c %D%/options.h %D%/suggest.c %D%/suggest.h %D%/tables.c
CLI_FORMAT = %D%/text.c %D%/text.h
CLI_CHECKS = %D%/cgroups.c %D%/checks.c %D%/checks.h %D%/machine.c

bin_PROGRAMS += %D%/berth
%C%_berth_SOURCES = $(CLI_TABLES) $(CLI_FORMAT) %D%/backends.c $(CLI_CHECKS) %D%/cli.h %D%/completion.c \
	%D%/copy.c %D%/copy.h %D%/copy_in.c %D%/copy_out.c %D%/copy_place.c %D%/cp.c %D%/hosttree.c %D%/hosttree.h \
	%D%/progress.c %D%/progress.h %D%/tarcall.c %D%/tarcall.h \
	%D%/config.c %D%/create.c %D%/doctor.c %D%/env.c %D%/events.c %D%/exec.c %D%/execute.c %D%/execute.h %D%/files.c %D%/help.c \
	%D%/host.c %D%/inspect.c %D%/life.c %D%/ls.c %D%/main.c %D%/output.c %D%/output.h %D%/read.c %D%/reap.c %D%/rebuild.c %D%/renew.c %D%/report.c %D%/rm.c %D%/run.c \
	%D%/sandbox.c %D%/sandbox.h %D%/secret.c %D%/secret.h %D%/signals.c %D%/signals.h %D%/snapshot.c %D%/spec.c %D%/spec.h %D%/status.h %D%/stream.c %D%/stream.h %D%/version.c %D%/write.c
%C%_berth_CPPFLAGS = $(AM_CPPFLAGS) $(PATHS_CPPFLAGS)
%C%_berth_CFLAGS = $(AM_CFLAGS) $(PIE_CFLAGS)
%C%_berth_LDFLAGS = $(AM_LDFLAGS) $(PIE_LDFLAGS)
%C%_berth_LDADD = core/libberth.la sdk/archive/libarchiveio.la sdk/base/libjson.la sdk/base/libbase.la

# Prints what is made of the tables: the man page's source (see docs/local.mk) and completion.
noinst_PROGRAMS += %D%/mkmanual
%C%_mkmanual_SOURCES = %D%/mkmanual.c $(CLI_TABLES)
%C%_mkmanual_LDADD = sdk/base/libbase.la

bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
fishcompletiondir = $(datadir)/fish/vendor_completions.d
nodist_bashcompletion_DATA = %D%/berth.bash/berth
nodist_zshcompletion_DATA = %D%/berth.zsh/_berth
nodist_fishcompletion_DATA = %D%/berth.fish/berth.fish
CLI_COMPLETION = $(nodist_bashcompletion_DATA) $(nodist_zshcompletion_DATA) $(nodist_fishcompletion_DATA)
CLEANFILES += $(CLI_COMPLETION)
$(CLI_COMPLETION): %D%/mkmanual$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && shell=$(@D) && %D%/mkmanual$(EXEEXT) completion "$${shell##*.}" > $@.tmp && mv $@.tmp $@

check_PROGRAMS += %D%/tests/machine %D%/tests/options %D%/tests/text
TESTS += %D%/tests/machine %D%/tests/options %D%/tests/text
%C%_tests_machine_SOURCES = %D%/tests/machine.c %D%/cgroups.c %D%/checks.h %D%/machine.c
%C%_tests_machine_LDADD = $(TEST_LIBS)
%C%_tests_options_SOURCES = %D%/tests/options.c $(CLI_TABLES)
%C%_tests_options_LDADD = $(TEST_LIBS)
%C%_tests_text_SOURCES = %D%/tests/text.c $(CLI_FORMAT)
%C%_tests_text_LDADD = $(TEST_LIBS)

# The same two programs on each backend; `ns` wants root.
CLI_PROCESS = %D%/tests/process.c %D%/tests/process.h
CLI_PROCESS_TESTS = %D%/tests/crash-fake %D%/tests/crash-ns %D%/tests/upkeep-fake %D%/tests/upkeep-ns %D%/tests/front-fake %D%/tests/disk-fake %D%/tests/disk-ns %D%/tests/idle-fake %D%/tests/idle-ns %D%/tests/ending-fake %D%/tests/cp-fake %D%/tests/snapshot-fake %D%/tests/snapshot-ns %D%/tests/front-ns %D%/tests/ending-ns %D%/tests/cp-ns %D%/tests/cases-ns
check_PROGRAMS += $(CLI_PROCESS_TESTS)
TESTS += %D%/tests/weight.sh %D%/tests/ordinary-user $(CLI_PROCESS_TESTS)
EXTRA_DIST += %D%/tests/weight.sh %D%/tests/ordinary-user
LONG_TESTS += %D%/tests/crash-fake %D%/tests/crash-ns %D%/tests/snapshot-ns %D%/tests/upkeep-fake
%C%_tests_upkeep_fake_SOURCES = %D%/tests/upkeep.c $(CLI_PROCESS)
%C%_tests_upkeep_fake_CPPFLAGS = $(AM_CPPFLAGS) -DBACKEND='"fake"'
%C%_tests_upkeep_fake_LDADD = sdk/base/libjson.la $(TEST_LIBS)
%C%_tests_upkeep_ns_SOURCES = %D%/tests/upkeep.c $(CLI_PROCESS)
%C%_tests_upkeep_ns_CPPFLAGS = $(AM_CPPFLAGS) -DBACKEND='"ns"' -DEXECUTES
%C%_tests_upkeep_ns_LDADD = sdk/base/libjson.la $(TEST_LIBS)
%C%_tests_crash_fake_SOURCES = %D%/tests/crash.c $(CLI_PROCESS)
%C%_tests_crash_fake_CPPFLAGS = $(AM_CPPFLAGS) -DBACKEND='"fake"'
%C%_tests_crash_fake_LDADD = sdk/base/libjson.la $(TEST_LIBS)
%C%_tests_crash_ns_SOURCES = %D%/tests/crash.c $(CLI_PROCESS)
%C%_tests_crash_ns_CPPFLAGS = $(AM_CPPFLAGS) -DBACKEND='"ns"' -DEXECUTES
%C%_tests_crash_ns_LDADD = sdk/base/libjson.la $(TEST_LIBS)
%C%_tests_disk_fake_SOURCES = %D%/tests/disk.c $(CLI_PROCESS)
%C%_tests_disk_fake_CPPFLAGS = $(AM_CPPFLAGS) -DBACKEND='"fake"'
%C%_tests_disk_fake_LDADD = sdk/base/libjson.la $(TEST_LIBS)
%C%_tests_disk_ns_SOURCES = %D%/tests/disk.c $(CLI_PROCESS)
%C%_tests_disk_ns_CPPFLAGS = $(AM_CPPFLAGS) -DBACKEND='"ns"' -DEXECUTES
%C%_tests_disk_ns_LDADD = sdk/base/libjson.la $(TEST_LIBS)
%C%_tests_idle_fake_SOURCES = %D%/tests/idle.c $(CLI_PROCESS)
%C%_tests_idle_fake_CPPFLAGS = $(AM_CPPFLAGS) -DBACKEND='"fake"'
%C%_tests_idle_fake_LDADD = sdk/base/libjson.la $(TEST_LIBS)
%C%_tests_idle_ns_SOURCES = %D%/tests/idle.c $(CLI_PROCESS)
%C%_tests_idle_ns_CPPFLAGS = $(AM_CPPFLAGS) -DBACKEND='"ns"' -DEXECUTES
%C%_tests_idle_ns_LDADD = sdk/base/libjson.la $(TEST_LIBS)
%C%_tests_front_fake_SOURCES = %D%/tests/front.c $(CLI_PROCESS)
%C%_tests_front_fake_CPPFLAGS = $(AM_CPPFLAGS) -DBACKEND='"fake"'
%C%_tests_front_fake_LDADD = sdk/base/libjson.la $(TEST_LIBS)
%C%_tests_snapshot_fake_SOURCES = %D%/tests/snapshot.c $(CLI_PROCESS)
%C%_tests_snapshot_fake_CPPFLAGS = $(AM_CPPFLAGS) -DBACKEND='"fake"'
%C%_tests_snapshot_fake_LDADD = sdk/base/libjson.la $(TEST_LIBS)
%C%_tests_snapshot_ns_SOURCES = %D%/tests/snapshot.c $(CLI_PROCESS)
%C%_tests_snapshot_ns_CPPFLAGS = $(AM_CPPFLAGS) -DBACKEND='"ns"' -DEXECUTES
%C%_tests_snapshot_ns_LDADD = sdk/base/libjson.la $(TEST_LIBS)
%C%_tests_ending_fake_SOURCES = %D%/tests/ending.c $(CLI_PROCESS)
%C%_tests_ending_fake_CPPFLAGS = $(AM_CPPFLAGS) -DBACKEND='"fake"'
%C%_tests_ending_fake_LDADD = sdk/base/libjson.la $(TEST_LIBS)
%C%_tests_front_ns_SOURCES = %D%/tests/front.c $(CLI_PROCESS)
%C%_tests_front_ns_CPPFLAGS = $(AM_CPPFLAGS) -DBACKEND='"ns"' -DEXECUTES
%C%_tests_front_ns_LDADD = sdk/base/libjson.la $(TEST_LIBS)
%C%_tests_cases_ns_SOURCES = %D%/tests/cases.c $(CLI_PROCESS)
%C%_tests_cases_ns_CPPFLAGS = $(AM_CPPFLAGS) -DBACKEND='"ns"' -DEXECUTES
%C%_tests_cases_ns_LDADD = sdk/base/libjson.la $(TEST_LIBS)
%C%_tests_ending_ns_SOURCES = %D%/tests/ending.c $(CLI_PROCESS)
%C%_tests_ending_ns_CPPFLAGS = $(AM_CPPFLAGS) -DBACKEND='"ns"' -DEXECUTES
%C%_tests_ending_ns_LDADD = sdk/base/libjson.la $(TEST_LIBS)
%C%_tests_cp_fake_SOURCES = %D%/tests/cp.c $(CLI_PROCESS)
%C%_tests_cp_fake_CPPFLAGS = $(AM_CPPFLAGS) -DBACKEND='"fake"'
%C%_tests_cp_fake_LDADD = sdk/base/libjson.la $(TEST_LIBS)
%C%_tests_cp_ns_SOURCES = %D%/tests/cp.c $(CLI_PROCESS)
%C%_tests_cp_ns_CPPFLAGS = $(AM_CPPFLAGS) -DBACKEND='"ns"' -DEXECUTES
%C%_tests_cp_ns_LDADD = sdk/base/libjson.la $(TEST_LIBS)

check_PROGRAMS += %D%/tests/terminal
TESTS += %D%/tests/terminal
%C%_tests_terminal_SOURCES = %D%/tests/terminal.c $(CLI_PROCESS)
%C%_tests_terminal_LDADD = sdk/base/libjson.la $(TEST_LIBS)

# A sandbox that lies, and what is copied out of it.
check_LTLIBRARIES += %D%/tests/berth-backend-hostile.la
%C%_tests_berth_backend_hostile_la_SOURCES = %D%/tests/hostile.c
%C%_tests_berth_backend_hostile_la_LDFLAGS = -module $(BACKEND_LDFLAGS) -rpath /nowhere
EXTRA_%C%_tests_berth_backend_hostile_la_DEPENDENCIES = $(BACKEND_MAP)
check_PROGRAMS += %D%/tests/hostile-out
TESTS += %D%/tests/hostile-out
%C%_tests_hostile_out_SOURCES = %D%/tests/hostile_out.c $(CLI_PROCESS)
%C%_tests_hostile_out_LDADD = sdk/base/libjson.la $(TEST_LIBS)
