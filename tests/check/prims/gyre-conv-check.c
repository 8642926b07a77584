/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-conv-check.h"

#include "fuse/gyre-check-program.h"

#include "device/gyre-check-device.h"
#include "fuse/gyre-fuse-private.h"
#include "partition/gyre-partition-private.h"

const GyreConvTarget gyre_conv_targets[] = {
  { "CPU, direct", "direct", { TRUE, 64, 1 << 20, 3 } },
  { "CPU of little local memory, direct", "direct", { TRUE, 64, 2048, 3 } },
  { "any device, direct", "direct", { FALSE, 64, 32768, 3 } },
  { "CPU, im2col", "im2col", { TRUE, 64, 1 << 20, 3 } },
  { "any device of little memory, im2col", "im2col", { FALSE, 64, 32768, 3, 1 << 16 } },
  { "any device, chosen", "auto", { FALSE, 64, 32768, 3 } },
  { "any device, fft", "fft", { FALSE, 64, 32768, 3 } },
};

const guint gyre_conv_n_targets = G_N_ELEMENTS (gyre_conv_targets);

static void
add_outputs (GyreGraph *graph, GyreTensor *y, GyreTensor *const *wrt, guint n)
{
  GyreTensor *ct, *grads[2];

  if (graph->error != NULL)
    return;

  ct = gyre_graph_input (graph, "ct", GYRE_F32, &y->shape);
  gyre_vjp (&y, &ct, 1, wrt, n, grads);
  gyre_graph_add_output (graph, y);
  for (guint i = 0; i < n; i++)
    gyre_graph_add_output (graph, grads[i]);
}

GyreGraph *
gyre_conv_check_graph (const GyreConvCase *which)
{
  GyreGraph *graph = gyre_graph_new ();
  GyreTensor *wrt[2], *y;

  gyre_graph_push (graph);
  wrt[0] = gyre_graph_input (graph, "x", GYRE_F32, &which->x);
  if (which->pool != NULL)
    {
      y = which->pool (wrt[0], which->k.dims, which->strides, which->padding);
      add_outputs (graph, y, wrt, 1);
    }
  else
    {
      wrt[1] = gyre_graph_input (graph, "k", GYRE_F32, &which->k);
      y = gyre_conv_dilated (wrt[0], wrt[1], which->strides, which->padding,
                             which->dilation, which->input_dilation, which->groups);
      add_outputs (graph, y, wrt, 2);
    }
  gyre_graph_pop ();

  return graph;
}

/* Numbers are multiples of 1/64 below 1, so that products are exact, and so are sums
 * below 4096: f32 and double agree to the bit.  Roots of unity round: then they are as
 * near as a few roundings of the largest. */
static void
compare (const char *name, const GyreConvTarget *as, guint output, const GyreRef *got,
         const GyreRef *wanted)
{
  const char *target = as->name;
  double largest = 0, slack = g_str_equal (as->algorithm, "fft") ? 2e-6 : 0;
  gint64 n = gyre_shape_n_elements (&wanted->shape);

  for (gint64 i = 0; i < n; i++)
    if (isfinite (wanted->data[i]))
      largest = MAX (largest, fabs (wanted->data[i]));
  /* a window in the padding alone has a maximum of -inf */
  for (gint64 i = 0; i < n; i++)
    if (got->data[i] != wanted->data[i] &&
        !(fabs (got->data[i] - wanted->data[i]) <= slack * largest))
      ck_abort_msg ("%s, %s: element %d of output %u is %.9g, not %.9g", name, target,
                    (int) i, output, got->data[i], wanted->data[i]);
}

static void
check_target (const GyreConvCase *which, GyreProgram *program, GyreDevice *device,
              const GyreConvTarget *as, const GyreRef *inputs, const GyreRef *wanted)
{
  GyreTarget target = as->target;
  GyreRef got[3];

  target.local_memory = MIN (target.local_memory, gyre_device_get_local_memory (device));
  g_setenv ("GYRE_CONV", as->algorithm, TRUE);
  gyre_check_run_program_as (program, device, &target, inputs, got);
  g_unsetenv ("GYRE_CONV");
  for (guint i = 0; i < program->graph->outputs->len; i++)
    {
      compare (which->name, as, i, &got[i], &wanted[i]);
      g_free (got[i].data);
    }
}

/* The samples are split where there are several devices. */
static GyreProgram *
make_program (const GyreConvCase *which, double *weights, guint n_weights)
{
  GyreMeshSpec mesh = { 1, { { "data", n_weights, FALSE, FALSE } }, { weights } };
  GyreMeshSpec one = { 0 };
  GyreSpec specs[3] = { { { 0 } } };
  GError *error = NULL;
  GyreGraph *graph = gyre_conv_check_graph (which);
  g_autoptr (GyreProgram) program = NULL;
  GyreProgram *fused;

  gyre_assert_no_error (graph->error);
  for (guint i = 0; i < graph->inputs->len; i += graph->inputs->len - 1)
    {
      specs[i].axes[0] = n_weights > 0;
      specs[i].base[0] = n_weights > 0 ? which->x.dims[0] : 0;
    }
  program = n_weights > 0 ? gyre_partition (graph, &mesh, specs, NULL, &error)
                          : gyre_program_new (g_steal_pointer (&graph), &one);
  gyre_assert_no_error (error);
  gyre_graph_free (graph);
  fused = gyre_fuse (program, &error);
  gyre_assert_no_error (error);
  return fused;
}

void
gyre_conv_check (const GyreConvCase *which, GyreDevice *device, guint first, guint end,
                 double *weights, guint n_weights)
{
  GyreRef inputs[3], wanted[3];
  GError *error = NULL;
  g_autoptr (GyreProgram) program = make_program (which, weights, n_weights);
  g_autoptr (GyreGraph) oracle = gyre_conv_check_graph (which);

  for (guint i = 0; i < oracle->inputs->len; i++)
    {
      GyreTensor *input = g_ptr_array_index (oracle->inputs, i);

      inputs[i] = gyre_check_make_ref (GYRE_F32, &input->shape, -1, 1, i + 1);
    }
  gyre_interpret (oracle, inputs, wanted, &error);
  gyre_assert_no_error (error);

  for (guint t = first; t < end; t++)
    check_target (which, program, device, &gyre_conv_targets[t], inputs, wanted);
  for (guint i = 0; i < oracle->inputs->len; i++)
    g_free (inputs[i].data);
  for (guint i = 0; i < oracle->outputs->len; i++)
    g_free (wanted[i].data);
}
