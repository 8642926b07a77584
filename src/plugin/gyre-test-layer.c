/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/gyre-test-private.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* {params, state, x, dy, key} → {y, gradients: [by x, by each parameter]} */
static GyreTree *
trace_case (GyreTree *args,
            gpointer  data)
{
  GyreTestCase *self = data;
  GyreTree *params = gyre_tree_get_tree (args, "params");
  g_autoptr (GPtrArray) leaves = gyre_tree_flatten (params, NULL);
  guint n = leaves->len + 1;
  g_autofree GyreTensor **wrt = g_new (GyreTensor *, n);
  g_autofree GyreTensor **grads = g_new0 (GyreTensor *, n);
  GyreTree *list = gyre_tree_new_list ();
  GyreTensor *dy = gyre_tree_get_tensor (args, "dy");
  GyreTensor *y;

  wrt[0] = gyre_tree_get_tensor (args, "x");
  for (guint i = 0; i < leaves->len; i++)
    wrt[i + 1] = gyre_tree_as_tensor (leaves->pdata[i]);
  y = gyre_model_apply (self->model, params, gyre_tree_get_tree (args, "state"), wrt[0],
                        TRUE, gyre_tree_get_tensor (args, "key"), NULL);
  gyre_vjp (&y, &dy, 1, wrt, n, grads);
  for (guint i = 0; i < n; i++)
    gyre_tree_append (list, gyre_tree_new_tensor (grads[i]));

  return gyre_tree_build (GYRE_TENSOR_ENTRY ("y", y), GYRE_TREE_ENTRY ("gradients", list),
                          NULL);
}

/* The shape alone: what the layer's own rules say of its result. */
static GyreTree *
trace_value (GyreTree *args,
             gpointer  data)
{
  GyreTestCase *self = data;
  GyreTensor *y = gyre_model_apply (self->model, gyre_tree_get_tree (args, "params"),
                                    gyre_tree_get_tree (args, "state"),
                                    gyre_tree_get_tensor (args, "x"), TRUE,
                                    gyre_tree_get_tensor (args, "key"), NULL);

  return gyre_tree_build (GYRE_TENSOR_ENTRY ("y", y), NULL);
}

static GyreTree *
run (GyreTestCase  *self,
     GyreStepFunc   func,
     GyreMesh      *mesh,
     GError       **error)
{
  g_autoptr (GyreStep) step =
    gyre_step_jit (func, mesh, "x=data,dy=data", NULL, self, NULL, error);

  return step != NULL ? gyre_step_run_tree (step, self->args, error) : NULL;
}

static gboolean
check_shape (GyreTestCase  *self,
             GyreMesh      *mesh,
             GError       **error)
{
  g_autoptr (GyreTree) results = run (self, trace_value, mesh, error);
  g_autofree char *is = NULL;
  g_autofree char *due = NULL;
  GyreShape shape;

  if (results == NULL)
    return FALSE;

  shape = gyre_array_get_shape (gyre_tree_get_array (results, "y"));
  if (gyre_shape_equal (&shape, &self->test->output))
    return TRUE;

  is = gyre_shape_to_string (&shape);
  due = gyre_shape_to_string (&self->test->output);
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_SHAPE,
               "wrong shape rule: it says that the result is f32%s, the reference makes "
               "%s", is, due);
  return FALSE;
}

static gboolean
check_on (GyreTestCase  *self,
          GPtrArray     *devices,
          const double  *shares,
          const char    *where,
          GError       **error)
{
  g_autoptr (GyreMesh) mesh = gyre_mesh_new ("data=*", devices, error);
  g_autoptr (GyreTree) results = NULL;

  if (mesh == NULL || !gyre_mesh_set_shares (mesh, "data", shares, error)
      || !check_shape (self, mesh, error))
    return FALSE;

  results = run (self, trace_case, mesh, error);
  return results != NULL && gyre_test_case_compare (self, results, where, error);
}

static gboolean
check_each (GyreTestCase  *self,
            GPtrArray     *devices,
            GError       **error)
{
  for (guint i = 0; i < devices->len; i++)
    {
      g_autoptr (GPtrArray) one = g_ptr_array_new ();

      g_ptr_array_add (one, devices->pdata[i]);
      if (!check_on (self, one, NULL, gyre_device_get_name (devices->pdata[i]), error))
        return FALSE;
    }

  return TRUE;
}

/* What is right on one device and wrong on three is the rule by which it is split. */
static gboolean
check_spread (GyreTestCase  *self,
              const char    *devices,
              GError       **error)
{
  static const struct { const char *name; double weights[3]; } shares[] = {
    { "three devices with equal shares", { 1, 1, 1 } },
    { "three devices with shares 5:2:1", { 5, 2, 1 } },
    { "three devices with shares 1:0:1", { 1, 0, 1 } },
  };
  g_autofree char *first = g_strndup (devices, strcspn (devices, ",:/*="));
  g_autofree char *spec = g_strconcat (first, ":0*3", NULL);
  g_autoptr (GPtrArray) three = gyre_devices_open (spec, error);

  if (three == NULL)
    return FALSE;

  for (gsize i = 0; i < G_N_ELEMENTS (shares); i++)
    if (!check_on (self, three, shares[i].weights, shares[i].name, error))
      {
        g_prefix_error (error, "wrong split: right on one device, but not on more: ");
        return FALSE;
      }

  return TRUE;
}

static const char *
get_devices (const GyreLayerTest *test)
{
  const char *named = g_getenv ("GYRE_DEVICES");

  if (test->devices != NULL)
    return test->devices;

  return named != NULL && named[0] != '\0' ? named : "all";
}

/* Under Oclgrind: its log is what counts, so wrong numbers are no matter. */
static void
run_guarded (GyreTestCase *self)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) devices = gyre_devices_open ("oclgrind", &error);
  g_autoptr (GyreMesh) mesh =
    devices != NULL ? gyre_mesh_new ("data=*", devices, &error) : NULL;
  g_autoptr (GyreTree) value =
    mesh != NULL ? run (self, trace_value, mesh, &error) : NULL;
  g_autoptr (GyreArray) y =
    value != NULL ? gyre_array_ref (gyre_tree_get_array (value, "y")) : NULL;
  g_autoptr (GBytes) waited = y != NULL ? gyre_array_get (y, &error) : NULL;

  if (waited == NULL)
    {
      g_printerr ("%s\n", error->message);
      _exit (3);
    }
}

static gboolean
check_all (GyreTestCase  *self,
           guint          call,
           GError       **error)
{
  const char *spec = get_devices (self->test);
  g_autoptr (GPtrArray) devices = gyre_devices_open (spec, error);

  return devices != NULL && gyre_test_guard (self->test->line, call, error)
         && check_each (self, devices, error) && check_spread (self, spec, error);
}

/**
 * gyre_test_layer:
 * @test: what to test
 * @error: what is wrong: it begins with the line, and names the mistake: "wrong shape
 *   rule", "wrong value", "wrong gradient", "wrong split", "a kernel reads or writes out
 *   of bounds"
 *
 * Tests a layer in training, f32, with drawn inputs and parameters: its value against the
 * reference and its gradients against finite differences of it, on every device that is
 * admitted, and on one device opened three times with equal and unequal shares, zero
 * among them. If Oclgrind is installed, the program that calls this is run once more
 * under it for this call alone, which finds what kernels read or write out of bounds:
 * what the program does before has to be the same each time.
 *
 * Returns: whether all is right
 */
gboolean
gyre_test_layer (const GyreLayerTest  *test,
                 GError              **error)
{
  static guint n_calls;
  const char *only = g_getenv (GYRE_TEST_CALL);
  guint call = n_calls++;
  g_autoptr (GyreTestCase) self = NULL;

  g_return_val_if_fail (test != NULL && test->line != NULL, FALSE);
  g_return_val_if_fail (test->reference != NULL, FALSE);

  if (only != NULL && (guint) atoi (only) != call)
    return TRUE;

  self = gyre_test_case_new (test, error);
  if (self != NULL && only != NULL)
    {
      run_guarded (self);
      _exit (0);
    }
  if (self != NULL && check_all (self, call, error))
    return TRUE;

  g_prefix_error (error, "%s: ", test->line);
  return FALSE;
}
