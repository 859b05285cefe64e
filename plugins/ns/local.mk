# plugins/ns
# automake wants to read -module itself, to take the name.
backend_LTLIBRARIES += %D%/berth-backend-ns.la
%C%_berth_backend_ns_la_SOURCES = %D%/accounts.c %D%/accounts.h %D%/backend.c %D%/boot.c %D%/boot.h %D%/box.c %D%/cgroup.c %D%/cgroup_v1.c \
	%D%/cgroup_v2.c %D%/create.c %D%/delegate.c %D%/destroy.c %D%/disk.c %D%/door.c %D%/effective.c %D%/etc.c %D%/expiry.c %D%/filter.c \
	%D%/filter.h %D%/freezer.c %D%/handle.c %D%/ids.c %D%/inventory.c %D%/launch.c %D%/launch.h %D%/meta.c %D%/network.c \
	%D%/network.h %D%/ns.h %D%/plan.c %D%/plan.h %D%/program.c %D%/restart.c %D%/root.c %D%/seccomp.c %D%/settings.c \
	%D%/syscalls.c %D%/syscalls.h %D%/users.c
%C%_berth_backend_ns_la_CPPFLAGS = $(AM_CPPFLAGS) $(SECCOMP_CFLAGS)
%C%_berth_backend_ns_la_LDFLAGS = -module $(BACKEND_LDFLAGS)
%C%_berth_backend_ns_la_LIBADD = plugins/ns/libchild.la $(AGENTLINK_LIBS)
EXTRA_%C%_berth_backend_ns_la_DEPENDENCIES = $(BACKEND_MAP)

NS_USER_TESTS = %D%/tests/ordinary-user
NS_NETWORK_TESTS = %D%/tests/network-as-root %D%/tests/network-as-user
NS_TEST_SOURCES = %D%/tests/host.c %D%/tests/host.h
check_PROGRAMS += %D%/tests/calls %D%/tests/cases %D%/tests/delegated %D%/tests/door %D%/tests/isolation %D%/tests/life %D%/tests/limits %D%/tests/machine \
	%D%/tests/network %D%/tests/ordinary %D%/tests/pause %D%/tests/peer %D%/tests/range %D%/tests/restart
TESTS += %D%/tests/cases %D%/tests/door %D%/tests/isolation %D%/tests/life %D%/tests/limits %D%/tests/machine %D%/tests/pause %D%/tests/restart \
	$(NS_NETWORK_TESTS) $(NS_USER_TESTS)
EXTRA_DIST += $(NS_NETWORK_TESTS) $(NS_USER_TESTS) %D%/tests/as-ordinary-user %D%/tests/as-ordinary-users %D%/tests/in-world
%C%_tests_calls_SOURCES = %D%/tests/calls.c
%C%_tests_calls_CFLAGS = -std=gnu17 -O1 -g $(WARNING_FLAGS)
%C%_tests_cases_SOURCES = %D%/tests/cases.c $(NS_TEST_SOURCES)
%C%_tests_cases_LDADD = $(TEST_LIBS)
%C%_tests_delegated_SOURCES = %D%/tests/delegated.c $(NS_TEST_SOURCES)
%C%_tests_delegated_LDADD = $(TEST_LIBS)
%C%_tests_door_SOURCES = %D%/tests/door.c $(NS_TEST_SOURCES)
%C%_tests_door_LDADD = $(TEST_LIBS)
LONG_TESTS += %D%/tests/door
THREAD_TESTS += %D%/tests/cases %D%/tests/door %D%/tests/life %D%/tests/limits %D%/tests/machine %D%/tests/pause %D%/tests/restart
%C%_tests_isolation_SOURCES = %D%/tests/isolation.c $(NS_TEST_SOURCES)
%C%_tests_isolation_LDADD = $(TEST_LIBS)
%C%_tests_life_SOURCES = %D%/tests/life.c $(NS_TEST_SOURCES)
%C%_tests_life_LDADD = $(TEST_LIBS)
%C%_tests_limits_SOURCES = %D%/tests/limits.c $(NS_TEST_SOURCES)
%C%_tests_limits_LDADD = $(TEST_LIBS)
%C%_tests_network_SOURCES = %D%/tests/network.c $(NS_TEST_SOURCES)
%C%_tests_network_LDADD = $(TEST_LIBS)
%C%_tests_peer_SOURCES = %D%/tests/peer.c
%C%_tests_pause_SOURCES = %D%/tests/pause.c $(NS_TEST_SOURCES)
%C%_tests_pause_LDADD = $(TEST_LIBS)
%C%_tests_range_SOURCES = %D%/tests/range.c $(NS_TEST_SOURCES)
%C%_tests_range_LDADD = $(TEST_LIBS)
%C%_tests_restart_SOURCES = %D%/tests/restart.c $(NS_TEST_SOURCES)
%C%_tests_restart_LDADD = $(TEST_LIBS)
%C%_tests_machine_SOURCES = %D%/tests/machine.c $(NS_TEST_SOURCES)
%C%_tests_machine_LDADD = $(TEST_LIBS)
%C%_tests_ordinary_SOURCES = %D%/tests/ordinary.c $(NS_TEST_SOURCES)
%C%_tests_ordinary_LDADD = $(TEST_LIBS)

# Between clone and exec a sanitizer's locks may be held by threads that are not there.
noinst_LTLIBRARIES += %D%/libchild.la
%C%_libchild_la_SOURCES = %D%/child.c
%C%_libchild_la_CFLAGS = $(AM_CFLAGS) -fno-sanitize=all

check_PROGRAMS += %D%/tests/agreement
TESTS += %D%/tests/agreement
%C%_tests_agreement_SOURCES = %D%/tests/agreement.c $(NS_TEST_SOURCES)
%C%_tests_agreement_LDADD = $(TEST_LIBS)
