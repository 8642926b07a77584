/* SPDX-License-Identifier: Apache-2.0 */
#include "autodiff/gyre-autodiff-private.h"

/* Reverse mode, by each primitive's vjp rule alone.  The gradient is built in the
 * graph of what is differentiated, with the builders that a traced function uses, so
 * that it can be differentiated again. */

typedef enum
{
  WRT     = 1 << 0,   /* asked for */
  THROUGH = 1 << 1    /* an operand leads to one that was asked for */
} Role;

typedef struct
{
  GyreGraph   *graph;
  guint        n;       /* nodes up to the last output */
  guint8      *roles;   /* by id */
  GyreTensor **cts;     /* by id; NULL is zero */
} Reverse;

/* Only floats carry a gradient: what passes through an integer has none. */
static void
mark_roles (Reverse           *self,
            GyreTensor *const *wrt,
            guint              n_wrt)
{
  for (guint i = 0; i < n_wrt; i++)
    if (wrt[i]->id < self->n)
      self->roles[wrt[i]->id] = WRT;

  for (guint id = 0; id < self->n; id++)
    {
      const GyreTensor *node = g_ptr_array_index (self->graph->nodes, id);

      for (guint i = 0; gyre_dtype_is_float (node->dtype) && i < node->n_operands; i++)
        if (self->roles[node->operands[i]->id] != 0)
          self->roles[id] |= THROUGH;
    }
}

static void
add_cotangent (Reverse    *self,
               guint       id,
               GyreTensor *ct)
{
  self->cts[id] = self->cts[id] == NULL ? ct : gyre_add (self->cts[id], ct);
}

/* A rule of a plugin may be wrong; its author wants to know where. */
static gboolean
check_cotangent (GyreTensor       *operand,
                 GyreTensor       *ct,
                 const GyreTensor *node,
                 guint             i)
{
  g_autofree char *is = NULL;
  g_autofree char *wanted = NULL;

  if (ct->poison || (ct->dtype == operand->dtype
                     && gyre_shape_equal (&ct->shape, &operand->shape)))
    return TRUE;

  is = gyre_shape_to_string (&ct->shape);
  wanted = gyre_shape_to_string (&operand->shape);
  gyre_graph_fail_with (operand->graph, GYRE_ERROR_SHAPE,
                        "gyre_vjp: the vjp rule of %s gave operand %u, which is %s%s, a "
                        "cotangent of %s%s", node->prim->name, i,
                        gyre_dtype_name (operand->dtype), wanted,
                        gyre_dtype_name (ct->dtype), is);

  return FALSE;
}

static gboolean
pull_back (Reverse    *self,
           GyreTensor *node,
           GyreTensor *ct)
{
  g_autofree GyreTensor **cts = g_new0 (GyreTensor *, node->n_operands + 1);

  if (node->prim->vjp == NULL)
    {
      gyre_graph_fail_with (self->graph, GYRE_ERROR_TRACE,
                            "gyre_vjp: %s%s%s has no gradient: keep it off the way to "
                            "the loss, or take its operand with gyre_stop_gradient ()",
                            node->prim->name, node->path[0] != '\0' ? " in " : "",
                            node->path);
      return FALSE;
    }

  self->graph->path = node->path;
  node->prim->vjp (node, ct, cts);
  for (guint i = 0; i < node->n_operands; i++)
    if (cts[i] != NULL && self->roles[node->operands[i]->id] != 0)
      {
        if (!check_cotangent (node->operands[i], cts[i], node, i))
          return FALSE;
        add_cotangent (self, node->operands[i]->id, cts[i]);
      }

  return self->graph->error == NULL;
}

static gboolean
walk_back (Reverse *self)
{
  const char *path = self->graph->path;
  gboolean done = TRUE;

  for (guint id = self->n; done && id-- > 0;)
    if (self->cts[id] != NULL && self->roles[id] & THROUGH)
      done = pull_back (self, g_ptr_array_index (self->graph->nodes, id), self->cts[id]);
  self->graph->path = path;

  return done;
}

static gboolean
differentiate (GyreTensor *const *outputs,
               GyreTensor *const *cotangents,
               guint              n_outputs,
               GyreTensor *const *wrt,
               guint              n_wrt,
               GyreTensor       **grads)
{
  Reverse self = { outputs[0]->graph };
  gboolean done;

  for (guint i = 0; i < n_outputs; i++)
    self.n = MAX (self.n, outputs[i]->id + 1);
  self.roles = g_new0 (guint8, self.n);
  self.cts = g_new0 (GyreTensor *, self.n);

  mark_roles (&self, wrt, n_wrt);
  for (guint i = 0; i < n_outputs; i++)
    if (cotangents[i] != NULL)
      add_cotangent (&self, outputs[i]->id, cotangents[i]);

  done = walk_back (&self);
  for (guint i = 0; done && i < n_wrt; i++)
    {
      grads[i] = wrt[i]->id < self.n ? self.cts[wrt[i]->id] : NULL;
      if (grads[i] == NULL)
        grads[i] = gyre_full_like (wrt[i], 0);
    }

  g_free (self.roles);
  g_free (self.cts);

  return done;
}

/* What all tensors of a call have in common; NULL where they have nothing. */
static GyreGraph *
check_graph (GyreGraph         *graph,
             GyreTensor *const *tensors,
             guint              n)
{
  for (guint i = 0; graph != NULL && i < n; i++)
    if (tensors[i] != NULL && tensors[i]->graph != graph)
      return NULL;

  return graph;
}

static gboolean
any_poison (GyreTensor *const *tensors,
            guint              n)
{
  for (guint i = 0; i < n; i++)
    if (tensors[i] != NULL && tensors[i]->poison)
      return TRUE;

  return FALSE;
}

/* Whether there is something to differentiate; keeps the error on the graph if not. */
static gboolean
check_vjp (GyreTensor *const *outputs,
           GyreTensor *const *cotangents,
           guint              n_outputs,
           GyreTensor *const *wrt,
           guint              n_wrt)
{
  GyreGraph *graph = outputs[0]->graph;

  if (graph->error != NULL || any_poison (outputs, n_outputs)
      || any_poison (cotangents, n_outputs) || any_poison (wrt, n_wrt))
    return FALSE;

  for (guint i = 0; i < n_outputs; i++)
    if (!gyre_autodiff_check_float (outputs[i], "gyre_vjp", "output", i)
        || (cotangents[i] != NULL
            && !gyre_autodiff_check_like (cotangents[i], outputs[i], i)))
      return FALSE;
  for (guint i = 0; i < n_wrt; i++)
    if (!gyre_autodiff_check_float (wrt[i], "gyre_vjp", "wrt", i))
      return FALSE;

  return TRUE;
}

/**
 * gyre_vjp:
 * @outputs: (array length=n_outputs): f32 tensors
 * @cotangents: (array length=n_outputs): by output, of its shape; %NULL is zero
 * @n_outputs: at least 1
 * @wrt: (array length=n_wrt): f32 tensors that @outputs were computed from, or others
 * @n_wrt: their number
 * @grads: (out) (array length=n_wrt): by @wrt, of its shape
 *
 * Vector-Jacobian product: gradsᵢ = Σⱼ cotangentsⱼ · ∂outputsⱼ / ∂wrtᵢ, zeros where
 * nothing leads from one to the other.  It is made of tensors of the same function, so
 * that it can be differentiated again.  Only what lies between @wrt and @outputs is
 * looked at; summands are added in a fixed order.  A primitive without a gradient on
 * the way is an error that names it.
 */
void
gyre_vjp (GyreTensor *const *outputs,
          GyreTensor *const *cotangents,
          guint              n_outputs,
          GyreTensor *const *wrt,
          guint              n_wrt,
          GyreTensor       **grads)
{
  GyreGraph *graph;

  g_return_if_fail (outputs != NULL && cotangents != NULL && n_outputs > 0);
  g_return_if_fail (n_wrt == 0 || (wrt != NULL && grads != NULL));

  graph = check_graph (outputs[0]->graph, outputs, n_outputs);
  graph = check_graph (graph, cotangents, n_outputs);
  graph = check_graph (graph, wrt, n_wrt);
  g_return_if_fail (graph != NULL);

  gyre_graph_push (graph);
  if (!check_vjp (outputs, cotangents, n_outputs, wrt, n_wrt)
      || !differentiate (outputs, cotangents, n_outputs, wrt, n_wrt, grads))
    for (guint i = 0; i < n_wrt; i++)
      grads[i] = gyre_graph_fail (graph, NULL);
  gyre_graph_pop ();
}

/**
 * gyre_grad_of:
 * @loss: f32[]
 * @wrt: (array length=n): f32 tensors that @loss was computed from, or others
 * @n: their number
 * @grads: (out) (array length=n): by @wrt, of its shape
 *
 * Gradients of a scalar: gradsᵢ = ∂loss / ∂wrtᵢ, as of gyre_vjp().
 */
void
gyre_grad_of (GyreTensor        *loss,
              GyreTensor *const *wrt,
              guint              n,
              GyreTensor       **grads)
{
  GyreTensor *one;

  g_return_if_fail (loss != NULL);
  g_return_if_fail (n == 0 || (wrt != NULL && grads != NULL));

  one = gyre_autodiff_check_loss (loss, "gyre_grad_of")
            ? gyre_full_like (loss, 1)
            : gyre_graph_fail (loss->graph, NULL);
  gyre_vjp (&loss, &one, 1, wrt, n, grads);
}
