noinst_LTLIBRARIES += %D%/libagentlink.la
%C%_libagentlink_la_SOURCES = %D%/agentlink.h %D%/control.c %D%/files.c %D%/link.c %D%/run.c %D%/stream.c %D%/stream.h \
	%D%/workspace.c 	$(AGENT_WIRE)

# What a backend links that talks to an agent.
AGENTLINK_LIBS = %D%/libagentlink.la sdk/archive/libarchiveio.la sdk/base/libbase.la

check_LTLIBRARIES += %D%/tests/libsupport.la
%C%_tests_libsupport_la_SOURCES = %D%/tests/recorded.c %D%/tests/recorded.h %D%/tests/support.c %D%/tests/support.h
AGENT_TEST_LIBS = %D%/tests/libsupport.la %D%/libagentlink.la sdk/archive/libarchiveio.la $(TEST_LIBS)

AGENTLINK_TESTS = %D%/tests/control %D%/tests/versions %D%/tests/workspace
check_PROGRAMS += $(AGENTLINK_TESTS)
TESTS += $(AGENTLINK_TESTS)
VALGRIND_TESTS += $(AGENTLINK_TESTS)
THREAD_TESTS += $(AGENTLINK_TESTS)
%C%_tests_control_LDADD = $(AGENT_TEST_LIBS)
%C%_tests_versions_LDADD = $(AGENT_TEST_LIBS)
%C%_tests_workspace_LDADD = $(AGENT_TEST_LIBS)

# Archives on their way into a workspace.
IMPORT_FUZZ = %D%/fuzz/import.c %D%/fuzz/import.h %D%/fuzz/jail.c %D%/fuzz/jail.h %D%/fuzz/tar.c
check_PROGRAMS += %D%/fuzz/random-import
%C%_fuzz_random_import_SOURCES = $(IMPORT_FUZZ) $(FUZZ_DRIVE)
%C%_fuzz_random_import_LDADD = sdk/agent/tests/libserving.la sdk/agent/tests/libparts.la %D%/tests/libsupport.la \
	$(AGENTLINK_LIBS)
FUZZERS += %D%/fuzz/import
IMPORT_FUZZ_WHOLE = $(IMPORT_FUZZ) %D%/tests/recorded.c %D%/tests/recorded.h $(%C%_libagentlink_la_SOURCES) \
	$(sdk_archive_libarchiveio_la_SOURCES) $(AGENT_PARTS) $(AGENT_SERVING) $(sdk_base_libbase_la_SOURCES)
%D%/fuzz/import: $(IMPORT_FUZZ_WHOLE) $(AGENT_INCLUDED)
	$(AM_V_CCLD)sources='$(IMPORT_FUZZ_WHOLE)'; $(FUZZ_BUILD)
