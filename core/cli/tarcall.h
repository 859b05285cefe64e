/* tarcall.h - tar streams outside of a backend's call: what fails is told at once. */
#ifndef BERTH_CLI_TARCALL_H
#define BERTH_CLI_TARCALL_H

#include "core/cli/copy.h"

struct cli_tar_call
{
  struct berth_call call; /* the first member */
  struct berth_services services;
  struct berth_error error; /* of the last failure; code 0: none */
};

void cli_tar_call_begin (struct cli_tar_call *call);

/* A tree as a tar on standard output.  */
struct cli_tar_out
{
  struct cli_copy *copy;
  struct cli_tar_call call;
  struct berth_tar_writer *writer;
};
int cli_tar_out_open (struct cli_tar_out *out, struct cli_copy *copy, struct cli_copy_target *target);
/* The end of the archive, unless STATUS tells of a failure; without it the archive counts as cut. */
int cli_tar_out_close (struct cli_tar_out *out, int status);

#endif
