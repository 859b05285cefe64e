# Projects of their own, which are built against what is installed.
EXTRA_DIST += %D%/backend-chroot/Makefile.am %D%/backend-chroot/README.md %D%/backend-chroot/backend.c %D%/backend-chroot/box.c \
	%D%/backend-chroot/chroot.h %D%/backend-chroot/configure.ac %D%/backend-chroot/conform.sh %D%/backend-chroot/launch.c \
	%D%/backend-chroot/m4/.keep %D%/app/Makefile.am %D%/app/README.md %D%/app/configure.ac %D%/app/main.c
TESTS += %D%/tests/out-of-tree.sh
LONG_TESTS += %D%/tests/out-of-tree.sh
EXTRA_DIST += %D%/tests/out-of-tree.sh
