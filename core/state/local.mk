noinst_LTLIBRARIES += %D%/libstate.la
%C%_libstate_la_SOURCES =
%C%_libstate_la_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
%C%_libstate_la_LIBADD = $(SQLITE_LIBS)
