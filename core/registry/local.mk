noinst_LTLIBRARIES += %D%/libregistry.la
%C%_libregistry_la_SOURCES = %D%/call.c %D%/call.h %D%/cancel.c %D%/cancel.h %D%/check.c %D%/check.h \
	%D%/check_claims.c %D%/check_groups.c %D%/check_identity.c %D%/check_settings.c %D%/config.c %D%/config.h \
	%D%/elf.c %D%/elf.h %D%/error.c %D%/error.h %D%/gate.c %D%/gate.h %D%/inside.h %D%/instance.c %D%/instance.h \
	%D%/load.c %D%/load.h %D%/names.c %D%/owned.c %D%/plugins.c %D%/problems.c %D%/problems.h \
	%D%/redact.c %D%/redact.h %D%/registered.h %D%/registry.c %D%/registry.h %D%/scan.c %D%/search.c %D%/search.h \
	%D%/secure.c %D%/secure.h %D%/services.c %D%/settings.c %D%/settings.h %D%/slots.c %D%/table.c %D%/table.h
# The host knows no backend by name: which one it takes when nobody says is the build's choice.
%C%_libregistry_la_CPPFLAGS = $(AM_CPPFLAGS) $(PATHS_CPPFLAGS) -DBERTH_DEFAULT_BACKEND='"ns"'
%C%_libregistry_la_LIBADD = $(LTDL_LIBS)

check_LTLIBRARIES += %D%/tests/libcomplete.la
%C%_tests_libcomplete_la_SOURCES = %D%/tests/complete.c %D%/tests/complete.h
REGISTRY_TEST_LIBS = %D%/tests/libcomplete.la %D%/libregistry.la $(TEST_LIBS)

REGISTRY_TESTS = %D%/tests/call %D%/tests/check %D%/tests/config
check_PROGRAMS += $(REGISTRY_TESTS)
TESTS += $(REGISTRY_TESTS)
VALGRIND_TESTS += $(REGISTRY_TESTS)
THREAD_TESTS += $(REGISTRY_TESTS)
%C%_tests_call_SOURCES = %D%/tests/call.c
%C%_tests_call_LDADD = $(REGISTRY_TEST_LIBS)
%C%_tests_check_SOURCES = %D%/tests/check.c
%C%_tests_check_LDADD = $(REGISTRY_TEST_LIBS)
%C%_tests_config_SOURCES = %D%/tests/config.c
%C%_tests_config_LDADD = $(REGISTRY_TEST_LIBS)
