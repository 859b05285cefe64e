/* Leaves out what is no file, and does not say so. */
#define UNTOLD BERTH_TAR_SKIPPED
#include "conformance/variants/untold.h"

VARIANT ("skip-untold", variant.workspace.export_tar = untold_export)
