noinst_LTLIBRARIES += %D%/libagentlink.la
%C%_libagentlink_la_SOURCES = %D%/agentlink.h %D%/control.c %D%/files.c %D%/link.c %D%/run.c %D%/stream.c %D%/stream.h \
	%D%/workspace.c 	$(AGENT_WIRE)
%C%_libagentlink_la_LIBADD = sdk/archive/libarchiveio.la sdk/base/libbase.la

check_LTLIBRARIES += %D%/tests/libsupport.la
%C%_tests_libsupport_la_SOURCES = %D%/tests/support.c %D%/tests/support.h
AGENT_TEST_LIBS = sdk/agentlink/tests/libsupport.la sdk/agentlink/libagentlink.la $(TEST_LIBS)
