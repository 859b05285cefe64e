# What the agent takes of the ground floor: libc and nothing else.
BASE_AGENT_SOURCES = %D%/buffer.c %D%/buffer.h %D%/bytes.h %D%/cleanup.h %D%/clock.c %D%/clock.h %D%/fd.c %D%/fd.h \
	%D%/file.c %D%/file.h %D%/path.c %D%/path.h %D%/string.c %D%/string.h %D%/tree.c
noinst_LTLIBRARIES += %D%/libbase.la
%C%_libbase_la_SOURCES = $(BASE_AGENT_SOURCES)
%C%_libbase_la_CFLAGS = $(AM_CFLAGS) $(JSON_CFLAGS)
%C%_libbase_la_LIBADD = $(JSON_LIBS)
check_LTLIBRARIES += %D%/tests/librunner.la
%C%_tests_librunner_la_SOURCES = %D%/tests/runner.c %D%/tests/runner.h

check_PROGRAMS += %D%/tests/buffer
TESTS += %D%/tests/buffer
%C%_tests_buffer_SOURCES = %D%/tests/buffer.c
%C%_tests_buffer_LDADD = $(TEST_LIBS)
