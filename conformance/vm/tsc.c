/* tsc - prints how many thousand times a second the time stamp counter ticks.
 *
 * A guest that has to find this out itself measures against an emulated timer, and on a busy
 * machine gives up. */
#include <stdio.h>
#include <time.h>

#define MEASURE_NS 100000000

#ifdef __x86_64__
static long long
now_ns (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC_RAW, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int
main (void)
{
  long long start = now_ns (), end;
  unsigned long long first = __builtin_ia32_rdtsc ();

  while ((end = now_ns ()) - start < MEASURE_NS)
    ;
  printf ("%llu\n", (__builtin_ia32_rdtsc () - first) * 1000000ULL / (unsigned long long) (end - start));
  return 0;
}
#else
int
main (void)
{
  return 1;
}
#endif
