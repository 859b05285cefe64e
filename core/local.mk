# Each floor is a convenience library; libberth is all of them, and shows what the map names.
lib_LTLIBRARIES += %D%/libberth.la
%C%_libberth_la_SOURCES =
%C%_libberth_la_LIBADD = core/manager/libmanager.la core/registry/libregistry.la core/state/libstate.la \
	sdk/base/libjson.la sdk/base/libbase.la
%C%_libberth_la_LDFLAGS = $(AM_LDFLAGS) -no-undefined $(ZDEFS) -version-info $(LIBBERTH_LT_VERSION) \
	-Wl,--version-script=$(top_srcdir)/%D%/libberth.map
EXTRA_%C%_libberth_la_DEPENDENCIES = $(top_srcdir)/%D%/libberth.map
EXTRA_DIST += %D%/libberth.map

TESTS += %D%/tests/exports.sh %D%/tests/floors.sh %D%/tests/install.sh
EXTRA_DIST += %D%/tests/exports.sh %D%/tests/floors.sh %D%/tests/install.sh
