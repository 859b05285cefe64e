noinst_LTLIBRARIES += %D%/libarchiveio.la
%C%_libarchiveio_la_SOURCES = %D%/library.c %D%/library.h %D%/read.c %D%/tar.h %D%/write.c
