/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-trainer-private.h"

/* One update of several batches: each adds its mean gradient, weighted by its part of all
 * rows, to sums that stay on the devices; the last makes the update.  What comes out is
 * the mean over all rows, as of one large batch; of a loss that is a sum, the sum.  Each
 * device has sums of its own, which are added up once, for the update. */

#define AXIS "data"

static GyreTree *
add_weighted (const char       *path,
              GyreTree *const  *leaves,
              guint             n_trees,
              gpointer          data,
              GError          **error)
{
  GyreTensor *term = gyre_mul (gyre_tree_as_tensor (leaves[1]), data);

  (void) path;
  (void) n_trees;
  (void) error;
  return gyre_tree_new_tensor (gyre_add (gyre_tree_as_tensor (leaves[0]), term));
}

static GyreTree *
zero (const char       *path,
      GyreTree *const  *leaves,
      guint             n_trees,
      gpointer          data,
      GError          **error)
{
  (void) path;
  (void) n_trees;
  (void) data;
  (void) error;
  return gyre_tree_new_tensor (gyre_full_like (gyre_tree_as_tensor (leaves[0]), 0.0));
}

/* {grads, loss} with this batch added to the sums before it. */
static GyreTree *
add_batch (GyreTrainer *self, GyreTree *args, GyreTree **model_state)
{
  GyreTensor *loss;
  GyreTree   *grads = gyre_trainer_value_and_grad (self, args, self->config.mode, &loss,
                                                   model_state);
  GyreTree   *batch = gyre_tree_build (GYRE_TREE_ENTRY ("grads", grads),
                                       GYRE_TENSOR_ENTRY ("loss", loss), NULL);
  GyreTree   *const both[] = { gyre_tree_get_tree (args, "sums"), batch };

  return gyre_tree_map (both, 2, add_weighted, gyre_tree_get_tensor (args, "weight"),
                        NULL);
}

/* {state, sums, batch, key, weight} → {state, sums} */
static GyreTree *
add (GyreTree *args, gpointer data)
{
  GyreTrainState *state = gyre_tree_get_node (args, "state");
  GyreTree       *model_state;
  GyreTree       *sums = add_batch (data, args, &model_state);

  if (model_state)
    state = gyre_train_state_with_model_state (state, model_state);
  return gyre_trainer_watch_nan (data, gyre_tree_build (GYRE_NODE_ENTRY ("state", state),
                                                        GYRE_TREE_ENTRY ("sums", sums),
                                                        NULL));
}

/* The same → {state, loss, sums}, the sums at zero again. */
static GyreTree *
add_and_update (GyreTree *args, gpointer data)
{
  GyreTrainer *self = data;
  GyreTree *model_state;
  GyreTree *sums    = add_batch (self, args, &model_state);
  GyreTensor *loss  = gyre_tree_get_tensor (sums, "loss");
  GyreTree *grads   = gyre_trainer_add_up (gyre_tree_get_tree (sums, "grads"),
                                           self->config.mode, &loss);
  GyreTree *results = gyre_trainer_finish_step (args, grads, loss, model_state);

  gyre_tree_set (results, "sums", gyre_tree_map (&sums, 1, zero, NULL, NULL));
  return gyre_trainer_watch_nan (data, results);
}

static GyreStep *
make_step (GyreTrainer *self, GyreStepFunc func, GError **error)
{
  if (self->config.mode == GYRE_MODE_PMAP)
    return gyre_step_pmap (func, self->mesh, AXIS, "weight", "batch", "state,sums", self,
                           NULL, error);
  return gyre_step_jit (func, self->mesh, "state=, batch=" AXIS ", sums=~" AXIS,
                        "state,sums", self, NULL, error);
}

static GyreTree *
zero_array (const char       *path,
            GyreTree *const  *leaves,
            guint             n_trees,
            gpointer          data,
            GError          **error)
{
  GyreShape             shape = gyre_array_get_shape (gyre_tree_as_array (leaves[0]));
  gsize                 n     = (gsize) gyre_shape_n_elements (&shape);
  g_autofree float     *zeros = g_new0 (float, n + 1);
  g_autoptr (GyreArray) array = gyre_array_new (GYRE_F32, shape, zeros);

  (void) path;
  (void) n_trees;
  (void) data;
  (void) error;
  return gyre_tree_new_array (array);
}

/* In the shapes of the parameters, and of a loss: f32[], under pmap f32[devices]. */
static GyreTree *
make_sums (GyreTrainer *self, GError **error)
{
  GyreTree *params = gyre_train_state_get_params (self->state);
  gint64    n      = gyre_mesh_get_n_devices (self->mesh);
  gboolean  pmap   = self->config.mode == GYRE_MODE_PMAP;
  g_autofree float     *zeros = g_new0 (float, (gsize) n);
  g_autoptr (GyreArray) loss  =
      gyre_array_new (GYRE_F32, pmap ? GYRE_SHAPE (n) : GYRE_SCALAR, zeros);
  g_autoptr (GyreTree)  grads = gyre_tree_map (&params, 1, zero_array, NULL, error);

  if (!grads)
    return NULL;
  return gyre_tree_build (GYRE_TREE_ENTRY ("grads", grads),
                          GYRE_ARRAY_ENTRY ("loss", loss), NULL);
}

gboolean
gyre_trainer_make_adder (GyreTrainer  *self,
                         GError      **error)
{
  return (self->sums = make_sums (self, error)) &&
         (self->adder = make_step (self, add, error)) &&
         (self->step = make_step (self, add_and_update, error));
}

static GyreTree *
call (GyreTrainer *self,
      GyreStep    *step,
      GyreTree    *batch,
      GyreKey      key,
      gint64       rows,
      GError     **error)
{
  double weight = gyre_trainer_is_mean (self)
                      ? (double) gyre_trainer_batch_rows (batch) / (double) rows : 1.0;
  g_autoptr (GyreArray) keys   = gyre_trainer_spread_key (key, self->mesh,
                                                          self->config.mode);
  g_autoptr (GyreArray) factor = gyre_array_new_scalar (GYRE_F32, weight);
  GyreTree             *results =
      gyre_step_run (step, error, GYRE_NODE_ENTRY ("state", self->state),
                     GYRE_TREE_ENTRY ("sums", self->sums),
                     GYRE_TREE_ENTRY ("batch", batch), GYRE_ARRAY_ENTRY ("key", keys),
                     GYRE_ARRAY_ENTRY ("weight", factor), NULL);

  if (!results)
    return NULL;
  g_set_object (&self->state, gyre_tree_get_node (results, "state"));
  gyre_tree_unref (self->sums);
  self->sums = gyre_tree_ref (gyre_tree_get_tree (results, "sums"));
  if (gyre_trainer_check_nan (self, results, error))
    return results;
  gyre_tree_unref (results);
  return NULL;
}

/* Batch i > 0 draws from fold_in (key, i). */
GyreTree *
gyre_trainer_accumulate (GyreTrainer  *self,
                         GPtrArray    *batches,
                         gint64        rows,
                         GError      **error)
{
  GyreKey   key     = gyre_key_next (&self->key);
  GyreTree *results = NULL;

  for (guint i = 0; i < batches->len; i++)
    {
      g_clear_pointer (&results, gyre_tree_unref);
      results = call (self, i + 1 < batches->len ? self->adder : self->step,
                      g_ptr_array_index (batches, i),
                      i == 0 ? key : gyre_key_fold_in (key, i), rows, error);
      if (!results)
        return NULL;
    }
  return results;
}
