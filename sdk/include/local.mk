berthinclude_HEADERS += %D%/berth/abi.h %D%/berth/backend.h %D%/berth/errors.h \
	%D%/berth/services.h %D%/berth/types.h %D%/berth/berth.h

TESTS += %D%/tests/headers.sh
EXTRA_DIST += %D%/tests/headers.sh

check_PROGRAMS += %D%/tests/frozen
TESTS += %D%/tests/frozen
%C%_tests_frozen_SOURCES = %D%/tests/frozen.c %D%/tests/frozen-1.0.h
