# docs
EXTRA_DIST += %D%/abi-rules.md %D%/agent-protocol.md %D%/architecture.md %D%/berth.pod %D%/security.md
CLEANFILES += %D%/berth.1

if HAVE_POD2MAN
man_MANS += %D%/berth.1
endif

# A pipe would hide that mkmanual failed.
%D%/berth.1: %D%/berth.pod core/cli/mkmanual$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) %D% && core/cli/mkmanual$(EXEEXT) man $(srcdir)/%D%/berth.pod > $@.pod && \
	$(POD2MAN) --errors=die --utf8 --section=1 --name=BERTH --center='Berth' \
		--release='berth $(PACKAGE_VERSION)' $@.pod $@.tmp && rm -f $@.pod && mv $@.tmp $@
