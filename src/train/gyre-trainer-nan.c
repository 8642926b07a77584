/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-trainer-private.h"

#include "ir/gyre-graph-private.h"
#include "ir/gyre-prim-private.h"

/* --check-nan: each value of the step is looked through on the devices, and one number
 * more comes out of it: which of them is the first, in the order of the graph, with a NaN
 * in it.  Values before it have none, so it is where the NaN arose. */

#define NONE 16777216.0   /* whole numbers of f32 end there */

/* "'log' in layer dense_1, f32[64,10]"; an input is where a NaN came from. */
static char *
describe (const GyreTensor *node)
{
  g_autoptr (GString) type = g_string_new (NULL);

  gyre_tensor_print_type (node, type);
  if (node->prim == &gyre_prim_input)
    {
      const GyreInputAttrs *input = node->attrs;

      return g_strdup_printf ("it came in with '%s', %s", g_quark_to_string (input->name),
                              type->str);
    }
  return g_strdup_printf ("'%s' made it, %s%s, %s", node->prim->name,
                          node->path[0] ? "in layer " : "outside of layers: in the loss, "
                                                        "the gradients or the update",
                          node->path, type->str);
}

/* f32[]: number where x has a NaN. */
static GyreTensor *
number_if_nan (GyreTensor *x, double number)
{
  GyreTensor *hit = gyre_select (gyre_not_equal (x, x), gyre_full_like (x, number),
                                 gyre_full_like (x, NONE));

  return gyre_tensor_get_rank (x) == 0 ? hit : gyre_min_dims (hit, NULL, 0, FALSE);
}

GyreTree *
gyre_trainer_watch_nan (GyreTrainer *self,
                        GyreTree    *results)
{
  GyreTensor *loss  = gyre_tree_lookup (results, "loss")
                          ? gyre_tree_get_tensor (results, "loss")
                          : gyre_tree_get_tensor (results, "sums/loss");
  guint       n     = loss->poison ? 0 : loss->graph->nodes->len;
  GyreTensor *first = NULL;

  if (!self->config.check_nan || n == 0)
    return results;
  if (!self->nan_places)
    self->nan_places = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < n; i++)
    {
      GyreTensor *node = g_ptr_array_index (loss->graph->nodes, i);
      GyreTensor *number;

      if (node->dtype != GYRE_F32)
        continue;
      number = number_if_nan (node, (double) self->nan_places->len);
      first  = first ? gyre_min (first, number) : number;
      g_ptr_array_add (self->nan_places, describe (node));
    }
  if (first)
    gyre_tree_set_tensor (results, "nan", first);
  return results;
}

/* One number, or one a device. */
static double
smallest (GBytes *bytes)
{
  gsize        size;
  const float *numbers = g_bytes_get_data (bytes, &size);
  double       least   = NONE;

  for (gsize i = 0; i < size / sizeof (float); i++)
    least = MIN (least, (double) numbers[i]);
  return least;
}

gboolean
gyre_trainer_check_nan (GyreTrainer  *self,
                        GyreTree     *results,
                        GError      **error)
{
  g_autoptr (GBytes) bytes = NULL;
  double             number;

  if (!self->config.check_nan)
    return TRUE;
  if (!(bytes = gyre_array_get (gyre_tree_get_array (results, "nan"), error)))
    return FALSE;
  number = smallest (bytes);
  if (number >= (double) self->nan_places->len)
    return TRUE;
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_NAN, "the first NaN: %s",
               (const char *) g_ptr_array_index (self->nan_places, (guint) number));
  return FALSE;
}
