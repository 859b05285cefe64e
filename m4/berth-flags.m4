# BERTH_TRY_FLAGS(VARIABLE, FLAGS)
# Append to VARIABLE each compiler flag that this compiler takes without a word.
AC_DEFUN([BERTH_TRY_FLAGS], [
  for berth_flag in m4_normalize([$2]); do
    AC_MSG_CHECKING([whether $CC accepts $berth_flag])
    berth_saved_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS -Werror $berth_flag"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <stdlib.h>]], [[return abs (0);]])],
      [AC_MSG_RESULT([yes]); $1="$$1 $berth_flag"],
      [AC_MSG_RESULT([no])])
    CFLAGS=$berth_saved_CFLAGS
  done
])

# BERTH_TRY_LINK_FLAGS(VARIABLE, FLAGS)
# The same for the linker.
AC_DEFUN([BERTH_TRY_LINK_FLAGS], [
  for berth_flag in m4_normalize([$2]); do
    AC_MSG_CHECKING([whether the linker accepts $berth_flag])
    berth_saved_LDFLAGS=$LDFLAGS
    LDFLAGS="$LDFLAGS -Werror $berth_flag"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
      [AC_MSG_RESULT([yes]); $1="$$1 $berth_flag"],
      [AC_MSG_RESULT([no])])
    LDFLAGS=$berth_saved_LDFLAGS
  done
])

# BERTH_SONAME(VARIABLE, LIBRARY)
# The soname of a library that is opened at first need instead of linked.
AC_DEFUN([BERTH_SONAME], [
  AC_MSG_CHECKING([the soname of $2])
  berth_saved_LIBS=$LIBS
  LIBS="-Wl,--no-as-needed -l$2 $LIBS"
  $1=
  AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
    [$1=$($OBJDUMP -p conftest$EXEEXT | sed -n 's/^ *NEEDED *\(lib$2\.so[[.0-9]]*\) *$/\1/p')])
  LIBS=$berth_saved_LIBS
  AS_IF([test -n "$$1"], [AC_MSG_RESULT([$$1])],
    [AC_MSG_RESULT([not found])
     AC_MSG_ERROR([lib$2 is missing: install its development package])])
])
