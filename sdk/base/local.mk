# What the agent takes of the ground floor: libc and nothing else.
BASE_AGENT_SOURCES = %D%/buffer.c %D%/buffer.h %D%/bytes.h %D%/cleanup.h %D%/clock.c %D%/clock.h \
	%D%/fd.c %D%/fd.h %D%/fs.c %D%/fs.h %D%/path.c %D%/path.h \
	%D%/process.c %D%/process.h \
	%D%/string.c %D%/string.h %D%/tree.c

noinst_LTLIBRARIES += %D%/libbase.la
%C%_libbase_la_SOURCES = $(BASE_AGENT_SOURCES) %D%/base64.c %D%/base64.h %D%/hash.h %D%/library.c %D%/library.h %D%/machine.c %D%/machine.h %D%/nearest.c %D%/nearest.h

# Apart, so that only what speaks JSON needs json-c.
noinst_LTLIBRARIES += %D%/libjson.la
%C%_libjson_la_SOURCES = %D%/json.c %D%/json.h %D%/jsonscan.c %D%/jsonscan.h
%C%_libjson_la_CFLAGS = $(AM_CFLAGS) $(JSON_CFLAGS)
%C%_libjson_la_LIBADD = $(JSON_LIBS)

noinst_LTLIBRARIES += %D%/tests/librunner.la
%C%_tests_librunner_la_SOURCES = %D%/tests/runner.c %D%/tests/runner.h %D%/tests/stall.c %D%/tests/stall.h

# A main function for a fuzzer's entry points.
FUZZ_DRIVE = %D%/tests/drive.c %D%/tests/random.h

BASE_TESTS = %D%/tests/buffer %D%/tests/clock %D%/tests/ends %D%/tests/fd %D%/tests/fs %D%/tests/json %D%/tests/string
check_PROGRAMS += $(BASE_TESTS)
TESTS += $(BASE_TESTS)
VALGRIND_TESTS += $(BASE_TESTS)
EXTRA_DIST += %D%/tests/valgrind.supp
%C%_tests_buffer_LDADD = $(TEST_LIBS)
%C%_tests_clock_LDADD = $(TEST_LIBS)
%C%_tests_ends_LDADD = $(TEST_LIBS)
%C%_tests_fd_LDADD = $(TEST_LIBS)
%C%_tests_fs_LDADD = $(TEST_LIBS)
%C%_tests_json_LDADD = sdk/base/libjson.la $(TEST_LIBS)
%C%_tests_string_LDADD = $(TEST_LIBS)

EXTRA_DIST += %D%/tests/runner.sh
