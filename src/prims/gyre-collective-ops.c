/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-collective-private.h"

#include <string.h>

/* Collectives as programs call them: over one manual axis, or several ("data+model"). */

char **
gyre_collective_split_axes (GyreGraph  *graph,
                            const char *call,
                            const char *axes)
{
  g_auto (GStrv) names = g_strsplit (axes, "+", -1);

  for (guint i = 0; names[i] != NULL; i++)
    {
      g_strstrip (names[i]);
      for (guint k = 0; k < i; k++)
        if (g_str_equal (names[i], names[k]))
          {
            gyre_graph_fail (graph,
                             g_error_new (GYRE_ERROR, GYRE_ERROR_SHARDING,
                                          "%s: axis '%s' stands twice in '%s'", call,
                                          names[i], axes));
            return NULL;
          }
    }

  if (names[0] == NULL)
    {
      gyre_graph_fail (graph, g_error_new (GYRE_ERROR, GYRE_ERROR_SHARDING,
                                           "%s: no axis is named", call));
      return NULL;
    }

  return g_steal_pointer (&names);
}

/* The last axis first: it is the innermost. */
static GyreTensor *
emit_each (const GyrePrim *prim,
           GyreTensor     *x,
           const char     *call,
           const char     *axes)
{
  g_auto (GStrv) names = NULL;

  if (x->poison)
    return x;
  names = gyre_collective_split_axes (x->graph, call, axes);
  if (names == NULL)
    return gyre_graph_fail (x->graph, NULL);

  for (guint i = g_strv_length (names); i-- > 0;)
    x = gyre_collective_emit (prim, x, call, names[i]);
  return x;
}

/**
 * gyre_psum:
 * @x: f32, i32 or u32: each member's own, of one shape
 * @axis: the name of a manual axis, or of several: `"data+model"`
 *
 * The sum over the members along @axis, in their order: each of them gets it. Gradient:
 * the sum of the members' cotangents.
 *
 * Returns: (transfer none): a tensor like @x; a poison tensor where there is no such axis
 */
GyreTensor *
gyre_psum (GyreTensor *x,
           const char *axis)
{
  g_return_val_if_fail (x != NULL && axis != NULL, NULL);

  return emit_each (gyre_prim_psum, x, "psum", axis);
}

/**
 * gyre_pmax:
 * @x: f32, i32 or u32: each member's own, of one shape
 * @axis: the name of a manual axis, or of several: `"data+model"`
 *
 * The largest over the members along @axis, NaN if one has it. Gradient: the sum of the
 * members' cotangents goes to those who have the largest, in equal parts.
 *
 * Returns: (transfer none): a tensor like @x; a poison tensor where there is no such axis
 */
GyreTensor *
gyre_pmax (GyreTensor *x,
           const char *axis)
{
  g_return_val_if_fail (x != NULL && axis != NULL, NULL);

  return emit_each (gyre_prim_pmax, x, "pmax", axis);
}

/**
 * gyre_pmin:
 * @x: f32, i32 or u32: each member's own, of one shape
 * @axis: the name of a manual axis, or of several: `"data+model"`
 *
 * The smallest over the members along @axis, NaN if one has it. Gradient: as that of
 * gyre_pmax().
 *
 * Returns: (transfer none): a tensor like @x; a poison tensor where there is no such axis
 */
GyreTensor *
gyre_pmin (GyreTensor *x,
           const char *axis)
{
  g_return_val_if_fail (x != NULL && axis != NULL, NULL);

  return emit_each (gyre_prim_pmin, x, "pmin", axis);
}

/**
 * gyre_all_gather:
 * @x: any dtype: each member's own, of one shape
 * @axis: the name of a manual axis, or of several: `"data+model"`
 *
 * The members' values in their order along a new leading dimension: each of them gets it.
 * Gradient: the member's row of the sum of the members' cotangents.
 *
 * Returns: (transfer none): a tensor of shape [members, …]; on an error a poison tensor
 */
GyreTensor *
gyre_all_gather (GyreTensor *x,
                 const char *axis)
{
  GyreTensor *all;
  GyreShape shape;

  g_return_val_if_fail (x != NULL && axis != NULL, NULL);

  all = emit_each (gyre_prim_all_gather_manual, x, "all_gather", axis);
  if (all->poison || all->shape.rank == x->shape.rank + 1)
    return all;

  /* several leading dimensions become one */
  shape.rank = x->shape.rank + 1;
  shape.dims[0] = 1;
  for (int i = 0; i < all->shape.rank - x->shape.rank; i++)
    shape.dims[0] *= all->shape.dims[i];
  for (int i = 0; i < x->shape.rank; i++)
    shape.dims[i + 1] = x->shape.dims[i];
  return gyre_reshape (all, shape);
}

static GyreTensor *
emit_index (GyreGraph  *graph,
            const char *axis,
            guint      *size)
{
  GyreAxisAttrs attrs = { 0 };
  const GyreAxis *found;

  if (!gyre_axis_attrs_init (&attrs, graph, "axis_index", axis, &found))
    return gyre_graph_fail (graph, NULL);

  *size = attrs.size;
  return gyre_graph_emit (graph, gyre_prim_axis_index, NULL, 0, &attrs);
}

/**
 * gyre_axis_index:
 * @axis: the name of a manual axis, or of several: `"data+model"`
 *
 * Returns: (transfer none): i32[], the member's place along @axis, from 0, row-major over
 *   several; a poison tensor where there is no such axis
 */
GyreTensor *
gyre_axis_index (const char *axis)
{
  GyreGraph *graph = gyre_graph_require ("gyre_axis_index");
  g_auto (GStrv) names = NULL;
  GyreTensor *index = NULL;
  guint size = 1;

  g_return_val_if_fail (axis != NULL, NULL);
  if (graph == NULL)
    return NULL;

  names = gyre_collective_split_axes (graph, "axis_index", axis);
  if (names == NULL)
    return gyre_graph_fail (graph, NULL);

  for (guint i = 0; names[i] != NULL; i++)
    {
      GyreTensor *next = emit_index (graph, names[i], &size);

      index = index == NULL
                  ? next
                  : gyre_add (gyre_mul (index, gyre_full_like (index, size)), next);
    }
  return index;
}

/* Of one axis */
static gboolean
is_manual (GyreGraph  *graph,
           const char *axis)
{
  GyreAxisAttrs attrs = { 0 };
  const GyreAxis *found;

  for (guint a = 0; a < graph->n_axes; a++)
    if (strcmp (graph->axes[a].name, axis) == 0)
      return graph->axes[a].manual;

  return graph->n_axes > 0 &&
         gyre_axis_attrs_init (&attrs, graph, "axis_is_manual", axis, &found);
}

/**
 * gyre_axis_is_manual:
 * @axis: the name of a mesh axis, or of several: `"data+model"`
 *
 * Whether the function that is being traced sees the share of one member along @axis, as
 * in gyre_step_pmap(), so that it can call collectives over it. Where the mesh has axes
 * but none of this name, an error is kept on the trace.
 *
 * Returns: %TRUE if it does; %FALSE if it sees the whole batch, or there is no mesh
 */
gboolean
gyre_axis_is_manual (const char *axis)
{
  GyreGraph *graph = gyre_graph_require ("gyre_axis_is_manual");
  g_auto (GStrv) names = NULL;

  g_return_val_if_fail (axis != NULL, FALSE);
  if (graph == NULL)
    return FALSE;

  names = gyre_collective_split_axes (graph, "axis_is_manual", axis);
  for (guint i = 0; names != NULL && names[i] != NULL; i++)
    if (!is_manual (graph, names[i]))
      return FALSE;

  return names != NULL;
}

/**
 * gyre_axis_get_manual:
 *
 * The axes along which the function that is being traced sees the share of one member,
 * as in gyre_step_pmap(): a name for collectives over the whole batch.
 *
 * Returns: (transfer none) (nullable): the names, with `+` between them; %NULL where the
 *   function sees the whole batch, or there is no mesh
 */
const char *
gyre_axis_get_manual (void)
{
  GyreGraph *graph = gyre_graph_require ("gyre_axis_get_manual");
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint a = 0; graph != NULL && a < graph->n_axes; a++)
    if (graph->axes[a].manual)
      g_string_append_printf (names, "%s%s", names->len > 0 ? "+" : "",
                              graph->axes[a].name);

  return names->len > 0 ? g_intern_string (names->str) : NULL;
}

guint
gyre_collective_count_members (GyreGraph  *graph,
                               const char *call,
                               const char *axes)
{
  g_auto (GStrv) names = gyre_collective_split_axes (graph, call, axes);
  guint n = 1;

  for (guint i = 0; names != NULL && names[i] != NULL; i++)
    {
      GyreAxisAttrs attrs = { 0 };
      const GyreAxis *found;

      if (!gyre_axis_attrs_init (&attrs, graph, call, names[i], &found))
        return 0;
      n *= attrs.size;
    }

  return names != NULL ? n : 0;
}

/**
 * gyre_axis_size:
 * @axis: the name of a manual axis, or of several: `"data+model"`
 *
 * Returns: (transfer none): i32[], the number of members along @axis, a constant; a
 *   poison tensor where there is no such axis
 */
GyreTensor *
gyre_axis_size (const char *axis)
{
  GyreGraph *graph = gyre_graph_require ("gyre_axis_size");
  guint n;

  g_return_val_if_fail (axis != NULL, NULL);
  if (graph == NULL)
    return NULL;

  n = gyre_collective_count_members (graph, "axis_size", axis);
  return n > 0 ? gyre_constant (GYRE_I32, n) : gyre_graph_fail (graph, NULL);
}
