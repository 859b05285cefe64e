# plain with one function changed, a file each: what the suites must notice.
VARIANTS = two-exits made-up-zero pipe-not-told leader-only group-only swapped-halves late-output \
	terminal-ignored user-ignored empty-variable-lost workdir-fallback secret-told last-byte-lost path-decoded \
	link-followed mode-late mode-masked wish-ignored failed-source-kept size-unchecked link-is-file empty-when-gone \
	second-destroy dead-runs unknown-is-error connect-creates wrong-life tier-ignored nameless-error any-assignment other-numbers \
	owned-always dirty-workspace private-opened export-unlimited entry-not-named \
	empty-argument-lost long-cut cancel-ignored truncated-first owner-ignored missing-removed labels-lost runs-for-ever \
	read-anyway change-untold skip-untold import-unlimited pause-ignored stop-ignored kills-untold archive-held never-answers \
	list-cut dots-hidden lines-hidden names-dropped status-lost renew-told probe-blind deny-accepted sink-ignored \
	error-is-empty busy-refused empty-file-skipped
VARIANT_BACKENDS = $(VARIANTS:%=%D%/berth-backend-%.la)

check_LTLIBRARIES += %D%/libplain.la
%C%_libplain_la_SOURCES = $(PLAIN_SOURCES)
%C%_libplain_la_CPPFLAGS = $(AM_CPPFLAGS) -Dberth_backend_v1=plain_backend_v1
%C%_libplain_la_LIBADD = $(AGENTLINK_LIBS)

$(VARIANT_BACKENDS): %D%/berth-backend-%.la: %D%/%.c %D%/isolated.h %D%/listed.h %D%/timeout.h %D%/untold.h %D%/variant.h %D%/libplain.la $(BACKEND_MAP)
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(LIBTOOL) $(AM_V_lt) --tag=CC --mode=compile $(CC) $(DEFS) $(AM_CPPFLAGS) $(CPPFLAGS) \
	  $(AM_CFLAGS) $(CFLAGS) -c -o %D%/$*.lo $(srcdir)/%D%/$*.c
	$(AM_V_CCLD)$(LIBTOOL) $(AM_V_lt) --tag=CC --mode=link $(CC) $(AM_CFLAGS) $(CFLAGS) $(AM_LDFLAGS) $(LDFLAGS) -module \
	  $(BACKEND_LDFLAGS) -rpath /nowhere -o $@ %D%/$*.lo %D%/libplain.la

check_DATA += $(VARIANT_BACKENDS)
CLEANFILES += $(VARIANT_BACKENDS) $(VARIANTS:%=%D%/%.lo) $(VARIANTS:%=%D%/%.o)
TESTS += %D%/check %D%/mutation
LONG_TESTS += %D%/check %D%/mutation
EXTRA_DIST += %D%/check %D%/mutation %D%/expected %D%/unproven %D%/isolated.h %D%/listed.h %D%/timeout.h %D%/untold.h %D%/variant.h $(VARIANTS:%=%D%/%.c)
