noinst_LTLIBRARIES += %D%/libregistry.la
%C%_libregistry_la_SOURCES = %D%/cancel.c %D%/cancel.h %D%/error.c %D%/error.h %D%/gate.c %D%/gate.h %D%/names.c \
	%D%/redact.c %D%/redact.h %D%/registry.h %D%/table.c %D%/table.h
%C%_libregistry_la_LIBADD = $(LTDL_LIBS)
