/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-trainer-private.h"

#include "ir/gyre-graph-private.h"

#define AXIS "data"

/* What the loss function sees of the step that is traced. */
typedef struct
{
  GyreTrainer    *trainer;
  GyreTrainState *state;
  GyreTensor     *image;
  GyreTensor     *label;
  GyreTensor     *key;
  gboolean        sum;      /* of all terms, whatever the criterion makes of them */
  double          n_terms;  /* of a row; set by the loss function */
} LossArgs;

/* Images travel as bytes and become 0..1 on the device. */
static GyreTensor *
scaled_image (GyreTrainer *self, GyreTree *batch)
{
  GyreTensor *image = gyre_tree_get_tensor (batch, "image");
  double      scale = gyre_dataset_get_scale (self->dataset);

  if (gyre_tensor_get_dtype (image) == GYRE_F32 && scale == 1.0)
    return image;
  image = gyre_convert (image, GYRE_F32);
  return gyre_div (image, gyre_constant (GYRE_F32, scale));
}

static GyreTensor *
check_logits (GyreTrainer *self, GyreTensor *logits)
{
  gint64           classes = gyre_dataset_get_n_classes (self->dataset);
  GyreShape        shape   = gyre_tensor_get_shape (logits);
  g_autofree char *text    = NULL;

  if (logits->poison || (shape.rank == 2 && shape.dims[1] >= classes))
    return logits;
  text = gyre_shape_to_string (&shape);
  return gyre_graph_fail (
      logits->graph,
      g_error_new (
          GYRE_ERROR, GYRE_ERROR_SHAPE,
          "the model gives %s, but %s has %" G_GINT64_FORMAT
          " classes: its last layer must give [batch, %" G_GINT64_FORMAT
          "] or more, as '... ! flatten ! dense features=%" G_GINT64_FORMAT "' does",
          text, gyre_dataset_get_name (self->dataset), classes, classes, classes));
}

static GyreTensor *
loss_fn (GyreTree *params, GyreTree **aux, gpointer data)
{
  LossArgs   *args = data;
  GyreLoss   *loss = args->trainer->criterion;
  GyreTensor *terms;
  GyreTensor *logits = gyre_model_apply (args->trainer->model, params,
                                         gyre_train_state_get_model_state (args->state),
                                         args->image, TRUE, args->key, aux);

  logits = check_logits (args->trainer, logits);
  if (!args->sum)
    return gyre_loss_apply (loss, logits, args->label);
  terms         = gyre_loss_get_terms (loss, logits, args->label);
  args->n_terms = 1.0;
  for (int i = 1; i < gyre_tensor_get_rank (terms); i++)
    args->n_terms *= (double) gyre_tensor_dim (terms, i);
  return terms->poison ? terms : gyre_sum (terms);
}

static GyreTree *
value_and_grad (GyreTrainer  *self,
                GyreTree     *args,
                gboolean      sum,
                double       *n_terms,
                GyreTensor  **loss,
                GyreTree    **model_state)
{
  GyreTree       *batch = gyre_tree_get_tree (args, "batch");
  GyreTrainState *state = gyre_tree_get_node (args, "state");
  LossArgs        inner = { self, state, scaled_image (self, batch),
                            gyre_tree_get_tensor (batch, "label"),
                            gyre_tree_get_tensor (args, "key"), sum, 1.0 };
  GyreTree       *grads = gyre_value_and_grad (loss_fn,
                                               gyre_train_state_get_params (state),
                                               &inner, loss, model_state);

  *n_terms = inner.n_terms;
  return grads;
}

gboolean
gyre_trainer_is_mean (const GyreTrainer *self)
{
  return gyre_loss_get_reduction (self->criterion) == GYRE_REDUCTION_MEAN;
}

GyreTree *
gyre_trainer_finish_step (GyreTree   *args,
                          GyreTree   *grads,
                          GyreTensor *loss,
                          GyreTree   *model_state)
{
  GyreTrainState *state = gyre_tree_get_node (args, "state");

  state = gyre_train_state_apply_gradients (state, grads);
  if (model_state)
    state = gyre_train_state_with_model_state (state, model_state);
  return gyre_tree_build (GYRE_NODE_ENTRY ("state", state),
                          GYRE_TENSOR_ENTRY ("loss", loss), NULL);
}

static GyreTensor *
local_rows (GyreTree *args)
{
  GyreTensor *label = gyre_tree_get_tensor (args, "batch/label");

  return gyre_constant (GYRE_F32, (double) gyre_tensor_dim (label, 0));
}

static GyreTree *
divide (const char       *path,
        GyreTree *const  *leaves,
        guint             n_trees,
        gpointer          data,
        GError          **error)
{
  return gyre_tree_new_tensor (gyre_div (gyre_tree_as_tensor (leaves[0]), data));
}

/* In jit mode written as if for one device. In pmap mode for one device's share, whose
 * losses are summed, so that what devices tell each other in the model is differentiated
 * with its right weight, and divided by how many there are in all rows: the sum over
 * devices is the mean. Model state is a mean weighted by rows. */
GyreTree *
gyre_trainer_value_and_grad (GyreTrainer  *self,
                             GyreTree     *args,
                             GyreMode      mode,
                             GyreTensor  **loss,
                             GyreTree    **model_state)
{
  GyreTree   *grads;
  GyreTensor *rows, *total;
  double      n_terms;

  *model_state = NULL;
  grads        = value_and_grad (self, args, mode == GYRE_MODE_PMAP, &n_terms, loss,
                                 model_state);
  if (mode == GYRE_MODE_JIT)
    return grads;

  rows = local_rows (args);
  if (gyre_trainer_is_mean (self))
    {
      total = gyre_psum (n_terms == 1.0 ? rows : gyre_mul_scalar (rows, n_terms), AXIS);
      grads = gyre_tree_map (&grads, 1, divide, total, NULL);
      *loss = gyre_div (*loss, total);
    }
  if (*model_state)
    *model_state = gyre_pmean_weighted_tree (*model_state, rows, AXIS);
  return grads;
}

GyreTree *
gyre_trainer_add_up (GyreTree   *grads,
                     GyreMode    mode,
                     GyreTensor **loss)
{
  if (mode == GYRE_MODE_JIT)
    return grads;
  *loss = gyre_psum (*loss, AXIS);
  return gyre_psum_tree (grads, AXIS);
}

/* {state, batch, key} → {state, loss} */
static GyreTree *
train (GyreTree *args, GyreTrainer *self, GyreMode mode)
{
  GyreTensor *loss;
  GyreTree   *model_state;
  GyreTree   *grads = gyre_trainer_value_and_grad (self, args, mode, &loss, &model_state);

  grads = gyre_trainer_add_up (grads, mode, &loss);
  return gyre_trainer_watch_nan (
      self, gyre_trainer_finish_step (args, grads, loss, model_state));
}

static GyreTree *
train_jit (GyreTree *args, gpointer data)
{
  return train (args, data, GYRE_MODE_JIT);
}

static GyreTree *
train_pmap (GyreTree *args, gpointer data)
{
  return train (args, data, GYRE_MODE_PMAP);
}

static GyreTensor *
apply_model (GyreTrainer *self, GyreTree *args)
{
  GyreTree       *batch = gyre_tree_get_tree (args, "batch");
  GyreTrainState *state = gyre_tree_get_node (args, "state");

  return gyre_model_apply (self->model, gyre_train_state_get_params (state),
                           gyre_train_state_get_model_state (state),
                           scaled_image (self, batch), FALSE, NULL, NULL);
}

/* {state, batch} → {logits}, of each device's own rows */
static GyreTree *
eval (GyreTree *args, gpointer data)
{
  GyreTensor *logits = check_logits (data, apply_model (data, args));

  return gyre_tree_build (GYRE_TENSOR_ENTRY ("logits", logits), NULL);
}

GyreStep *
gyre_trainer_make_step (GyreTrainer  *self,
                        GyreMesh     *mesh,
                        GyreMode      mode,
                        GError      **error)
{
  if (mode == GYRE_MODE_PMAP)
    return gyre_step_pmap (train_pmap, mesh, AXIS, NULL, "batch", "state", self, NULL,
                           error);
  return gyre_step_jit (train_jit, mesh, "state=, batch=" AXIS, "state", self, NULL,
                        error);
}

GyreStep *
gyre_trainer_make_eval (GyreTrainer  *self,
                        GyreMesh     *mesh,
                        GyreMode      mode,
                        GError      **error)
{
  if (mode == GYRE_MODE_PMAP)
    return gyre_step_pmap (eval, mesh, AXIS, NULL, "batch", NULL, self, NULL, error);
  return gyre_step_jit (eval, mesh, "state=, batch=" AXIS, NULL, self, NULL, error);
}

/* Under pmap device i gets row i of split (step_key, n). */
GyreArray *
gyre_trainer_spread_key (GyreKey   key,
                         GyreMesh *mesh,
                         GyreMode  mode)
{
  return mode == GYRE_MODE_JIT
             ? gyre_array_new_key (key)
             : gyre_array_new_keys (key, gyre_mesh_get_n_devices (mesh));
}

GyreTree *
gyre_trainer_call_step (GyreTrainer     *self,
                        GyreStep        *step,
                        GyreMesh        *mesh,
                        GyreMode         mode,
                        GyreTrainState **state,
                        GyreTree        *batch,
                        GError         **error)
{
  g_autoptr (GyreArray) key =
      gyre_trainer_spread_key (gyre_key_next (&self->key), mesh, mode);
  GyreTree             *results =
      gyre_step_run (step, error, GYRE_NODE_ENTRY ("state", *state),
                     GYRE_TREE_ENTRY ("batch", batch), GYRE_ARRAY_ENTRY ("key", key),
                     NULL);

  if (!results)
    return NULL;
  g_set_object (state, gyre_tree_get_node (results, "state"));
  if (gyre_trainer_check_nan (self, results, error))
    return results;
  gyre_tree_unref (results);
  return NULL;
}

gboolean
gyre_trainer_read (GyreTree    *results,
                   const char  *name,
                   double      *value,
                   GError     **error)
{
  GyreArray         *array = gyre_tree_get_array (results, name);
  g_autoptr (GBytes) bytes = gyre_array_get (array, error);

  if (!bytes)
    return FALSE;
  *value = ((const float *) g_bytes_get_data (bytes, NULL))[0];
  return TRUE;
}
