#!/bin/sh
# The contract on `ns` with what takes minutes, and what tries to get out of it for longer.
BERTH_TEST_LONG=1
export BERTH_TEST_LONG
exec "${0%/*}/ns" "$@"
