noinst_LTLIBRARIES += %D%/libregistry.la
%C%_libregistry_la_SOURCES = %D%/call.c %D%/call.h %D%/cancel.c %D%/cancel.h %D%/check.c %D%/check.h \
	%D%/check_claims.c %D%/check_groups.c %D%/check_identity.c %D%/check_settings.c %D%/config.c %D%/config.h \
	%D%/elf.c %D%/elf.h %D%/error.c %D%/error.h %D%/gate.c %D%/gate.h %D%/inside.h %D%/instance.c %D%/instance.h \
	%D%/load.c %D%/load.h %D%/names.c %D%/nearest.c %D%/owned.c %D%/plugins.c %D%/problems.c %D%/problems.h \
	%D%/redact.c %D%/redact.h %D%/registered.h %D%/registry.c %D%/registry.h %D%/scan.c %D%/search.c %D%/search.h \
	%D%/secure.c %D%/secure.h %D%/services.c %D%/settings.c %D%/settings.h %D%/slots.c %D%/table.c %D%/table.h
# The host knows no backend by name: which one it takes when nobody says is the build's choice.
%C%_libregistry_la_CPPFLAGS = $(AM_CPPFLAGS) $(PATHS_CPPFLAGS) -DBERTH_DEFAULT_BACKEND='"ns"'
%C%_libregistry_la_LIBADD = $(LTDL_LIBS)
