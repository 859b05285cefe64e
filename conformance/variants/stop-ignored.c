/* Says that a sandbox is stopped, and lets it go on. */
#include "conformance/variants/isolated.h"

ISOLATED ("stop-ignored", isolated.restart.stop = isolated_only_say)
