# The backend for tests: scripted, and executing nothing.
backend_LTLIBRARIES += %D%/berth-backend-fake.la
%C%_berth_backend_fake_la_SOURCES = %D%/backend.c %D%/box.c %D%/builtins.c %D%/code.c \
	%D%/commands.c %D%/copy.c %D%/create.c %D%/dial.c %D%/dial.h %D%/endpoints.c %D%/fake.h \
	%D%/faults.c %D%/files.c %D%/import.c %D%/instance.h %D%/isolated.c %D%/journal.c %D%/life.c %D%/lifecycle.c \
	%D%/names.c %D%/network.c %D%/outcome.c %D%/outcome.h %D%/output.c %D%/pending.c %D%/pool.c \
	%D%/process.c %D%/process.h %D%/processes.c %D%/report.c %D%/script.c %D%/shell.c %D%/shell.h \
	%D%/snapshots.c %D%/spec.c %D%/state.c %D%/tree.c %D%/tree.h %D%/usage.c %D%/words.c %D%/words.h \
	%D%/workspace.c %D%/workspace.h
%C%_berth_backend_fake_la_LDFLAGS = -module $(BACKEND_LDFLAGS)
%C%_berth_backend_fake_la_LIBADD = sdk/archive/libarchiveio.la sdk/base/libjson.la sdk/base/libbase.la
EXTRA_%C%_berth_backend_fake_la_DEPENDENCIES = $(BACKEND_MAP)

check_LTLIBRARIES += %D%/tests/libhost.la
%C%_tests_libhost_la_SOURCES = %D%/tests/host.c %D%/tests/host.h

FAKE_TESTS = %D%/tests/commands %D%/tests/files %D%/tests/groups %D%/tests/lifecycle \
	%D%/tests/processes %D%/tests/workspace
FAKE_TEST_LIBS = %D%/tests/libhost.la $(TEST_LIBS)
check_PROGRAMS += $(FAKE_TESTS)
TESTS += $(FAKE_TESTS)
VALGRIND_TESTS += $(FAKE_TESTS)
%C%_tests_commands_LDADD = $(FAKE_TEST_LIBS)
%C%_tests_files_LDADD = $(FAKE_TEST_LIBS)
%C%_tests_groups_LDADD = $(FAKE_TEST_LIBS)
%C%_tests_lifecycle_LDADD = $(FAKE_TEST_LIBS)
%C%_tests_processes_LDADD = $(FAKE_TEST_LIBS)
%C%_tests_workspace_LDADD = %D%/tests/libhost.la sdk/archive/libarchiveio.la $(TEST_LIBS)
