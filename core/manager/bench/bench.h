/* bench.h - what the parts of the bench share. */
#ifndef CORE_MANAGER_BENCH_BENCH_H
#define CORE_MANAGER_BENCH_BENCH_H

#include <berth/berth.h>

#include <stdbool.h>

#define BENCH_FIGURES 32

/* Two values of one unit that were measured side by side. */
struct figure
{
  const char *name;
  const char *left_name;
  const char *right_name;
  const char *unit;
  const char *target;   /* for people; NULL: none */
  double left;
  double right;
  const char *left_out; /* which of them there is not; NULL: measured */
  const char *why;      /* NULL: it does not work */
};

struct bench
{
  char directory[64];
  char program[4096]; /* berth itself */
  bool directory_is_memory;
  long count;
  struct berth_host *host;
  struct berth_sandbox *sandbox;
  const char *missing;         /* what to say of a program that is not there; NULL: it is */
  struct berth_sandbox *other; /* of the pair that is measured */
  struct figure figures[BENCH_FIGURES];
  int figure_count;
};

/* One thing that is measured: 0, or -1 when it did not work. */
typedef int bench_action (struct bench *bench);
int bench_time (struct bench *bench, bench_action *what, double *microseconds);
bench_action bench_bwrap;
double bench_median (double *samples, long count);
struct figure *bench_add (struct bench *bench, const char *name);

/* amounts.c: much data, many sandboxes, memory */
void bench_amounts (struct bench *bench);

/* tell.c */
void bench_tell_table (const struct bench *bench);
void bench_tell_json (const struct bench *bench);
int bench_draw (const struct bench *bench, const char *path);

#endif
