noinst_LTLIBRARIES += %D%/libstate.la
%C%_libstate_la_SOURCES = %D%/change.c %D%/column.c %D%/column.h %D%/environment.c %D%/environment.h %D%/installation.c %D%/internal.h %D%/open.c %D%/query.c \
	%D%/rebuild.c %D%/record.c %D%/record.h %D%/schema.c %D%/snapshot.c %D%/snapshot.h \
	%D%/statement.c %D%/store.h
%C%_libstate_la_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
%C%_libstate_la_LIBADD = $(SQLITE_LIBS)

STATE_TEST_PLACE = %D%/tests/place.c %D%/tests/place.h
STATE_TEST_LIBS = core/state/libstate.la core/registry/libregistry.la $(TEST_LIBS) $(SQLITE_LIBS)
STATE_TESTS = %D%/tests/damage %D%/tests/store
check_PROGRAMS += $(STATE_TESTS)
TESTS += $(STATE_TESTS)
VALGRIND_TESTS += $(STATE_TESTS)
THREAD_TESTS += $(STATE_TESTS)
EXTRA_DIST += %D%/tests/v1.sql
%C%_tests_damage_SOURCES = %D%/tests/damage.c $(STATE_TEST_PLACE)
%C%_tests_damage_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
%C%_tests_damage_LDADD = $(STATE_TEST_LIBS)
%C%_tests_store_SOURCES = %D%/tests/store.c $(STATE_TEST_PLACE)
%C%_tests_store_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
%C%_tests_store_LDADD = $(STATE_TEST_LIBS)

EXTRA_PROGRAMS += %D%/bench/operations
BENCHES += %D%/bench/operations
%C%_bench_operations_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
%C%_bench_operations_LDADD = core/state/libstate.la core/registry/libregistry.la sdk/base/libbase.la $(SQLITE_LIBS)
