# The agent without isolation: a backend for tests, never installed.
check_LTLIBRARIES += %D%/berth-backend-plain.la
PLAIN_SOURCES = %D%/backend.c %D%/box.c %D%/control.c %D%/launch.c %D%/lifecycle.c %D%/plain.h %D%/root.c
%C%_berth_backend_plain_la_SOURCES = $(PLAIN_SOURCES)
%C%_berth_backend_plain_la_LDFLAGS = -module $(BACKEND_LDFLAGS) -rpath /nowhere
%C%_berth_backend_plain_la_LIBADD = $(AGENTLINK_LIBS)
EXTRA_%C%_berth_backend_plain_la_DEPENDENCIES = $(BACKEND_MAP)
