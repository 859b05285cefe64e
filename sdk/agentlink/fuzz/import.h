/* import.h - archives on their way into a workspace, as a fuzzer gives them. */
#ifndef BERTH_SDK_AGENTLINK_FUZZ_IMPORT_H
#define BERTH_SDK_AGENTLINK_FUZZ_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* libFuzzer's, or that of sdk/base/tests/drive.c. */
size_t LLVMFuzzerMutate (uint8_t *bytes, size_t size, size_t room);

/* Called by them.  The first returns 0; what must not be ends the program. */
int LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size);
size_t LLVMFuzzerCustomMutator (uint8_t *bytes, size_t size, size_t room, unsigned int seed);

#endif
