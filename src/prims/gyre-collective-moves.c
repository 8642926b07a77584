/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-collective-private.h"

#include <string.h>

/* psum_scatter, all_to_all and ppermute as programs call them, over one manual axis or
 * several ("data+model"). */

/* Whether x has one row a member. */
static gboolean
check_rows (GyreTensor *x,
            const char *call,
            const char *axis,
            guint      *n)
{
  g_autofree char *text = NULL;

  *n = gyre_collective_count_members (x->graph, call, axis);
  if (*n == 0)
    return FALSE;
  if (x->shape.rank > 0 && x->shape.dims[0] == (gint64) *n)
    return TRUE;

  text = gyre_prims_describe (x);
  gyre_prims_fail (x->graph, "%s: the operand is %s: its leading dimension must be %u, a "
                   "row for each member along '%s'", call, text, *n, axis);
  return FALSE;
}

static gint64
count_row (const GyreTensor *x)
{
  gint64 n = 1;

  for (int i = 1; i < x->shape.rank; i++)
    n *= x->shape.dims[i];
  return n;
}

static GyreShape
row_shape (const GyreTensor *x)
{
  GyreShape shape = { .rank = x->shape.rank - 1 };

  memcpy (shape.dims, x->shape.dims + 1, (gsize) shape.rank * sizeof (gint64));
  return shape;
}

/* The first axis first: its members' rows lie the furthest apart. */
static GyreTensor *
scatter_each (GyreTensor *x,
              char      **names,
              guint       n)
{
  gint64 count = count_row (x) * n;
  GyreShape shape = row_shape (x);

  for (guint i = 0; names[i] != NULL; i++)
    {
      gint64 size = gyre_collective_count_members (x->graph, "psum_scatter", names[i]);

      count /= size;
      x = gyre_reshape (x, GYRE_SHAPE (size, count));
      if (size == 1)
        x = gyre_reshape (x, GYRE_SHAPE (count));
      else
        x = gyre_collective_emit (gyre_prim_psum_scatter, x, "psum_scatter", names[i]);
    }
  return gyre_reshape (x, shape);
}

/**
 * gyre_psum_scatter:
 * @x: f32, i32 or u32 of shape [members, …]: each member's own
 * @axis: the name of a manual axis, or of several: `"data+model"`
 *
 * Row m of gyre_psum() goes to member m, and no other row leaves its chunk: the bytes of
 * a reduce-scatter. Gradient: gyre_all_gather() of the members' cotangents.
 *
 * Errors: %GYRE_ERROR_SHAPE where the leading dimension isn't one a member.
 *
 * Returns: (transfer none): a tensor of shape […]; on an error a poison tensor
 */
GyreTensor *
gyre_psum_scatter (GyreTensor *x,
                   const char *axis)
{
  g_auto (GStrv) names = NULL;
  guint n;

  g_return_val_if_fail (x != NULL && axis != NULL, NULL);

  if (x->poison)
    return x;
  if (!check_rows (x, "psum_scatter", axis, &n))
    return gyre_graph_fail (x->graph, NULL);

  names = gyre_collective_split_axes (x->graph, "psum_scatter", axis);
  return scatter_each (x, names, n);
}

/* The dimension first, or back from there. */
static GyreTensor *
turn (GyreTensor *x,
      int         dim,
      gboolean    back)
{
  int permutation[GYRE_MAX_RANK];

  for (int i = 0; i < GYRE_MAX_RANK; i++)
    permutation[i] = i;
  for (int i = 0; i <= dim; i++)
    if (back)
      permutation[i] = i < dim ? i + 1 : 0;
    else
      permutation[i] = i == 0 ? dim : i - 1;
  return dim == 0 ? x : gyre_transpose (x, permutation);
}

/* Along one axis of [axis, axis, …, row]. */
static GyreTensor *
swap_dim (GyreTensor *x,
          int         dim,
          const char *name)
{
  GyreTensor *y = turn (x, dim, FALSE);
  GyreShape shape = y->shape;
  gint64 rows = shape.dims[0];

  if (rows == 1)
    return x;
  y = gyre_reshape (y, GYRE_SHAPE (rows, count_row (y)));
  y = gyre_collective_emit (gyre_prim_all_to_all, y, "all_to_all", name);
  return turn (gyre_reshape (y, shape), dim, TRUE);
}

/**
 * gyre_all_to_all:
 * @x: any dtype, of shape [members, …]: each member's own
 * @axis: the name of a manual axis, or of several: `"data+model"`
 *
 * Row m of member k's @x becomes row k of member m's result. Gradient: gyre_all_to_all()
 * of the cotangents.
 *
 * Errors: %GYRE_ERROR_SHAPE where the leading dimension isn't one a member.
 *
 * Returns: (transfer none): a tensor like @x; on an error a poison tensor
 */
GyreTensor *
gyre_all_to_all (GyreTensor *x,
                 const char *axis)
{
  g_auto (GStrv) names = NULL;
  GyreShape before, shape = { 0 };
  guint n;

  g_return_val_if_fail (x != NULL && axis != NULL, NULL);

  if (x->poison)
    return x;
  if (!check_rows (x, "all_to_all", axis, &n))
    return gyre_graph_fail (x->graph, NULL);

  names = gyre_collective_split_axes (x->graph, "all_to_all", axis);
  before = x->shape;
  for (guint i = 0; names[i] != NULL; i++)
    shape.dims[shape.rank++] =
        gyre_collective_count_members (x->graph, "all_to_all", names[i]);
  shape.dims[shape.rank++] = count_row (x);
  x = gyre_reshape (x, shape);
  for (guint i = 0; names[i] != NULL; i++)
    x = swap_dim (x, (int) i, names[i]);
  return gyre_reshape (x, before);
}

/* --- ppermute --- */

static gboolean
check_pairs (GyreGraph   *graph,
             const guint *pairs,
             guint        n_pairs,
             guint        n)
{
  for (guint i = 0; i < n_pairs; i++)
    {
      if (pairs[2 * i] >= n || pairs[2 * i + 1] >= n)
        {
          gyre_graph_fail (graph, g_error_new (GYRE_ERROR, GYRE_ERROR_INVALID,
                                               "ppermute: pair %u, from %u to %u, names "
                                               "a member beyond the %u there are", i,
                                               pairs[2 * i], pairs[2 * i + 1], n));
          return FALSE;
        }
      for (guint k = 0; k < i; k++)
        if (pairs[2 * i] == pairs[2 * k] || pairs[2 * i + 1] == pairs[2 * k + 1])
          {
            gyre_graph_fail (
                graph, g_error_new (GYRE_ERROR, GYRE_ERROR_INVALID,
                                    "ppermute: pairs %u and %u have the same source or "
                                    "the same destination: each member may send once "
                                    "and receive once", k, i));
            return FALSE;
          }
    }

  return TRUE;
}

/* A place in the order of the names, as a place in the mesh's order of the same axes. */
static guint
to_mesh_order (GyreGraph *graph,
               char     **names,
               guint      place)
{
  guint coords[GYRE_MAX_AXES] = { 0 };
  guint result = 0;

  for (guint i = g_strv_length (names); i-- > 0;)
    for (guint a = 0; a < graph->n_axes; a++)
      if (g_str_equal (graph->axes[a].name, names[i]))
        {
          coords[a] = place % graph->axes[a].size;
          place /= graph->axes[a].size;
        }
  for (guint a = 0; a < graph->n_axes; a++)
    if (g_strv_contains ((const char *const *) names, graph->axes[a].name))
      result = result * graph->axes[a].size + coords[a];

  return result;
}

static GyreTensor *
emit_permute (GyreTensor  *x,
              char       **names,
              const guint *pairs,
              guint        n_pairs)
{
  GyrePermuteAttrs attrs = { 0 };
  const GyreAxis *found;

  if (!gyre_axis_attrs_init (&attrs.axis, x->graph, "ppermute", names[0], &found))
    return gyre_graph_fail (x->graph, NULL);

  memset (attrs.sources, GYRE_NO_SOURCE, sizeof attrs.sources);
  for (; names[attrs.n_axes] != NULL; attrs.n_axes++)
    attrs.axes[attrs.n_axes] = g_quark_from_string (names[attrs.n_axes]);
  for (guint i = 0; i < n_pairs; i++)
    attrs.sources[to_mesh_order (x->graph, names, pairs[2 * i + 1])] =
        (guint8) to_mesh_order (x->graph, names, pairs[2 * i]);

  return gyre_prims_emit1 (gyre_prim_ppermute, x, &attrs);
}

/**
 * gyre_ppermute:
 * @x: any number: each member's own, of one shape
 * @axis: the name of a manual axis, or of several: `"data+model"`
 * @pairs: (array): source and destination, one pair after the other
 * @n_pairs: number of pairs
 *
 * Sends each source's @x to its destination; who receives nothing has zeros. Gradient:
 * the cotangents go back.
 *
 * Errors: %GYRE_ERROR_INVALID where a pair names no member, or a member stands twice as
 * source or as destination, and where there are more than 255 members.
 *
 * Returns: (transfer none): a tensor like @x; on an error a poison tensor
 */
GyreTensor *
gyre_ppermute (GyreTensor  *x,
               const char  *axis,
               const guint *pairs,
               guint        n_pairs)
{
  g_auto (GStrv) names = NULL;
  guint n;

  g_return_val_if_fail (x != NULL && axis != NULL, NULL);
  g_return_val_if_fail (pairs != NULL || n_pairs == 0, NULL);

  if (x->poison)
    return x;
  n = gyre_collective_count_members (x->graph, "ppermute", axis);
  if (n == 0 || !check_pairs (x->graph, pairs, n_pairs, n))
    return gyre_graph_fail (x->graph, NULL);
  if (n > GYRE_NO_SOURCE)
    return gyre_graph_fail (x->graph, g_error_new (GYRE_ERROR, GYRE_ERROR_INVALID,
                                                   "ppermute: there are %u members, and "
                                                   "at most %d can exchange values", n,
                                                   GYRE_NO_SOURCE));
  if (n == 1)
    return n_pairs == 1 ? x : gyre_full_like (x, 0);

  names = gyre_collective_split_axes (x->graph, "ppermute", axis);
  return emit_permute (x, names, pairs, n_pairs);
}
