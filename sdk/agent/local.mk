# The agent is built by a compiler of its own, all at once: it is small, and links nothing of ours
# that was compiled for the host.
AGENT_WIRE = %D%/wire.c
AGENT_PARTS = $(AGENT_WIRE) %D%/failure.c %D%/request.c %D%/member.c %D%/entry.c %D%/account.c \
	%D%/path.c %D%/path_walk.c
AGENT_SERVING = %D%/attributes.c %D%/change.c %D%/command.c %D%/conn.c %D%/deadline.c %D%/export.c \
	%D%/file_read.c %D%/file_write.c %D%/import.c %D%/nanny.c %D%/serve.c %D%/spawn.c %D%/target.c \
	%D%/tree.c %D%/walk.c
AGENT_CODE = $(AGENT_PARTS) $(AGENT_SERVING) %D%/accept.c %D%/door.c %D%/guard.c %D%/harden.c %D%/landlock.c %D%/main.c
AGENT_INCLUDED = %D%/account.h %D%/agent.h %D%/conn.h %D%/deadline.h %D%/door.h %D%/entry.h %D%/failure.h %D%/guard.h %D%/harden.h \
	%D%/member.h %D%/operations.h %D%/path.h %D%/protocol.h %D%/request.h %D%/spawn.h %D%/target.h \
	%D%/tree.h %D%/walk.h %D%/wire.h

pkglibexec_SCRIPTS += %D%/berth-agent
CLEANFILES += %D%/berth-agent
EXTRA_DIST += $(AGENT_CODE) $(AGENT_INCLUDED)

%D%/berth-agent: $(AGENT_CODE) $(AGENT_INCLUDED) $(BASE_AGENT_SOURCES) config.h
	$(AM_V_CCLD)$(MKDIR_P) %D% && \
	sources=; for source in $(AGENT_CODE) $(BASE_AGENT_SOURCES); do \
	  case $$source in *.c) test -f $$source || source=$(srcdir)/$$source; sources="$$sources $$source";; esac; done; \
	$(AGENT_CC) -std=gnu17 $(AM_CPPFLAGS) -DPACKAGE_VERSION='"$(PACKAGE_VERSION)"' $(WARNING_FLAGS) $(AGENT_CFLAGS) \
	  -o $@ $$sources $(AGENT_LDFLAGS)

AGENT_TESTS = %D%/tests/cases %D%/tests/command %D%/tests/files %D%/tests/wire
check_PROGRAMS += $(AGENT_TESTS)
TESTS += $(AGENT_TESTS)
VALGRIND_TESTS += $(AGENT_TESTS)
%C%_tests_cases_LDADD = $(AGENT_TEST_LIBS)
%C%_tests_command_LDADD = $(AGENT_TEST_LIBS)
%C%_tests_files_LDADD = $(AGENT_TEST_LIBS)
check_LTLIBRARIES += %D%/tests/libparts.la
%C%_tests_libparts_la_SOURCES = $(AGENT_PARTS) %D%/fuzz/decode.c %D%/fuzz/decode.h
%C%_tests_wire_LDADD = %D%/tests/libparts.la $(TEST_LIBS)

# Every parser on any bytes, and what answers a connection, compiled for the host.
check_PROGRAMS += %D%/fuzz/random-decode
%C%_fuzz_random_decode_SOURCES = $(FUZZ_DRIVE)
%C%_fuzz_random_decode_LDADD = %D%/tests/libparts.la sdk/base/libbase.la
FUZZERS += %D%/fuzz/decode
%D%/fuzz/decode: %D%/fuzz/decode.c %D%/fuzz/decode.h $(AGENT_PARTS) $(AGENT_INCLUDED) $(BASE_AGENT_SOURCES)
	$(AM_V_CCLD)sources='%D%/fuzz/decode.c $(AGENT_PARTS) $(BASE_AGENT_SOURCES)'; $(FUZZ_BUILD)

check_LTLIBRARIES += %D%/tests/libserving.la
%C%_tests_libserving_la_SOURCES = $(AGENT_SERVING)
%C%_tests_libserving_la_CPPFLAGS = $(AM_CPPFLAGS) -DPACKAGE_VERSION='"$(PACKAGE_VERSION)"'
