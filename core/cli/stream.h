/* stream.h - bytes in and out, for which no signal has to wait. */
#ifndef BERTH_CLI_STREAM_H
#define BERTH_CLI_STREAM_H

#include <stddef.h>
#include <sys/types.h>

/* As berth_fd_write_all and as read, but both give up with ECANCELED once a signal came that ends
 * berth: somebody who does not read or does not write holds up neither the signal nor what has to
 * be done after it. */
int cli_stream_put (int fd, const void *bytes, size_t size);
ssize_t cli_stream_take (int fd, void *bytes, size_t size);

#endif
