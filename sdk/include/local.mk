berthinclude_HEADERS += %D%/berth/abi.h %D%/berth/backend.h %D%/berth/errors.h \
	%D%/berth/services.h %D%/berth/types.h %D%/berth/berth.h
