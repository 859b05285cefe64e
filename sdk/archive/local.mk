noinst_LTLIBRARIES += %D%/libarchiveio.la
%C%_libarchiveio_la_SOURCES = %D%/library.c %D%/library.h %D%/read.c %D%/tar.h %D%/write.c

ARCHIVE_TESTS = %D%/tests/missing %D%/tests/tar
check_PROGRAMS += $(ARCHIVE_TESTS)
TESTS += $(ARCHIVE_TESTS)
VALGRIND_TESTS += $(ARCHIVE_TESTS)
%C%_tests_missing_SOURCES = %D%/tests/missing.c %D%/library.c
%C%_tests_missing_CPPFLAGS = $(AM_CPPFLAGS) -DARCHIVE_LIBRARY='"libberth-not-there.so.0"'
%C%_tests_missing_LDADD = sdk/agentlink/tests/libsupport.la sdk/agentlink/libagentlink.la $(TEST_LIBS)
%C%_tests_tar_LDADD = $(AGENT_TEST_LIBS)
