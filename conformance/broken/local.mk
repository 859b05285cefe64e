# Backends that are wrong in one thing each, by the names of their files; `good` and a few others
# have nothing wrong. One source, one file per variant.
BROKEN_VARIANTS = good magic major size-small size-large size-odd older newer-minor needs-host name-bad name-other \
	version-empty summary-null group-missing group-size function-open function-run function-stat function-import \
	half-declared needs unknown-bit reserved-bit unknown-flag undeclared tier-evidence tier-unknown tier-date \
	setting-twice setting-type setting-default setting-variable setting-of-host setting-stride settings \
	concurrency not-parallel several curl nothing one-at-a-time one-per-sandbox \
	no-symbol other-major data entry-null open-fails open-silent open-nothing open-talks \
	constructor constructor-major exports ltx undefined lazy execstack dependency core core-below deletable clings flips restless
BROKEN_BACKENDS = $(BROKEN_VARIANTS:%=%D%/backends/berth-backend-%.so)
BROKEN_STUBS = %D%/stubs/libberth-test-missing.so %D%/stubs/libberth.so.77 %D%/stubs/libberth-test-middle.so
BROKEN_LINK = $(CC) -DBROKEN_NAME='"$*"' -DBROKEN_$(subst -,_,$*) $(DEFS) $(AM_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS) \
	-fPIC -shared $(BROKEN_FLAGS) $(BROKEN_ZFLAGS) $(LDFLAGS)
BROKEN_ZFLAGS = -Wl,-z,now -Wl,-z,nodelete -Wl,-z,noexecstack $(BROKEN_MAP)
BROKEN_MAP = -Wl,--version-script=$(BACKEND_MAP)

# What these are wrong in is in how they are linked.
BROKEN_EVERYTHING = no-symbol other-major constructor-major exports ltx data
$(BROKEN_EVERYTHING:%=%D%/backends/berth-backend-%.so): BROKEN_MAP = -fvisibility=hidden
%D%/backends/berth-backend-lazy.so: BROKEN_ZFLAGS = -Wl,-z,lazy -Wl,-z,nodelete -Wl,-z,noexecstack $(BROKEN_MAP)
%D%/backends/berth-backend-deletable.so: BROKEN_ZFLAGS = -Wl,-z,now -Wl,-z,noexecstack $(BROKEN_MAP)
%D%/backends/berth-backend-execstack.so: BROKEN_ZFLAGS = -Wl,-z,now -Wl,-z,nodelete -Wl,-z,execstack $(BROKEN_MAP)
%D%/backends/berth-backend-dependency.so: BROKEN_FLAGS = -Wl,--no-as-needed %D%/stubs/libberth-test-missing.so
%D%/backends/berth-backend-core.so: BROKEN_FLAGS = -Wl,--no-as-needed %D%/stubs/libberth.so.77
%D%/backends/berth-backend-core-below.so: BROKEN_FLAGS = -Wl,--no-as-needed %D%/stubs/libberth-test-middle.so \
	-Wl,--disable-new-dtags -Wl,-rpath,$(abs_builddir)/%D%/stubs
%D%/stubs/libberth-test-middle.so: BROKEN_STUB_FLAGS = -Wl,--no-as-needed %D%/stubs/libberth.so.77
%D%/stubs/libberth-test-middle.so: %D%/stubs/libberth.so.77

$(BROKEN_BACKENDS): %D%/backends/berth-backend-%.so: %D%/broken.c $(BROKEN_STUBS) $(BACKEND_MAP) $(berthinclude_HEADERS)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(BROKEN_LINK) -o $@ $(srcdir)/conformance/broken/broken.c
$(BROKEN_STUBS): %D%/stub.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared -Wl,-soname,$(@F) \
	  $(BROKEN_STUB_FLAGS) $(LDFLAGS) -o $@ $(srcdir)/conformance/broken/stub.c

check_DATA += $(BROKEN_BACKENDS)
CLEANFILES += $(BROKEN_BACKENDS) $(BROKEN_STUBS)
EXTRA_DIST += %D%/broken.c %D%/stub.c

check_LTLIBRARIES += %D%/libbroken.la
%C%_libbroken_la_SOURCES = %D%/tests.c %D%/tests.h
BROKEN_TEST_LIBS = %D%/libbroken.la core/registry/libregistry.la $(TEST_LIBS)

check_PROGRAMS += %D%/refusals
TESTS += %D%/refusals
VALGRIND_TESTS += %D%/refusals
%C%_refusals_SOURCES = %D%/refusals.c
%C%_refusals_LDADD = $(BROKEN_TEST_LIBS)

check_PROGRAMS += %D%/traps
TESTS += %D%/traps
VALGRIND_TESTS += %D%/traps
%C%_traps_SOURCES = %D%/traps.c
%C%_traps_LDADD = $(BROKEN_TEST_LIBS) $(LTDL_LIBS)

check_PROGRAMS += %D%/instances
TESTS += %D%/instances
VALGRIND_TESTS += %D%/instances
THREAD_TESTS += %D%/instances
%C%_instances_SOURCES = %D%/instances.c
%C%_instances_LDADD = $(BROKEN_TEST_LIBS)

TESTS += %D%/structure.sh
EXTRA_DIST += %D%/structure.sh
