# What an author of a backend may link beside the headers: the agent's client, and tar streams.
lib_LTLIBRARIES += %D%/libberth-sdk.la
%C%_libberth_sdk_la_SOURCES =
%C%_libberth_sdk_la_LIBADD = $(AGENTLINK_LIBS)
%C%_libberth_sdk_la_LDFLAGS = $(AM_LDFLAGS) -no-undefined $(ZDEFS) -version-info $(LIBBERTH_SDK_LT_VERSION) \
	-Wl,--version-script=$(top_srcdir)/%D%/libberth-sdk.map
EXTRA_%C%_libberth_sdk_la_DEPENDENCIES = $(top_srcdir)/%D%/libberth-sdk.map
sdkincludedir = $(berthincludedir)/sdk
sdkinclude_HEADERS = sdk/agentlink/agentlink.h sdk/archive/tar.h
EXTRA_DIST += %D%/libberth-sdk.map

# The version script and the flags of a backend, where BERTH_BACKEND of their configure.ac finds them.
berthdatadir = $(datadir)/berth
dist_berthdata_DATA = %D%/backend.map
aclocaldir = $(datadir)/aclocal
dist_aclocal_DATA = m4/berth-backend.m4
