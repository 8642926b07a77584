/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre.h>

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* seeded FAULT: a program with one fault in it, to see that the sanitizers find
 * it in spite of the suppressions. */

static void
leak (void)
{
  gyre_tree_set (gyre_tree_new_dict (), "lost", gyre_tree_new_none ());
}

static void
overflow (void)
{
  volatile gsize n = 16;
  float *values = g_new0 (float, n);

  values[n] = 1.0f;
  g_free (values);
}

static void
integer (void)
{
  volatile int large = INT_MAX;

  large = large + 1;
}

static void
none (void)
{
  gyre_tree_unref (gyre_tree_new_dict ());
}

static const struct
{
  const char *name;
  void      (*run) (void);
} faults[] = {
  { "leak", leak },
  { "overflow", overflow },
  { "integer", integer },
  { "none", none },
};

int
main (int    argc,
      char **argv)
{
  for (gsize i = 0; argc == 2 && i < G_N_ELEMENTS (faults); i++)
    if (strcmp (argv[1], faults[i].name) == 0)
      {
        faults[i].run ();
        return 0;
      }

  fprintf (stderr, "usage: seeded leak|overflow|integer|none\n");
  return 2;
}
