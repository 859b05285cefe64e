noinst_LTLIBRARIES += %D%/libregistry.la
%C%_libregistry_la_SOURCES =
%C%_libregistry_la_LIBADD = $(LTDL_LIBS)
