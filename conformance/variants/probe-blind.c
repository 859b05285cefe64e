/* Sees nothing of what is there. */
#include "conformance/variants/variant.h"

static int
probe (struct berth_call *call, struct berth_state *state, const struct berth_native *native, struct berth_presence *out)
{
  (void) call;
  (void) state;
  (void) native;
  out->verdict = BERTH_ABSENT;
  return 0;
}

static const struct berth_probe_ops blind = { .struct_size = sizeof blind, .probe = probe };

VARIANT ("probe-blind", variant.backend.probe = &blind)
