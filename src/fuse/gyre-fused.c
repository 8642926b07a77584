/* SPDX-License-Identifier: Apache-2.0 */
#include "fuse/gyre-fusion-private.h"

#include <string.h>

/* The primitives "fused" and "project".  They are made after the partition, so they have
 * no rules for what comes before it. */

GyreFusion *
gyre_fusion_new (GyreArena *arena,
                 GyreGraph *body)
{
  GyreFusion *self = gyre_arena_new0 (arena, GyreFusion);

  self->body = body;
  self->specs = gyre_arena_newn (body->arena, GyreSpec, body->nodes->len + 1);
  gyre_arena_adopt (arena, body, (GDestroyNotify) gyre_graph_free);

  return self;
}

static const GyreTensor *
get_result (const GyreTensor *node,
            guint             i)
{
  return g_ptr_array_index (gyre_fusion_of (node)->body->outputs, i);
}

void
gyre_fusion_emit (GyreFusion         *self,
                  GyreGraph          *graph,
                  GyreTensor *const  *operands,
                  GyreTensor        **results)
{
  GyreFusedAttrs attrs = { self };
  GyreTensor *node = gyre_graph_emit (graph, &gyre_prim_fused, operands,
                                      self->body->inputs->len, &attrs);

  if (self->body->outputs->len == 1)
    {
      results[0] = node;
      return;
    }

  for (guint i = 0; i < self->body->outputs->len; i++)
    {
      GyreProjectAttrs project = { i };

      results[i] = gyre_graph_emit (graph, &gyre_prim_project, &node, 1, &project);
    }
}

guint
gyre_fused_n_results (const GyreTensor *node)
{
  return node->prim == &gyre_prim_fused ? gyre_fusion_of (node)->body->outputs->len : 1;
}

guint
gyre_fused_result_id (const GyreTensor *node,
                      guint             i)
{
  return gyre_fused_n_results (node) == 1 ? node->id : node->id + 1 + i;
}

gboolean
gyre_fused_may_overwrite (const GyreTensor *node,
                          guint             result,
                          guint             operand)
{
  GyreFusion *fusion;
  const GyreFusedKernel *kernel;

  if (node->prim != &gyre_prim_fused)
    return FALSE;

  fusion = ((const GyreFusedAttrs *) node->attrs)->fusion;
  kernel = gyre_fusion_get_kernel (fusion, FALSE, NULL);

  return kernel != NULL &&
         kernel->overwrites[result * fusion->body->inputs->len + operand];
}

/* A tuple has the shape of its results laid out one after the other. */
static gboolean
fused_infer (GyreTensor *const  *operands,
             guint               n,
             const void         *attrs,
             GyreDtype          *dtype,
             GyreShape          *shape,
             GError            **error)
{
  const GPtrArray *outputs = ((const GyreFusedAttrs *) attrs)->fusion->body->outputs;
  const GyreTensor *first = g_ptr_array_index (outputs, 0);
  gint64 total = 0;

  *dtype = first->dtype;
  *shape = first->shape;
  if (outputs->len == 1)
    return TRUE;

  for (guint i = 0; i < outputs->len; i++)
    total +=
        gyre_shape_n_elements (&((GyreTensor *) g_ptr_array_index (outputs, i))->shape);
  *dtype = GYRE_F32;
  *shape = GYRE_SHAPE (total);

  return TRUE;
}

static void
fused_reference (const GyreTensor *node,
                 const GyreRef    *in,
                 GyreRef          *out)
{
  const GyreGraph *body = gyre_fusion_of (node)->body;
  g_autofree GyreRef *results = g_new0 (GyreRef, body->outputs->len);
  g_autoptr (GError) error = NULL;
  gsize at = 0;

  if (!gyre_interpret (body, in, results, &error))
    {
      g_critical ("fused: %s", error->message);
      return;
    }

  for (guint i = 0; i < body->outputs->len; i++)
    {
      gsize n = gyre_shape_n_elements (&results[i].shape);

      memcpy (out->data + at, results[i].data, n * sizeof (double));
      at += n;
      g_free (results[i].data);
    }
}

static void
fused_print (const GyreTensor *node,
             GString          *out)
{
  const GyreGraph *body = gyre_fusion_of (node)->body;
  const char *separator = " {";

  for (guint i = 0; i < body->nodes->len; i++)
    {
      const GyreTensor *inner = g_ptr_array_index (body->nodes, i);

      if (inner->prim == &gyre_prim_input)
        continue;
      g_string_append_printf (out, "%s%s", separator, inner->prim->name);
      separator = " ";
    }
  g_string_append_c (out, '}');
}

static gsize
round_up (gsize n,
          gsize step)
{
  return (n + step - 1) / step * step;
}

/* FALSE where there is nothing to do. */
static gboolean
set_range (const GyreFusedKernel *kernel,
           const GyreLower       *lower,
           GyreLaunch            *launch)
{
  gsize group = kernel->local[0] * kernel->local[1] * kernel->local[2];

  launch->dims = kernel->dims;
  for (guint d = 0; d < kernel->dims; d++)
    {
      gsize local = kernel->local[d];
      gint64 n = gyre_size_evaluate (GYRE_SIZE_EXTENT, &kernel->range[d], lower);

      if (n == 0)
        return FALSE;
      for (; group > lower->target->max_work_group && local > 1; local /= 2)
        group /= 2;
      launch->local[d] = local;
      launch->global[d] = round_up (n, local);
    }

  return TRUE;
}

static gboolean
append_sizes (const GyreFusedKernel  *kernel,
              const GyreLower        *lower,
              const GyreTensor       *node,
              GArray                 *args,
              GError                **error)
{
  for (guint i = 0; i < kernel->n_sizes; i++)
    {
      const GyreSize *size = &kernel->sizes[i];
      gint64 n = gyre_size_evaluate (size->kind, &size->extents, lower);
      GyreCommandArg arg = GYRE_INT (n);

      if (n > G_MAXINT32)
        {
          g_set_error (
              error, GYRE_ERROR, GYRE_ERROR_SHAPE,
              "%s%s%s: %" G_GINT64_FORMAT " elements on one device are more than the "
              "2147483647 that a kernel counts: split the array over more devices",
              kernel->name, node->path[0] != '\0' ? " in " : "", node->path, n);
          return FALSE;
        }
      g_array_append_val (args, arg);
    }

  return TRUE;
}

static void
append_operands (const GyreTensor *node,
                 GArray           *args)
{
  for (guint i = 0; i < node->n_operands; i++)
    {
      GyreCommandArg arg = GYRE_READ (node->operands[i]->id);

      g_array_append_val (args, arg);
    }
}

static gboolean
launch (GyreLower              *lower,
        const GyreTensor       *node,
        const GyreFusedKernel  *kernel,
        GArray                 *args,
        GError                **error)
{
  GyreLaunch launch = { NULL };

  if (!append_sizes (kernel, lower, node, args, error))
    return FALSE;
  if (!set_range (kernel, lower, &launch))
    return TRUE;

  launch.source = kernel->source;
  launch.kernel = kernel->name;
  launch.n_args = args->len;
  launch.args = (const GyreCommandArg *) args->data;
  gyre_lower_launch (lower, node, &launch);

  return TRUE;
}

static gboolean
launch_before (GyreLower              *lower,
               const GyreTensor       *node,
               const GyreFusedKernel  *kernel,
               GyreCommandArg         *scratch,
               GError                **error)
{
  g_autoptr (GArray) args = g_array_new (FALSE, FALSE, sizeof (GyreCommandArg));

  *scratch = GYRE_TEMP (gyre_lower_temp (lower, kernel->scratch));
  g_array_append_val (args, *scratch);
  append_operands (node, args);
  scratch->written = FALSE;

  return launch (lower, node, kernel, args, error);
}

static gboolean
fused_lower (GyreLower         *lower,
             const GyreTensor  *node,
             GError           **error)
{
  GyreFusion *fusion = ((const GyreFusedAttrs *) node->attrs)->fusion;
  const GyreFusedKernel *kernel =
      gyre_fusion_get_kernel (fusion, lower->target->cpu, error);
  g_autoptr (GArray) args = g_array_new (FALSE, FALSE, sizeof (GyreCommandArg));
  GyreCommandArg scratch;

  if (kernel == NULL)
    return FALSE;
  if (kernel->before != NULL &&
      !launch_before (lower, node, kernel->before, &scratch, error))
    return FALSE;

  for (guint i = 0; i < gyre_fused_n_results (node); i++)
    {
      GyreCommandArg arg = GYRE_WRITE (gyre_fused_result_id (node, i));

      g_array_append_val (args, arg);
    }
  append_operands (node, args);
  if (kernel->before != NULL)
    g_array_append_val (args, scratch);

  return launch (lower, node, kernel, args, error);
}

const GyrePrim gyre_prim_fused = {
  .name       = "fused",
  .attrs_size = sizeof (GyreFusedAttrs),
  .n_operands = -1,
  .infer      = fused_infer,
  .lower      = fused_lower,
  .reference  = fused_reference,
  .print      = fused_print,
};

static gboolean
project_infer (GyreTensor *const  *operands,
               guint               n,
               const void         *attrs,
               GyreDtype          *dtype,
               GyreShape          *shape,
               GError            **error)
{
  const GyreTensor *result =
      get_result (operands[0], ((const GyreProjectAttrs *) attrs)->index);

  *dtype = result->dtype;
  *shape = result->shape;

  return TRUE;
}

static void
project_reference (const GyreTensor *node,
                   const GyreRef    *in,
                   GyreRef          *out)
{
  guint index = ((const GyreProjectAttrs *) node->attrs)->index;
  gsize at = 0;

  for (guint i = 0; i < index; i++)
    at += gyre_shape_n_elements (&get_result (node->operands[0], i)->shape);
  memcpy (out->data, in[0].data + at,
          gyre_shape_n_elements (&node->shape) * sizeof (double));
}

static void
project_print (const GyreTensor *node,
               GString          *out)
{
  g_string_append_printf (out, " {%u}", ((const GyreProjectAttrs *) node->attrs)->index);
}

/* The fused node's kernel has written it. */
static gboolean
project_lower (GyreLower         *lower,
               const GyreTensor  *node,
               GError           **error)
{
  return TRUE;
}

const GyrePrim gyre_prim_project = {
  .name       = "project",
  .attrs_size = sizeof (GyreProjectAttrs),
  .n_operands = 1,
  .infer      = project_infer,
  .lower      = project_lower,
  .reference  = project_reference,
  .print      = project_print,
};
