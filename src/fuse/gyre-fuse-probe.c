/* SPDX-License-Identifier: Apache-2.0 */
#include "fuse/gyre-fuse-probe-private.h"

#include <string.h>

/* Asks the rule for one element, and counts what comes. */

#define OPERAND   "x"
#define CALL      20
#define DIVISION  4

typedef struct
{
  GyreEmit      emit;
  GyreFuseProbe result;
  guint         elements;   /* of operands that were asked for */
} Prober;

static Prober *
prober_of (GyreEmit *emit)
{
  return (Prober *) emit;
}

/* f (…), but not (uint) x nor if (…). */
static gboolean
is_call (const char *text,
         const char *at)
{
  if (*at != '(' || at == text)
    return FALSE;

  at--;
  if (*at == ' ' && at > text)
    at--;

  return g_ascii_isalnum (*at) || *at == '_';
}

static guint
count_work (const char *text)
{
  guint work = 0;

  for (const char *at = text; *at != '\0'; at++)
    if (is_call (text, at))
      work += CALL;
    else if (*at == '/' || *at == '%')
      work += DIVISION;
    else if (strchr ("+-*?&|^<>=", *at) != NULL)
      work += 1;

  return work;
}

static const char *
probe_operand (GyreEmit          *emit,
               const GyreTensor  *node,
               guint              i,
               const char *const *ix)
{
  prober_of (emit)->elements++;

  return OPERAND;
}

static const char *
probe_size (GyreEmit         *emit,
            const GyreTensor *value,
            int               dim)
{
  return "n";
}

/* Index arithmetic is cheap beside what is done with elements. */
static const char *
probe_let (GyreEmit   *emit,
           const char *ctype,
           const char *expression)
{
  prober_of (emit)->result.work += count_work (expression);

  return strcmp (expression, OPERAND) == 0 ? OPERAND : "v";
}

static void
probe_statement (GyreEmit   *emit,
                 const char *statement)
{
  prober_of (emit)->result.work += count_work (statement);
}

static const char *
probe_open_loop (GyreEmit   *emit,
                 const char *extent)
{
  prober_of (emit)->result.loops = TRUE;

  return "r";
}

static void
probe_open_if (GyreEmit   *emit,
               const char *condition)
{
  prober_of (emit)->result.work += count_work (condition);
}

static void
probe_close (GyreEmit *emit)
{
}

static void
probe_need (GyreEmit   *emit,
            const char *header)
{
  prober_of (emit)->result.work += CALL;
}

static const GyreEmitFuncs funcs = {
  .operand       = probe_operand,
  .extent        = probe_size,
  .offset        = probe_size,
  .global_extent = probe_size,
  .let           = probe_let,
  .variable      = probe_let,
  .statement     = probe_statement,
  .open_loop     = probe_open_loop,
  .close_loop    = probe_close,
  .open_if       = probe_open_if,
  .close_if      = probe_close,
  .need          = probe_need,
};

GyreFuseProbe
gyre_fuse_probe (const GyreTensor *node)
{
  g_autoptr (GyreArena) arena = gyre_arena_new ();
  const char *ix[GYRE_MAX_RANK];
  Prober prober = { { &funcs, arena } };
  const char *element;

  for (int d = 0; d < GYRE_MAX_RANK; d++)
    ix[d] = "i";

  element = node->prim->fuse (&prober.emit, node, ix);
  prober.result.work += count_work (element);
  prober.result.moves = !prober.result.loops && prober.elements == 1
                        && !(node->prim->flags & GYRE_PRIM_ELEMENTWISE)
                        && strcmp (element, OPERAND) == 0;

  return prober.result;
}
