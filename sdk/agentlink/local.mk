noinst_LTLIBRARIES += %D%/libagentlink.la
%C%_libagentlink_la_SOURCES = %D%/agentlink.h %D%/control.c %D%/files.c %D%/link.c %D%/run.c %D%/stream.c %D%/stream.h \
	%D%/workspace.c 	$(AGENT_WIRE)

# What a backend links that talks to an agent.
AGENTLINK_LIBS = %D%/libagentlink.la sdk/archive/libarchiveio.la sdk/base/libbase.la

check_LTLIBRARIES += %D%/tests/libsupport.la
%C%_tests_libsupport_la_SOURCES = %D%/tests/support.c %D%/tests/support.h
AGENT_TEST_LIBS = %D%/tests/libsupport.la %D%/libagentlink.la sdk/archive/libarchiveio.la $(TEST_LIBS)

AGENTLINK_TESTS = %D%/tests/control %D%/tests/versions %D%/tests/workspace
check_PROGRAMS += $(AGENTLINK_TESTS)
TESTS += $(AGENTLINK_TESTS)
%C%_tests_control_LDADD = $(AGENT_TEST_LIBS)
%C%_tests_versions_LDADD = $(AGENT_TEST_LIBS)
%C%_tests_workspace_LDADD = $(AGENT_TEST_LIBS)
