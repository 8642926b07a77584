/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/gyre-prim-private.h"

#include <string.h>

/* What stands for a value that an error prevented.  Poison is in no list of nodes. */
static const GyrePrim gyre_prim_poison = { .name = "poison" };

static _Thread_local GSList *current;

GyreGraph *
gyre_graph_new (void)
{
  GyreGraph *self = g_new0 (GyreGraph, 1);

  self->arena = gyre_arena_new ();
  self->nodes = g_ptr_array_new ();
  self->inputs = g_ptr_array_new ();
  self->outputs = g_ptr_array_new ();
  self->path = "";

  return self;
}

GyreGraph *
gyre_graph_new_like (const GyreGraph *other)
{
  GyreGraph *self = gyre_graph_new ();

  g_return_val_if_fail (other != NULL, self);

  self->n_axes = other->n_axes;
  memcpy (self->axes, other->axes, sizeof self->axes);

  return self;
}

void
gyre_graph_free (GyreGraph *self)
{
  if (self == NULL)
    return;

  g_ptr_array_unref (self->nodes);
  g_ptr_array_unref (self->inputs);
  g_ptr_array_unref (self->outputs);
  g_clear_error (&self->error);
  gyre_arena_free (self->arena);
  g_free (self);
}

GyreTensor *
gyre_graph_fail (GyreGraph *self,
                 GError    *error)
{
  GyreTensor *poison;

  g_return_val_if_fail (self != NULL, NULL);

  if (self->error == NULL)
    self->error = error;
  else
    g_clear_error (&error);

  poison = gyre_arena_new0 (self->arena, GyreTensor);
  poison->prim = &gyre_prim_poison;
  poison->graph = self;
  poison->id = G_MAXUINT;
  poison->dtype = GYRE_F32;
  poison->path = self->path;
  poison->poison = TRUE;
  /* A scalar, but code that looks at a dimension that it counts on finds 1. */
  for (int i = 0; i < GYRE_MAX_RANK; i++)
    poison->shape.dims[i] = 1;

  return poison;
}

GyreTensor *
gyre_graph_fail_with (GyreGraph  *self,
                      GyreError   code,
                      const char *format,
                      ...)
{
  GError *error;
  va_list args;

  va_start (args, format);
  error = g_error_new_valist (GYRE_ERROR, code, format, args);
  va_end (args);

  return gyre_graph_fail (self, error);
}

static gboolean
check_operands (GyreGraph          *self,
                const GyrePrim     *prim,
                GyreTensor *const  *operands,
                guint               n_operands)
{
  g_return_val_if_fail (prim->n_operands < 0 || (guint) prim->n_operands == n_operands,
                        FALSE);

  for (guint i = 0; i < n_operands; i++)
    {
      g_return_val_if_fail (operands[i] != NULL, FALSE);
      g_return_val_if_fail (operands[i]->graph == self, FALSE);
    }

  return TRUE;
}

static gboolean
any_poison (GyreTensor *const *operands,
            guint              n_operands)
{
  for (guint i = 0; i < n_operands; i++)
    if (operands[i]->poison)
      return TRUE;

  return FALSE;
}

static GyreTensor *
append_node (GyreGraph          *self,
             const GyrePrim     *prim,
             GyreTensor *const  *operands,
             guint               n_operands,
             const void         *attrs)
{
  GyreTensor *node = gyre_arena_new0 (self->arena, GyreTensor);

  node->prim = prim;
  node->graph = self;
  node->n_operands = n_operands;
  if (n_operands > 0)
    node->operands =
        gyre_arena_memdup (self->arena, operands, n_operands * sizeof *operands);
  if (prim->attrs_size > 0)
    node->attrs = gyre_arena_memdup (self->arena, attrs, prim->attrs_size);
  node->path = self->path;
  node->id = self->nodes->len;
  g_ptr_array_add (self->nodes, node);

  return node;
}

GyreTensor *
gyre_graph_emit (GyreGraph          *self,
                 const GyrePrim     *prim,
                 GyreTensor *const  *operands,
                 guint               n_operands,
                 const void         *attrs)
{
  GError *error = NULL;
  GyreDtype dtype = GYRE_F32;
  GyreShape shape = GYRE_SCALAR;
  GyreTensor *node;

  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (prim != NULL, NULL);

  if (!check_operands (self, prim, operands, n_operands))
    return gyre_graph_fail_with (self, GYRE_ERROR_TRACE,
                                 "%s: operands that don't belong here: a tensor is of "
                                 "another traced function, or their number is wrong",
                                 prim->name);
  if (any_poison (operands, n_operands))
    return gyre_graph_fail (self, NULL);

  if (!prim->infer (operands, n_operands, attrs, &dtype, &shape, &error))
    {
      g_prefix_error (&error, "%s%s%s: ", prim->name, self->path[0] != '\0' ? " in " : "",
                      self->path);
      return gyre_graph_fail (self, error);
    }

  node = append_node (self, prim, operands, n_operands, attrs);
  node->dtype = dtype;
  node->shape = shape;

  return node;
}

GyreTensor *
gyre_graph_input (GyreGraph       *self,
                  const char      *name,
                  GyreDtype        dtype,
                  const GyreShape *shape)
{
  GyreInputAttrs attrs;
  GyreTensor *node;

  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (shape != NULL, NULL);

  memset (&attrs, 0, sizeof attrs);
  attrs.index = self->inputs->len;
  attrs.name = g_quark_from_string (name);
  attrs.dtype = dtype;
  attrs.shape = *shape;

  node = gyre_graph_emit (self, &gyre_prim_input, NULL, 0, &attrs);
  if (!node->poison)
    g_ptr_array_add (self->inputs, node);

  return node;
}

void
gyre_graph_add_output (GyreGraph  *self,
                       GyreTensor *value)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (value != NULL && value->graph == self);

  g_ptr_array_add (self->outputs, value);
}

GyreTensor *
gyre_graph_copy_node (GyreGraph         *self,
                      const GyreTensor  *node,
                      GyreTensor *const *operands)
{
  const char *path = self->path;
  GyreTensor *copy;

  self->path = node->path;
  if (node->prim == &gyre_prim_input)
    {
      const GyreInputAttrs *attrs = node->attrs;

      copy = gyre_graph_input (self, g_quark_to_string (attrs->name), node->dtype,
                               &node->shape);
    }
  else
    {
      copy = gyre_graph_emit (self, node->prim, operands, node->n_operands, node->attrs);
    }
  self->path = path;

  return copy;
}

GyreGraph *
gyre_graph_get_current (void)
{
  return current != NULL ? current->data : NULL;
}

GyreGraph *
gyre_graph_require (const char *call)
{
  if (current == NULL)
    g_critical ("%s: there is nothing to trace here: call it in the function that "
                "gyre_step_jit () or gyre_step_pmap () is given", call);

  return gyre_graph_get_current ();
}

void
gyre_graph_push (GyreGraph *self)
{
  g_return_if_fail (self != NULL);

  current = g_slist_prepend (current, self);
}

void
gyre_graph_pop (void)
{
  g_return_if_fail (current != NULL);

  current = g_slist_delete_link (current, current);
}

guint *
gyre_graph_count_uses (const GyreGraph *self)
{
  guint *uses = g_new0 (guint, self->nodes->len + 1);

  for (guint n = 0; n < self->nodes->len; n++)
    {
      const GyreTensor *node = g_ptr_array_index (self->nodes, n);

      for (guint i = 0; i < node->n_operands; i++)
        uses[node->operands[i]->id]++;
    }

  for (guint i = 0; i < self->outputs->len; i++)
    {
      const GyreTensor *output = g_ptr_array_index (self->outputs, i);

      if (!output->poison)
        uses[output->id]++;
    }

  return uses;
}
