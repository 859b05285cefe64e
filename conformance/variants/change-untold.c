/* Exports a workspace that changes, and does not say so. */
#define UNTOLD BERTH_TAR_CHANGED
#include "conformance/variants/untold.h"

VARIANT ("change-untold", variant.workspace.export_tar = untold_export)
