noinst_LTLIBRARIES += %D%/libarchiveio.la
%C%_libarchiveio_la_SOURCES =
