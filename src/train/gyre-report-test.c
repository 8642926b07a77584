/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-report-private.h"

/* {state, batch} → {logits}; images lie in 0..1 */
static GyreTree *
test_step (GyreTree *args, gpointer data)
{
  GyreReport     *self  = data;
  GyreTrainState *state = gyre_tree_get_node (args, "state");
  GyreTensor *image = gyre_convert (gyre_tree_get_tensor (args, "batch/image"), GYRE_F32);
  double      scale = gyre_dataset_get_scale (self->dataset);

  image = gyre_div (image, gyre_constant (GYRE_F32, scale));
  return gyre_tree_build (
      GYRE_TENSOR_ENTRY ("logits", gyre_model_apply (
          gyre_train_state_get_model (state), gyre_train_state_get_params (state),
          gyre_train_state_get_model_state (state), image, FALSE, NULL, NULL)), NULL);
}

/* Compiled once, unless the mesh is another. */
static gboolean
make_step (GyreReport *self, GyreMesh *mesh, GError **error)
{
  g_autofree char *spec = NULL;

  if (self->test && self->mesh == mesh)
    return TRUE;
  g_clear_object (&self->test);
  g_set_object (&self->mesh, mesh);
  spec       = g_strconcat ("state=, batch=", gyre_mesh_get_axis_name (mesh, 0), NULL);
  self->test = gyre_step_jit (test_step, mesh, spec, NULL, self, NULL, error);
  return self->test != NULL;
}

static gboolean
test_batch (GyreReport *self, GyreTrainState *state, GyreTree *batch, GError **error)
{
  g_autoptr (GyreTree) result =
      gyre_step_run (self->test, error, GYRE_NODE_ENTRY ("state", state),
                     GYRE_TREE_ENTRY ("batch", batch), NULL);

  return result && gyre_report_add_test (self, gyre_tree_get_array (result, "logits"),
                                         gyre_tree_get_array (batch, "label"), error);
}

/**
 * gyre_report_test:
 * @self: a report
 * @state: whose model is tested, on images that lie in 0..1, without dropout and its kin
 * @mesh: the devices that do it; its first axis splits the batches
 * @batch_size: samples of a batch, 1 or more
 * @error: return location for an error
 *
 * Ends an epoch: takes each sample of the dataset's test split once.
 *
 * Returns: %TRUE, or %FALSE with the error of a training step whose loss was still to be
 *   read, of the model, or of gyre_report_add_test()
 */
gboolean
gyre_report_test (GyreReport      *self,
                  GyreTrainState  *state,
                  GyreMesh        *mesh,
                  gint64           batch_size,
                  GError         **error)
{
  g_autoptr (GyreLoader) loader = NULL;
  gboolean               ok     = TRUE;
  GyreTree              *batch;

  g_return_val_if_fail (GYRE_IS_REPORT (self) && GYRE_IS_TRAIN_STATE (state), FALSE);
  g_return_val_if_fail (GYRE_IS_MESH (mesh), FALSE);
  if (!gyre_report_read_losses (self, 0, error) || !make_step (self, mesh, error) ||
      !(loader = gyre_loader_new (self->dataset, GYRE_SPLIT_TEST, batch_size, error)))
    return FALSE;
  gyre_report_start_test (self);
  while (ok && (batch = gyre_loader_next (loader)))
    {
      ok = test_batch (self, state, batch, error);
      gyre_tree_unref (batch);
    }
  if (ok)
    gyre_report_end_epoch (self);
  return ok;
}
