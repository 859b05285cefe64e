noinst_LTLIBRARIES += %D%/libmanager.la
%C%_libmanager_la_SOURCES = %D%/answer.c %D%/answer.h %D%/audit.c %D%/audit.h %D%/audit_file.c %D%/audit_settings.h %D%/backends.c %D%/call.c %D%/call.h %D%/codec.c %D%/codec.h \
	%D%/config.c %D%/create.c %D%/creation.c %D%/creation.h \
	%D%/destroy.c %D%/destroy.h %D%/directories.c %D%/directories.h %D%/environment.c %D%/environment.h %D%/events.c %D%/expiry.c %D%/expiry.h %D%/files.c %D%/find.c %D%/fork.c %D%/host.c %D%/idle.c %D%/idle.h %D%/ids.c \
	%D%/ids.h %D%/info.c %D%/info.h %D%/inspect.c %D%/interrupted.c %D%/interrupted.h %D%/inventory.c \
	%D%/inventory.h %D%/life.c %D%/life.h %D%/limits.c %D%/limits.h %D%/list.c %D%/lock.c %D%/lock.h \
	%D%/manager.h %D%/path.c %D%/path.h %D%/reap.c %D%/rebuild.c %D%/rebuild.h %D%/request.c %D%/respec.c \
	%D%/rollback.c %D%/rollback.h %D%/run.c %D%/sandbox.c %D%/saved.c %D%/snapshot.c %D%/snapshot.h %D%/snapshot_file.c \
	%D%/snapshot_file.h %D%/snapshot_trailer.c %D%/snapshot_trailer.h %D%/snapshots.c %D%/spec.c %D%/spec.h %D%/still.c %D%/still.h \
	%D%/sweep.c %D%/sweep.h %D%/transfer.c %D%/transfer.h %D%/use.c %D%/use.h %D%/version.c %D%/workspace.c %D%/workspace.h
%C%_libmanager_la_CPPFLAGS = $(AM_CPPFLAGS) $(PATHS_CPPFLAGS)

# What its tests share; they see the inside, so they link the floors and not libberth.
check_LTLIBRARIES += %D%/tests/libplace.la
%C%_tests_libplace_la_SOURCES = %D%/tests/place.c %D%/tests/place.h
MANAGER_TEST_LIBS = %D%/tests/libplace.la %D%/libmanager.la core/registry/libregistry.la core/state/libstate.la sdk/base/libjson.la $(TEST_LIBS)
# Those on the backend `fake`, which need nothing of the machine, and those on `ns`.
MANAGER_FAKE_TESTS = %D%/tests/again %D%/tests/audit %D%/tests/crash %D%/tests/create %D%/tests/destroy %D%/tests/directories %D%/tests/domain %D%/tests/environment %D%/tests/expiry %D%/tests/idle %D%/tests/interrupted \
	%D%/tests/life %D%/tests/races %D%/tests/reap %D%/tests/rebuild %D%/tests/states %D%/tests/snapshot %D%/tests/texts %D%/tests/use
MANAGER_TESTS = $(MANAGER_FAKE_TESTS) %D%/tests/crowd %D%/tests/live %D%/tests/stress
VALGRIND_TESTS += $(MANAGER_FAKE_TESTS)
THREAD_TESTS += $(MANAGER_FAKE_TESTS) %D%/tests/crowd %D%/tests/live
check_PROGRAMS += $(MANAGER_TESTS)
TESTS += $(MANAGER_TESTS)
%C%_tests_audit_LDADD = $(MANAGER_TEST_LIBS)
%C%_tests_again_LDADD = $(MANAGER_TEST_LIBS)
%C%_tests_create_LDADD = $(MANAGER_TEST_LIBS)
%C%_tests_destroy_LDADD = $(MANAGER_TEST_LIBS)
%C%_tests_crowd_LDADD = $(MANAGER_TEST_LIBS)
%C%_tests_crash_LDADD = $(MANAGER_TEST_LIBS)
%C%_tests_directories_LDADD = $(MANAGER_TEST_LIBS)
%C%_tests_domain_LDADD = $(MANAGER_TEST_LIBS)
%C%_tests_environment_LDADD = $(MANAGER_TEST_LIBS)
%C%_tests_expiry_LDADD = $(MANAGER_TEST_LIBS)
%C%_tests_idle_LDADD = $(MANAGER_TEST_LIBS)
%C%_tests_interrupted_LDADD = $(MANAGER_TEST_LIBS)
%C%_tests_life_LDADD = $(MANAGER_TEST_LIBS)
%C%_tests_live_LDADD = $(MANAGER_TEST_LIBS)
%C%_tests_races_LDADD = $(MANAGER_TEST_LIBS)
%C%_tests_reap_LDADD = $(MANAGER_TEST_LIBS)
%C%_tests_rebuild_LDADD = $(MANAGER_TEST_LIBS)
%C%_tests_snapshot_LDADD = $(MANAGER_TEST_LIBS)
%C%_tests_states_LDADD = $(MANAGER_TEST_LIBS)
%C%_tests_stress_LDADD = $(MANAGER_TEST_LIBS)
%C%_tests_texts_LDADD = $(MANAGER_TEST_LIBS)
%C%_tests_use_LDADD = $(MANAGER_TEST_LIBS)
LONG_TESTS += %D%/tests/crowd %D%/tests/live %D%/tests/stress

# `make bench` prints the table, `make bench BENCH_FLAGS=--json` the same for programs, and
# BENCH_FLAGS='--svg FILE' draws it too.
EXTRA_PROGRAMS += %D%/bench/bench
BENCHES += %D%/bench/bench
%C%_bench_bench_SOURCES = %D%/bench/amounts.c %D%/bench/bench.c %D%/bench/bench.h %D%/bench/tell.c
%C%_bench_bench_LDADD = core/libberth.la sdk/base/libbase.la
