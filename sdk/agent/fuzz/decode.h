/* decode.h - every parser of the agent that foreign bytes reach, on any bytes. */
#ifndef BERTH_SDK_AGENT_FUZZ_DECODE_H
#define BERTH_SDK_AGENT_FUZZ_DECODE_H

#include <stddef.h>
#include <stdint.h>

/* The first byte chooses the parser.  0; a parser that misbehaves ends the program. */
int LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size);

#endif
