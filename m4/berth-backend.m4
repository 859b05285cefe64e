# BERTH_BACKEND([MINIMUM-VERSION])
# -------------------------------
# For a backend of Berth: finds the headers, and sets for Makefile.am
#
#   BACKEND_CFLAGS   what to compile with
#   BACKEND_LDFLAGS  libtool's flags for berth-backend-NAME.la
#   backenddir       where it is installed
#
# and, for what one may like to know, BACKEND_ABI and BERTH_AGENT, the program that runs inside a sandbox.
# A backend that talks to that program takes PKG_CHECK_MODULES([BERTH_SDK], [berth-sdk]) as well.
AC_DEFUN([BERTH_BACKEND],
[AC_REQUIRE([PKG_PROG_PKG_CONFIG])dnl
PKG_CHECK_MODULES([BACKEND], [berth-backend]m4_ifnblank([$1], [ >= $1]))
PKG_CHECK_VAR([BACKEND_ABI], [berth-backend], [abi])
PKG_CHECK_VAR([BACKEND_MAP], [berth-backend], [map])
PKG_CHECK_VAR([BERTH_AGENT], [berth-backend], [agent])
PKG_CHECK_VAR([backenddir], [berth-backend], [backenddir])
AC_SUBST([BACKEND_LDFLAGS], ["-module -avoid-version -shared -no-undefined -Wl,-z,defs -Wl,-z,now \
-Wl,-z,nodelete -Wl,-z,noexecstack -Wl,--version-script=$BACKEND_MAP"])
])
