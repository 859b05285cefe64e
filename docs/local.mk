# docs
EXTRA_DIST += %D%/performance.md %D%/performance.svg
EXTRA_DIST += %D%/abi-mapping.md %D%/abi-rules.md %D%/agent-protocol.md %D%/architecture.md \
	%D%/berth-backend.pod %D%/conformance/ns.md %D%/berth-conform.pod %D%/berth.pod %D%/cases.md %D%/domain-model.md %D%/security.md
CLEANFILES += %D%/berth.1 %D%/berth-backend.3 %D%/berth-conform.1

if HAVE_POD2MAN
man_MANS += %D%/berth.1 %D%/berth-backend.3 %D%/berth-conform.1
endif

# A pipe would hide that mkmanual failed.
%D%/berth.1: %D%/berth.pod core/cli/mkmanual$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) %D% && core/cli/mkmanual$(EXEEXT) man $(srcdir)/%D%/berth.pod > $@.pod && \
	$(POD2MAN) --errors=die --utf8 --section=1 --name=BERTH --center='Berth' \
		--release='berth $(PACKAGE_VERSION)' $@.pod $@.tmp && rm -f $@.pod && mv $@.tmp $@

%D%/berth-conform.1: %D%/berth-conform.pod
	$(AM_V_GEN)$(MKDIR_P) %D% && $(POD2MAN) --errors=die --utf8 --section=1 --name=BERTH-CONFORM --center='Berth' \
		--release='berth $(PACKAGE_VERSION)' $(srcdir)/%D%/berth-conform.pod $@.tmp && mv $@.tmp $@

# The ABI's page is made of the headers, the capability table and the error codes.
noinst_PROGRAMS += %D%/mkabi
%C%_mkabi_SOURCES = %D%/mkabi.c
%C%_mkabi_LDADD = core/registry/libregistry.la sdk/base/libbase.la

ABI_INCLUDE = sdk/include/berth
%D%/berth-backend.3: %D%/berth-backend.pod %D%/mkabi$(EXEEXT) $(ABI_INCLUDE)/abi.h $(ABI_INCLUDE)/backend.h \
		$(ABI_INCLUDE)/services.h $(ABI_INCLUDE)/types.h
	$(AM_V_GEN)$(MKDIR_P) %D% && %D%/mkabi$(EXEEXT) man $(srcdir)/%D%/berth-backend.pod $(srcdir)/$(ABI_INCLUDE) \
		> $@.pod && \
	$(POD2MAN) --errors=die --utf8 --section=3 --name=BERTH-BACKEND --center='Berth' \
		--release='berth $(PACKAGE_VERSION)' $@.pod $@.tmp && rm -f $@.pod && mv $@.tmp $@

TESTS += %D%/tests/abi.sh %D%/tests/cases.sh %D%/tests/domain.sh %D%/tests/security.sh
EXTRA_DIST += %D%/tests/abi.sh %D%/tests/cases.sh %D%/tests/domain.sh %D%/tests/security.sh
