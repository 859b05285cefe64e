# The backend `ns` in a machine of its own, where there is cgroup 2 and nothing else: Debian's kernel
# under QEMU.  Not of `make check`, since it needs both.
VM_TESTS = conformance/tests/vm.sh
check_PROGRAMS += %D%/tsc
%C%_tsc_SOURCES = %D%/tsc.c
EXTRA_DIST += $(VM_TESTS) %D%/boot %D%/guest %D%/image %D%/init

check-vm:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(VM_TESTS)'

check-vm-total:
	@$(MAKE) $(AM_MAKEFLAGS) check-total TESTS='$(VM_TESTS)'

.PHONY: check-vm check-vm-total
