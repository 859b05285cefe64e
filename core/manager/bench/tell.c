/* tell.c - the figures as a table, as JSON, and drawn. */
#include "core/manager/bench/bench.h"

#include <stdio.h>

#define ROW_HEIGHT 44
#define LABEL_WIDTH 270
#define BAR_WIDTH 360
#define WIDTH 860

static const char *
why (const struct figure *figure)
{
  return figure->why != NULL ? figure->why : "does not work here";
}

void
bench_tell_table (const struct bench *bench)
{
  printf ("medians, of %ld where it says us, state on %s\n\n", bench->count,
          bench->directory_is_memory ? "tmpfs" : "disk");
  printf ("%-34s %-18s %9s  %-19s %9s  %-5s %6s  %s\n", "", "", "", "", "", "unit", "ratio", "target");
  for (int i = 0; i < bench->figure_count; i++)
    {
      const struct figure *figure = &bench->figures[i];

      if (figure->left_out != NULL)
        printf ("%-34s left out: %s %s\n", figure->name, figure->left_out, why (figure));
      else
        printf ("%-34s %-18s %9.0f  %-19s %9.0f  %-5s %6.2f  %s\n", figure->name, figure->left_name, figure->left,
                figure->right_name, figure->right, figure->unit, figure->left / figure->right,
                figure->target != NULL ? figure->target : "");
    }
}

void
bench_tell_json (const struct bench *bench)
{
  printf ("{\"count\": %ld, \"state\": \"%s\", \"figures\": [", bench->count,
          bench->directory_is_memory ? "tmpfs" : "disk");
  for (int i = 0; i < bench->figure_count; i++)
    {
      const struct figure *figure = &bench->figures[i];

      printf ("%s\n  {\"name\": \"%s\", \"left\": \"%s\", \"right\": \"%s\", \"unit\": \"%s\", ", i > 0 ? "," : "",
              figure->name, figure->left_name, figure->right_name, figure->unit);
      if (figure->left_out != NULL)
        printf ("\"left_out\": \"%s %s\"}", figure->left_out, why (figure));
      else
        printf ("\"left_value\": %.1f, \"right_value\": %.1f, \"ratio\": %.3f}", figure->left, figure->right,
                figure->left / figure->right);
    }
  printf ("\n]}\n");
}

static void
draw_bar (FILE *file, int y, const char *colour, const char *name, double value, double most, const char *unit)
{
  double width = most > 0 ? value / most * BAR_WIDTH : 0;

  fprintf (file, "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"14\" fill=\"%s\"/>\n", LABEL_WIDTH, y, width, colour);
  fprintf (file, "<text x=\"%.1f\" y=\"%d\">%.0f %s, %s</text>\n", LABEL_WIDTH + width + 6, y + 11, value, unit, name);
}

/* Each pair has its own scale: what is longer fills the width. */
int
bench_draw (const struct bench *bench, const char *path)
{
  FILE *file = fopen (path, "we");

  if (file == NULL)
    return -1;
  fprintf (file,
           "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
           "font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
           WIDTH, bench->figure_count * ROW_HEIGHT + 10);
  for (int i = 0; i < bench->figure_count; i++)
    {
      const struct figure *figure = &bench->figures[i];
      double most = figure->left > figure->right ? figure->left : figure->right;
      int y = i * ROW_HEIGHT + 10;

      fprintf (file, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" font-weight=\"bold\">%s</text>\n", LABEL_WIDTH - 10,
               y + 20, figure->name);
      if (figure->left_out != NULL)
        continue;
      draw_bar (file, y, "#2b6cb0", figure->left_name, figure->left, most, figure->unit);
      draw_bar (file, y + 16, "#a0aec0", figure->right_name, figure->right, most, figure->unit);
    }
  fprintf (file, "</svg>\n");
  return fclose (file);
}
