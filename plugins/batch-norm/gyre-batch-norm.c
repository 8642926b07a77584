/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "common/gyre-affine.h"
#include "common/gyre-input.h"

#define GYRE_TYPE_BATCH_NORM (gyre_batch_norm_get_type ())
G_DECLARE_FINAL_TYPE (GyreBatchNorm, gyre_batch_norm, GYRE, BATCH_NORM, GyreLayer)

struct _GyreBatchNorm
{
  GyreLayer parent_instance;
  double    momentum;
  gboolean  use_running_average;
  char     *axis_name;
  Affine    affine;
};

GYRE_DEFINE_LAYER (GyreBatchNorm, gyre_batch_norm)

typedef struct
{
  GyreTensor *mean;     /* f32[c] */
  GyreTensor *var;
} Statistics;

/* Σ d, Σ d² and how many d there are, over all dimensions but the last */
typedef struct
{
  GyreTensor *sum;      /* f32[c] */
  GyreTensor *square;
  GyreTensor *count;    /* f32[] */
} Moments;

static Moments
count_moments (GyreTensor *d)
{
  int dims[GYRE_MAX_RANK];
  int n = gyre_tensor_get_rank (d) - 1;
  gint64 rows = 1;

  for (int i = 0; i < n; i++)
    {
      dims[i] = i;
      rows *= gyre_tensor_dim (d, i);
    }

  return (Moments){ gyre_sum_dims (d, dims, n, FALSE),
                    gyre_sum_dims (gyre_square (d), dims, n, FALSE),
                    gyre_constant (GYRE_F32, (double) rows) };
}

/* The axes over whose members the batch is measured; NULL: the function sees all of it,
 * or is to see no more. */
static const char *
find_axis (const GyreBatchNorm *self)
{
  if (self->axis_name == NULL)
    return gyre_axis_get_manual ();
  if (strcmp (self->axis_name, "none") == 0)
    return NULL;
  return gyre_axis_is_manual (self->axis_name) ? self->axis_name : NULL;
}

/* Of all members along the axis: sums, so members may hold unlike numbers of rows. */
static Moments
add_members (Moments     own,
             const char *axis)
{
  gint64 c = gyre_tensor_dim (own.sum, 0);
  GyreTensor *parts[] = { own.sum, own.square,
                          gyre_reshape (own.count, GYRE_SHAPE (1)) };
  GyreTensor *all = gyre_psum (gyre_concatenate (parts, 3, 0), axis);
  gint64 bounds[] = { 0, c, 2 * c, 2 * c + 1 };

  return (Moments){ gyre_slice (all, &bounds[0], &bounds[1], NULL),
                    gyre_slice (all, &bounds[1], &bounds[2], NULL),
                    gyre_squeeze (gyre_slice (all, &bounds[2], &bounds[3], NULL), 0) };
}

/* Mean and variance of the batch from moments about the running mean, which is near: so
 * little cancels in E d² - (E d)². */
static Statistics
measure (GyreTensor *x,
         GyreTensor *near,
         const char *axis)
{
  Moments moments = count_moments (gyre_sub (x, near));
  GyreTensor *mean, *var;

  if (axis != NULL)
    moments = add_members (moments, axis);

  moments.count = gyre_max (moments.count, gyre_constant (GYRE_F32, 1));
  mean = gyre_div (moments.sum, moments.count);
  var = gyre_sub (gyre_div (moments.square, moments.count), gyre_square (mean));

  return (Statistics){ gyre_add (near, mean), gyre_max (var, gyre_full_like (var, 0)) };
}

static void
follow (const GyreBatchNorm *self,
        GyreScope           *scope,
        const char          *name,
        GyreTensor          *running,
        GyreTensor          *value)
{
  gyre_scope_set_state (scope, name,
                        gyre_add (gyre_mul_scalar (running, self->momentum),
                                  gyre_mul_scalar (value, 1 - self->momentum)));
}

/* A member without a row has nothing to measure, unless it hears of the others' rows. */
static gboolean
is_measured (const GyreBatchNorm *self,
             GyreScope           *scope,
             GyreTensor          *x,
             const char          *axis)
{
  if (!gyre_scope_is_training (scope) || self->use_running_average)
    return FALSE;

  return gyre_tensor_n_elements (x) > 0 || axis != NULL;
}

/* y = (x - m) / √(v + ε) · scale + bias (Ioffe and Szegedy, 2015);  x: f32[b, …, c];
 * scale, bias: f32[c]; state mean, var: f32[c].  In training m and v are those of the
 * batch over all dimensions but the last, and the state moves towards them: momentum ·
 * state + (1 - momentum) · batch; in evaluation they are the state.  The batch is the
 * whole one, however it is split among devices, in a function of one member (pmap) too:
 * there axis-name names fewer axes, or none for the member's own share. */
static GyreTensor *
gyre_batch_norm_apply (GyreLayer  *layer,
                       GyreScope  *scope,
                       GyreTensor *x)
{
  GyreBatchNorm *self = GYRE_BATCH_NORM (layer);
  GyreShape shape;
  Statistics running, used;
  const char *axis;

  if (!input_is (x, GYRE_F32, 2, FALSE))
    return input_fail (scope, x, "f32[b, …, c]");

  shape = GYRE_SHAPE (gyre_tensor_dim (x, -1));
  running.mean = gyre_scope_state (scope, "mean", shape, &gyre_init_zeros);
  running.var = gyre_scope_state (scope, "var", shape, &gyre_init_ones);
  used = running;
  axis = find_axis (self);
  if (is_measured (self, scope, x, axis))
    {
      used = measure (x, gyre_stop_gradient (running.mean), axis);
      follow (self, scope, "mean", running.mean, used.mean);
      follow (self, scope, "var", running.var, used.var);
    }

  x = gyre_mul (gyre_sub (x, used.mean),
                gyre_rsqrt (gyre_add_scalar (used.var, self->affine.epsilon)));
  return affine_apply (&self->affine, scope, x);
}

static void
gyre_batch_norm_class_init (GyreBatchNormClass *klass)
{
  GyreLayerClass *layer_class = GYRE_LAYER_CLASS (klass);

  layer_class->apply = gyre_batch_norm_apply;
  gyre_layer_class_add_double (layer_class, "momentum",
                               "How much of the running statistics stays in a step",
                               G_STRUCT_OFFSET (GyreBatchNorm, momentum), 0, 1, 0.99);
  gyre_layer_class_add_boolean (layer_class, "use-running-average",
                                "Whether training uses the running statistics, too",
                                G_STRUCT_OFFSET (GyreBatchNorm, use_running_average),
                                FALSE);
  gyre_layer_class_add_string (layer_class, "axis-name",
                               "In pmap form: the mesh axes over whose members the batch "
                               "is measured, or none for each member's own share; if "
                               "not given, all axes",
                               G_STRUCT_OFFSET (GyreBatchNorm, axis_name), NULL);
  affine_add_properties (layer_class, G_STRUCT_OFFSET (GyreBatchNorm, affine), 1e-5,
                         TRUE);
}

static void
gyre_batch_norm_init (GyreBatchNorm *self)
{
}

static void
plugin_init (GyrePlugin *plugin)
{
  gyre_batch_norm_add (plugin, "batch-norm");
}

GYRE_PLUGIN_DEFINE (batch_norm, GYRE_VERSION_STRING, "Apache-2.0", plugin_init, "Gyre")
