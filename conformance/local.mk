# The contract as tests that know nothing but the ABI, and the program that runs them.
SUITES_SOURCES = %D%/suites/box.c %D%/suites/box.h %D%/suites/call.c %D%/suites/call.h %D%/suites/commands.c \
	%D%/suites/commands.h %D%/suites/confinement.c %D%/suites/correlation.c %D%/suites/crowd.c %D%/suites/endings.c %D%/suites/survival.c \
	%D%/suites/content.c %D%/suites/content.h \
	%D%/suites/expiry.c %D%/suites/files.c %D%/suites/files.h %D%/suites/halt.c %D%/suites/hostile.c %D%/suites/inventory.c \
	%D%/suites/isolation.c %D%/suites/judge.c %D%/suites/leftovers.c %D%/suites/leftovers.h \
	%D%/suites/lifecycle.c %D%/suites/lifecycle.h %D%/suites/limits.c %D%/suites/network.c %D%/suites/open.c \
	%D%/suites/modes.c %D%/suites/names.c %D%/suites/paths.c %D%/suites/race.c %D%/suites/refusal.c %D%/suites/refusal.h %D%/suites/role.c \
	%D%/suites/role.h %D%/suites/run.c %D%/suites/run.h %D%/suites/silence.c %D%/suites/silence.h %D%/suites/streams.c \
	%D%/suites/suite.h %D%/suites/tar.c %D%/suites/tar.h %D%/suites/tool.c %D%/suites/tool.h %D%/suites/tree.c \
	%D%/suites/process.c %D%/suites/process.h %D%/suites/processes.c %D%/suites/structure.c \
	%D%/suites/workload.c %D%/suites/workspace.c %D%/suites/workspace.h

SUITES_SOURCES += %D%/suites/archives.c %D%/suites/code.c %D%/suites/copies.c %D%/suites/exhaustion.c \
	%D%/suites/platform.h %D%/suites/reach.c %D%/suites/reports.c %D%/suites/tenants.c

# What tries to get out.
SUITES_SOURCES += %D%/escape/escape.h %D%/escape/suite.c %D%/escape/attempts.c %D%/escape/around.c %D%/escape/leaks.c \
	%D%/escape/tools.c %D%/escape/races.c

CONFORM_SOURCES = %D%/conform/child.c %D%/conform/child.h %D%/conform/clauses.c %D%/conform/conform.h \
	%D%/conform/main.c %D%/conform/place.c %D%/conform/place.h %D%/conform/report.c %D%/conform/schedule.c %D%/conform/verdict.c

bin_PROGRAMS += %D%/berth-conform
conformlibexecdir = $(pkglibexecdir)/conform
conformlibexec_PROGRAMS = %D%/suites/probe %D%/escape/prober
%C%_berth_conform_SOURCES = $(CONFORM_SOURCES) %D%/conform/perform.c $(SUITES_SOURCES)
%C%_berth_conform_CPPFLAGS = $(AM_CPPFLAGS) $(PATHS_CPPFLAGS) -DCONFORM_PROGRAMS='"$(conformlibexecdir)"'
%C%_berth_conform_LDADD = core/registry/libregistry.la $(TEST_LIBS)

# The same with a clause that always passes.
check_PROGRAMS += %D%/variants/mutant
%C%_variants_mutant_SOURCES = $(CONFORM_SOURCES) %D%/variants/mutant.c $(SUITES_SOURCES)
%C%_variants_mutant_CPPFLAGS = $(%C%_berth_conform_CPPFLAGS)
%C%_variants_mutant_LDADD = $(%C%_berth_conform_LDADD)

# Copied into sandboxes that have no library of ours, and no sanitizer's.
%C%_suites_probe_SOURCES = %D%/suites/probe.c
%C%_suites_probe_CFLAGS = -std=gnu17 $(WARNING_FLAGS)
%C%_suites_probe_LDFLAGS = -all-static
%C%_escape_prober_SOURCES = %D%/escape/prober.c %D%/escape/prober.h %D%/escape/calls.c %D%/escape/paths.c \
	%D%/escape/processes.c
%C%_escape_prober_CFLAGS = -std=gnu17 $(WARNING_FLAGS)
%C%_escape_prober_LDFLAGS = -all-static

# Races of 100 000 swaps, and the clauses that take longer than ten seconds.
LONG_TESTS += %D%/tests/ns-long.sh %D%/tests/ns-ordinary-user %D%/tests/ns-range-user
EXTRA_DIST += %D%/tests/ns-long.sh

# What fuzzers give the agent, beginning with the archives of W04.
TESTS += %D%/tests/fuzz.sh
EXTRA_DIST += %D%/tests/fuzz.sh

# The program itself, and what backends have declared.
TESTS += %D%/tests/conform.sh
EXTRA_DIST += %D%/tests/conform.sh %D%/declared/fake %D%/declared/ns %D%/declared/plain

CONFORMANCE_TESTS = %D%/tests/fake %D%/tests/plain %D%/tests/ns %D%/tests/ns-ordinary-user %D%/tests/ns-range-user
TESTS += $(CONFORMANCE_TESTS)
EXTRA_DIST += $(CONFORMANCE_TESTS)
