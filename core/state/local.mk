noinst_LTLIBRARIES += %D%/libstate.la
%C%_libstate_la_SOURCES = %D%/change.c %D%/column.c %D%/column.h %D%/internal.h %D%/open.c %D%/query.c %D%/record.c \
	%D%/record.h %D%/schema.c %D%/statement.c %D%/store.h
%C%_libstate_la_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
%C%_libstate_la_LIBADD = $(SQLITE_LIBS)

check_PROGRAMS += %D%/tests/store
TESTS += %D%/tests/store
%C%_tests_store_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
%C%_tests_store_LDADD = core/state/libstate.la core/registry/libregistry.la $(TEST_LIBS) $(SQLITE_LIBS)
