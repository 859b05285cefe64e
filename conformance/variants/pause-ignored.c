/* Says that a sandbox is paused, and lets it go on. */
#include "conformance/variants/isolated.h"

ISOLATED ("pause-ignored", isolated.pause.pause = isolated_only_say)
