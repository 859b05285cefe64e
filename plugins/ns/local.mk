# plugins/ns
# automake wants to read -module itself, to take the name.
backend_LTLIBRARIES += %D%/berth-backend-ns.la
%C%_berth_backend_ns_la_SOURCES = %D%/accounts.c %D%/accounts.h %D%/backend.c %D%/box.c %D%/cgroup.c %D%/cgroup_v1.c \
	%D%/cgroup_v2.c %D%/child.c %D%/create.c %D%/destroy.c %D%/effective.c %D%/etc.c %D%/expiry.c %D%/handle.c \
	%D%/ids.c %D%/inventory.c %D%/launch.c %D%/launch.h %D%/meta.c %D%/ns.h %D%/plan.c %D%/plan.h %D%/process.c \
	%D%/root.c %D%/seccomp.c %D%/settings.c %D%/syscalls.c %D%/syscalls.h %D%/workspace.c
%C%_berth_backend_ns_la_CPPFLAGS = $(AM_CPPFLAGS) $(SECCOMP_CFLAGS)
%C%_berth_backend_ns_la_LDFLAGS = -module $(BACKEND_LDFLAGS)
%C%_berth_backend_ns_la_LIBADD = $(AGENTLINK_LIBS)
EXTRA_%C%_berth_backend_ns_la_DEPENDENCIES = $(BACKEND_MAP)
