/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-plugin-prim.h>

#include <string.h>

#include "prims/gyre-prims-private.h"

/* The public face of primitives, for plugins: each GyrePluginPrim becomes one GyrePrim
 * whose attributes begin with it. */

typedef struct
{
  const GyrePluginPrim *plugin;
  guint8                attrs[];
} Attrs;

static const GyrePluginPrim *
get_plugin (const GyreTensor *node)
{
  return ((const Attrs *) node->attrs)->plugin;
}

static const void *
get_attrs (const GyreTensor *node)
{
  return ((const Attrs *) node->attrs)->attrs;
}

static gboolean
check_rows (const GyrePluginPrim  *plugin,
            GyreTensor *const     *operands,
            const GyreShape       *shape,
            GError               **error)
{
  for (guint i = 0; i < plugin->n_operands; i++)
    {
      const GyreShape *has = &operands[i]->shape;
      g_autofree char *is = gyre_shape_to_string (has);
      g_autofree char *made = gyre_shape_to_string (shape);

      if (plugin->split == GYRE_PLUGIN_SPLIT_ELEMENTS && !gyre_shape_equal (has, shape))
        return gyre_prims_error (error, "its shape rule says %s, but it is split by "
                                 "elements, so the result has the shape of operand %u, "
                                 "%s", made, i, is);
      if (plugin->split == GYRE_PLUGIN_SPLIT_ROWS && (plugin->rows & 1u << i) != 0
          && (has->rank == 0 || shape->rank == 0 || has->dims[0] != shape->dims[0]))
        return gyre_prims_error (error, "its shape rule says %s, but it is split by "
                                 "rows, so the result has as many as operand %u, %s",
                                 made, i, is);
    }

  return TRUE;
}

static gboolean
infer (GyreTensor *const  *operands,
       guint               n,
       const void         *attrs,
       GyreDtype          *dtype,
       GyreShape          *shape,
       GError            **error)
{
  const Attrs *all = attrs;

  return all->plugin->infer (operands, all->attrs, dtype, shape, error)
         && check_rows (all->plugin, operands, shape, error);
}

static void
vjp (GyreTensor  *node,
     GyreTensor  *ct,
     GyreTensor **cts)
{
  get_plugin (node)->vjp (node, node->operands, get_attrs (node), ct, cts);
}

static gboolean
partition_elements (const GyreTensor    *node,
                    const GyreMeshSpec  *mesh,
                    const GyreSpec      *in,
                    GyreSpec            *want,
                    GyreSpec            *out,
                    GError             **error)
{
  gyre_partition_elementwise (node, mesh, in, want, out, error);

  return out->flat == 0
         || gyre_partition_replicated (node, mesh, in, want, out, error);
}

static gboolean
partition_rows (const GyreTensor    *node,
                const GyreMeshSpec  *mesh,
                const GyreSpec      *in,
                GyreSpec            *want,
                GyreSpec            *out,
                GError             **error)
{
  guint32 rows = get_plugin (node)->rows;
  GyreSpec split = GYRE_SPEC_REPLICATED;

  for (guint i = 0; i < node->n_operands; i++)
    if ((rows & 1u << i) != 0 && in[i].flat == 0 && split.axes[0] == 0)
      {
        split.axes[0] = in[i].axes[0];
        split.base[0] = in[i].base[0];
      }
  for (guint i = 0; i < node->n_operands; i++)
    want[i] = (rows & 1u << i) != 0 ? split : GYRE_SPEC_REPLICATED;
  *out = split;

  return TRUE;
}

static void
launch_elements (GyrePluginLaunch *launch,
                 const void       *attrs)
{
  launch->dims = 1;
  launch->global[0] = (gsize) gyre_shape_n_elements (&launch->result);
  gyre_plugin_launch_add_int (launch, (gint64) launch->global[0]);
}

static void
lower_launch (GyreLower              *lower,
              const GyreTensor       *node,
              const GyrePluginLaunch *range)
{
  const GyrePluginPrim *plugin = get_plugin (node);
  GyreCommandArg args[1 + GYRE_PLUGIN_MAX_OPERANDS + GYRE_PLUGIN_MAX_NUMBERS];
  GyreLaunch launch = { .resource = plugin->resource, .kernel = plugin->kernel,
                        .dims = range->dims, .args = args };

  args[launch.n_args++] = GYRE_WRITE (node->id);
  for (guint i = 0; i < node->n_operands; i++)
    args[launch.n_args++] = GYRE_READ (node->operands[i]->id);
  for (guint i = 0; i < range->n_numbers; i++)
    args[launch.n_args++] =
      range->is_float[i] ? GYRE_FLOAT (range->floats[i]) : GYRE_INT (range->ints[i]);
  memcpy (launch.global, range->global, sizeof launch.global);
  memcpy (launch.local, range->local, sizeof launch.local);
  gyre_lower_launch (lower, node, &launch);
}

static gboolean
lower (GyreLower         *lower,
       const GyreTensor  *node,
       GError           **error)
{
  const GyrePluginPrim *plugin = get_plugin (node);
  GyrePluginLaunch launch = { 0 };

  gyre_lower_local_shape (lower, node, &launch.result, NULL);
  for (guint i = 0; i < node->n_operands; i++)
    gyre_lower_local_shape (lower, node->operands[i], &launch.operands[i], NULL);
  (plugin->launch != NULL ? plugin->launch : launch_elements) (&launch, get_attrs (node));
  if (launch.dims < 1 || launch.dims > 3)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_PLUGIN,
                   "%s: its launch rule sets %u dimensions, not 1 to 3", plugin->name,
                   launch.dims);
      return FALSE;
    }
  lower_launch (lower, node, &launch);

  return TRUE;
}

static double
cost (const GyreTensor *node)
{
  return get_plugin (node)->flops * (double) gyre_shape_n_elements (&node->shape);
}

/* GyreRef, whose public twin it is. */
static void
reference (const GyreTensor *node,
           const GyreRef    *in,
           GyreRef          *out)
{
  GyrePluginNumbers operands[GYRE_PLUGIN_MAX_OPERANDS];
  GyrePluginNumbers result = { out->dtype, out->shape, out->data };

  for (guint i = 0; i < node->n_operands; i++)
    operands[i] = (GyrePluginNumbers) { in[i].dtype, in[i].shape, in[i].data };
  get_plugin (node)->reference (operands, get_attrs (node), &result);
}

static GyrePrim *
make_prim (const GyrePluginPrim *plugin)
{
  GyrePrim *prim = g_new0 (GyrePrim, 1);

  prim->name = plugin->name;
  prim->attrs_size = sizeof (Attrs) + plugin->attrs_size;
  prim->n_operands = (int) plugin->n_operands;
  prim->infer = infer;
  prim->vjp = plugin->vjp != NULL ? vjp : NULL;
  prim->lower = lower;
  prim->cost = cost;
  prim->reference = plugin->reference != NULL ? reference : NULL;
  if (plugin->split == GYRE_PLUGIN_SPLIT_ELEMENTS)
    prim->partition = partition_elements;
  else
    prim->partition = plugin->split == GYRE_PLUGIN_SPLIT_ROWS ? partition_rows
                                                              : gyre_partition_replicated;

  return prim;
}

gboolean
gyre_plugin_prim_is (const GyrePrim *prim)
{
  return prim->lower == lower;
}

/* One a plugin's: primitives are the same where their pointers are. They live as long as
 * the modules, which are never unloaded. */
static const GyrePrim *
get_prim (const GyrePluginPrim *plugin)
{
  static GMutex lock;
  static GHashTable *prims;
  GyrePrim *prim;

  g_mutex_lock (&lock);
  if (prims == NULL)
    prims = g_hash_table_new (NULL, NULL);
  prim = g_hash_table_lookup (prims, plugin);
  if (prim == NULL)
    {
      prim = make_prim (plugin);
      g_hash_table_insert (prims, (gpointer) plugin, prim);
    }
  g_mutex_unlock (&lock);

  return prim;
}

/**
 * gyre_plugin_prim_apply: (skip)
 * @self: a primitive, static
 * @operands: as many tensors as it has operands
 * @attrs: (nullable): its attributes, which are copied
 *
 * Applies a primitive of a plugin's own. Gradient: its vjp rule. Sharding: its split.
 * Errors: what its infer rule says, with its name and the layer's path.
 *
 * Returns: (transfer none): the result; after an error a poison tensor
 */
GyreTensor *
gyre_plugin_prim_apply (const GyrePluginPrim *self,
                        GyreTensor *const    *operands,
                        const void           *attrs)
{
  g_autofree Attrs *all = NULL;

  g_return_val_if_fail (self != NULL && operands != NULL && operands[0] != NULL, NULL);
  g_return_val_if_fail (self->n_operands >= 1, operands[0]);
  g_return_val_if_fail (self->n_operands <= GYRE_PLUGIN_MAX_OPERANDS, operands[0]);
  g_return_val_if_fail (self->infer != NULL && self->resource != NULL, operands[0]);
  g_return_val_if_fail (self->name != NULL && self->kernel != NULL, operands[0]);
  g_return_val_if_fail (self->attrs_size == 0 || attrs != NULL, operands[0]);

  all = g_malloc0 (sizeof (Attrs) + self->attrs_size);
  all->plugin = self;
  if (self->attrs_size > 0)
    memcpy (all->attrs, attrs, self->attrs_size);

  return gyre_graph_emit (operands[0]->graph, get_prim (self), operands, self->n_operands,
                          all);
}

static guint
add_number (GyrePluginLaunch *self)
{
  g_return_val_if_fail (self->n_numbers < GYRE_PLUGIN_MAX_NUMBERS, 0);

  return self->n_numbers++;
}

/**
 * gyre_plugin_launch_add_int: (skip)
 * @self: a launch
 * @value: of an argument of type int
 *
 * Appends an argument of the kernel, behind its buffers and earlier numbers.
 */
void
gyre_plugin_launch_add_int (GyrePluginLaunch *self,
                            gint64            value)
{
  guint i = add_number (self);

  self->is_float[i] = FALSE;
  self->ints[i] = (gint32) value;
}

/**
 * gyre_plugin_launch_add_float: (skip)
 * @self: a launch
 * @value: of an argument of type float
 *
 * Appends an argument of the kernel, behind its buffers and earlier numbers.
 */
void
gyre_plugin_launch_add_float (GyrePluginLaunch *self,
                              double            value)
{
  guint i = add_number (self);

  self->is_float[i] = TRUE;
  self->floats[i] = (float) value;
}
