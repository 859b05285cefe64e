/* shell.h - the very small shell that scripted commands default to. */
#ifndef BERTH_FAKE_SHELL_H
#define BERTH_FAKE_SHELL_H

#include "plugins/fake/outcome.h"
#include "plugins/fake/words.h"

struct fake_shell
{
  struct berth_call *call;
  struct fake_box *box;
  struct fake_outcome *outcome;
  const char *workdir;
  uint32_t uid;
  struct fake_words environment; /* NAME=VALUE, later ones win */
  int status;                    /* of the last command */
  int done;                      /* exit or kill was called */
  struct berth_buffer *capture;  /* where standard output goes instead, for a redirection */
  uint32_t stdout_stream;        /* and else */
  unsigned int depth;            /* of sh -c */
};

const char *fake_shell_variable (const struct fake_shell *shell, const char *name, size_t size);
int fake_shell_print (struct fake_shell *shell, uint32_t stream, const char *format, ...) BERTH_FORMAT (3, 4);
/* Runs one command or one line; 0, or -1 with the reason recorded. */
int fake_shell_command (struct fake_shell *shell, char **arguments, size_t count);
int fake_shell_line (struct fake_shell *shell, const char *line);
/* 1 when there is a builtin of that name, which then ran. */
int fake_builtin (struct fake_shell *shell, char **arguments, size_t count);
/* The files of the sandbox, relative to the working directory. */
int fake_shell_read (struct fake_shell *shell, const char *path, struct berth_buffer *content);
int fake_shell_write (struct fake_shell *shell, const char *path, const struct berth_buffer *content, int append);
char *fake_shell_path (const struct fake_shell *shell, const char *path);

#endif
