/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/gyre-test-private.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ir/gyre-graph-private.h"
#include "ir/gyre-prim-private.h"
#include "prims/gyre-prims-private.h"

static GyreTensor *
apply (GyreTestCase  *self,
       GyreTree      *args,
       GyreTree     **state)
{
  GyreTensor *key =
      self->test->evaluation ? NULL : gyre_tree_get_tensor (args, "key");

  return gyre_model_apply (self->model, gyre_tree_get_tree (args, "params"),
                           gyre_tree_get_tree (args, "state"),
                           gyre_tree_get_tensor (args, "x"), !self->test->evaluation, key,
                           state);
}

/* What gradients are taken by: x, if it has any, and the parameters */
static GPtrArray *
list_variables (GyreTestCase *self,
                GyreTree     *args)
{
  g_autoptr (GPtrArray) leaves =
      gyre_tree_flatten (gyre_tree_get_tree (args, "params"), NULL);
  GPtrArray *wrt = g_ptr_array_new ();

  if (self->test->dtype == GYRE_F32)
    g_ptr_array_add (wrt, gyre_tree_get_tensor (args, "x"));
  for (guint i = 0; i < leaves->len; i++)
    g_ptr_array_add (wrt, gyre_tree_as_tensor (leaves->pdata[i]));

  return wrt;
}

/* {params, state, x, dy, key} → {y, state, gradients: [by each variable]} */
static GyreTree *
trace_case (GyreTree *args,
            gpointer  data)
{
  GyreTestCase *self = data;
  g_autoptr (GPtrArray) wrt = list_variables (self, args);
  g_autofree GyreTensor **grads = g_new0 (GyreTensor *, wrt->len + 1);
  GyreTree *list = gyre_tree_new_list ();
  GyreTensor *dy = gyre_tree_get_tensor (args, "dy");
  GyreTree *state;
  GyreTensor *y = apply (self, args, &state);

  if (wrt->len > 0)
    gyre_vjp (&y, &dy, 1, (GyreTensor **) wrt->pdata, wrt->len, grads);
  for (guint i = 0; i < wrt->len; i++)
    gyre_tree_append (list, gyre_tree_new_tensor (grads[i]));

  return gyre_tree_build (GYRE_TENSOR_ENTRY ("y", y), GYRE_TREE_ENTRY ("state", state),
                          GYRE_TREE_ENTRY ("gradients", list), NULL);
}

static GyreTree *
trace_value (GyreTree *args,
             gpointer  data)
{
  GyreTensor *y = apply (data, args, NULL);

  return gyre_tree_build (GYRE_TENSOR_ENTRY ("y", y), NULL);
}

/* Arguments have buffers of their own already. */
static void
append_once (GyreTree   *list,
             GyreTensor *node,
             GHashTable *seen)
{
  if (node->prim != &gyre_prim_input && g_hash_table_add (seen, node))
    gyre_tree_append (list, gyre_tree_new_tensor (node));
}

/* The same as trace_case (), and every value on the way in a buffer of its own, so that
 * what is behind or before it is nobody's. */
static GyreTree *
trace_guarded (GyreTree *args,
               gpointer  data)
{
  GyreTree *results = trace_case (args, data);
  GyreTensor *y = gyre_tree_get_tensor (results, "y");
  GyreTree *list = gyre_tree_new_list ();
  guint n = y->poison ? 0 : y->graph->nodes->len;

  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < n; i++)
    {
      GyreTensor *node = g_ptr_array_index (y->graph->nodes, i);

      if (!gyre_plugin_prim_is (node->prim))
        continue;
      append_once (list, node, seen);
      for (guint o = 0; o < node->n_operands; o++)
        append_once (list, node->operands[o], seen);
    }
  gyre_tree_set (results, "all", list);

  return results;
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
check_on (GyreTestCase  *self,
          GPtrArray     *devices,
          const double  *shares,
          const char    *where,
          GError       **error)
{
  g_autoptr (GError) why = NULL;
  g_autoptr (GyreMesh) mesh = gyre_mesh_new ("data=*", devices, error);
  g_autoptr (GyreTree) value = NULL;
  g_autoptr (GyreTree) results = NULL;

  if (mesh == NULL || !gyre_mesh_set_shares (mesh, "data", shares, error))
    return FALSE;
  value = run (self, trace_value, mesh, error);
  if (value == NULL)
    return FALSE;

  results = run (self, trace_case, mesh, &why);
  if (results != NULL)
    return gyre_test_case_compare (self, results, where, error);

  if (g_str_has_prefix (why->message, "gyre_vjp: "))
    g_prefix_error (&why, "wrong gradient: ");
  g_propagate_error (error, g_steal_pointer (&why));
  return FALSE;
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

/* Under Oclgrind: its log is what counts, so wrong numbers are no matter, and a gradient
 * that can't be had is told of on the other devices. */
static gboolean
run_guarded (GyreTestCase  *self,
             GError       **error)
{
  g_autoptr (GPtrArray) devices = gyre_devices_open ("oclgrind", error);
  g_autoptr (GyreMesh) mesh =
    devices != NULL ? gyre_mesh_new ("data=*", devices, error) : NULL;
  g_autoptr (GyreTree) value = NULL;
  g_autoptr (GyreTree) results = NULL;
  g_autoptr (GBytes) waited = NULL;

  if (mesh == NULL)
    return FALSE;
  results = run (self, trace_guarded, mesh, NULL);
  if (results == NULL)
    results = run (self, trace_value, mesh, error);
  if (results != NULL)
    waited = gyre_array_get (gyre_tree_get_array (results, "y"), error);

  return waited != NULL;
}

/* In the program that Oclgrind runs */
static void
leave_guarded (GyreTestCase *self)
{
  g_autoptr (GError) error = NULL;

  if (run_guarded (self, &error))
    _exit (0);

  g_printerr ("%s\n", error->message);
  _exit (GYRE_TEST_FAILED);
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
 *   rule", "wrong value", "wrong state", "wrong gradient", "wrong split", "a kernel reads
 *   or writes out of bounds", "a data race in a kernel"
 *
 * Tests a layer, in training unless told, with drawn inputs, parameters, model state and
 * key: its value against the reference and its gradients against finite differences of
 * it, on every device that is admitted, and on one device opened three times with equal
 * and unequal shares, zero among them. If Oclgrind is installed, the program that calls
 * this is run once more under it for this call alone, which finds what kernels read or
 * write out of bounds, and data races: what the program does before has to be the same
 * each time.
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
    leave_guarded (self);
  if (self != NULL && check_all (self, call, error))
    return TRUE;

  g_prefix_error (error, "%s: ", test->line);
  return FALSE;
}
