/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-rule-private.h"

#include "nn/gyre-property-private.h"

#include <string.h>

/* The formulas of Optax 0.2, written so that each rounds where they round there. */

#define OFFSET(member) G_STRUCT_OFFSET (GyreRule, member)

/* (1 - decay) g^order + decay m */
static GyreTensor *
update_moment (GyreTensor *power,
               GyreTensor *moment,
               double      decay)
{
  return gyre_add (gyre_mul_scalar (power, 1 - decay), gyre_mul_scalar (moment, decay));
}

/* "dense_0/bias" and "batch_norm_0/scale" do not decay by the mask "kernels". */
static gboolean
decays (const GyreRule *self,
        const char     *path)
{
  const char *slash = strrchr (path, '/');
  const char *name = slash != NULL ? slash + 1 : path;

  if (self->weight_decay == 0)
    return FALSE;

  return self->mask == GYRE_DECAY_ALL ||
         !(g_str_equal (name, "bias") || g_str_equal (name, "scale"));
}

static GyreTensor *
add_decayed (const GyreRule     *self,
             const GyreRuleStep *step,
             GyreTensor         *update,
             GyreTensor         *param)
{
  if (!decays (self, step->path))
    return update;

  return gyre_add (update, gyre_mul_scalar (param, self->weight_decay));
}

static void
add_rate (GObjectClass *klass,
          double        value)
{
  gyre_property_add_double (klass, "learning-rate",
                            "What updates are multiplied by, or a schedule",
                            OFFSET (learning_rate), 0, G_MAXDOUBLE, value);
}

static GType
get_mask_type (void)
{
  static const GEnumValue values[] = {
    { GYRE_DECAY_ALL, "GYRE_DECAY_ALL", "all" },
    { GYRE_DECAY_KERNELS, "GYRE_DECAY_KERNELS", "kernels" },
    { 0, NULL, NULL }
  };
  static gsize type = 0;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GyreDecayMask", values));

  return type;
}

static void
add_decay (GObjectClass *klass,
           double        value)
{
  gyre_property_add_double (klass, "weight-decay",
                            "How much of each parameter is taken off, times the rate",
                            OFFSET (weight_decay), 0, G_MAXDOUBLE, value);
  gyre_property_add_enum (klass, "mask",
                          "Which parameters decay: kernels leaves out what is called "
                          "bias or scale",
                          OFFSET (mask), get_mask_type (), GYRE_DECAY_ALL);
}

/* 1 itself would divide by zero when a bias is corrected. */
#define LARGEST_DECAY (1 - 1e-9)

static void
add_betas (GObjectClass *klass,
           double        b1,
           double        b2)
{
  gyre_property_add_double (klass, "b1", "Decay of the mean of gradients", OFFSET (b1), 0,
                            LARGEST_DECAY, b1);
  gyre_property_add_double (klass, "b2", "Decay of the second average", OFFSET (b2), 0,
                            LARGEST_DECAY, b2);
}

static void
add_eps (GObjectClass *klass,
         double        value)
{
  gyre_property_add_double (klass, "eps", "Keeps a divisor from being zero", OFFSET (eps),
                            0, G_MAXDOUBLE, value);
}

/* sgd: t = g + momentum t; nesterov: g + momentum t */

static void
sgd_properties (GObjectClass *klass)
{
  add_rate (klass, 0.01);
  gyre_property_add_double (klass, "momentum", "How much of the last update stays",
                            OFFSET (momentum), 0, 1, 0);
  gyre_property_add_boolean (klass, "nesterov", "Whether momentum looks ahead",
                             OFFSET (nesterov), FALSE);
}

static gboolean
sgd_needs_slots (const GyreRule *self)
{
  return self->momentum != 0;
}

static GyreTensor *
sgd_leaf (const GyreRule  *self,
          GyreRuleStep    *step,
          GyreTensor      *grad,
          GyreTensor      *param,
          GyreTensor     **slots)
{
  if (self->momentum == 0)
    return grad;

  slots[0] = gyre_add (grad, gyre_mul_scalar (slots[0], self->momentum));
  if (!self->nesterov)
    return slots[0];

  return gyre_add (grad, gyre_mul_scalar (slots[0], self->momentum));
}

/* adam (Kingma and Ba, 2015):
 * m / (1 - b1^t) / (sqrt (v / (1 - b2^t) + eps_root) + eps) */

static void
adam_properties (GObjectClass *klass)
{
  add_rate (klass, 1e-3);
  add_betas (klass, 0.9, 0.999);
  add_eps (klass, 1e-8);
  gyre_property_add_double (klass, "eps-root", "Added below the square root",
                            OFFSET (eps_root), 0, G_MAXDOUBLE, 0);
}

static void
adamw_properties (GObjectClass *klass)
{
  adam_properties (klass);
  add_decay (klass, 1e-4);
}

/* 1 - decay^time, with the decay as a float: its last bits are the first of this. */
static GyreTensor *
bias_correction (GyreTensor *time,
                 double      decay)
{
  GyreTensor *power = gyre_pow (gyre_constant (GYRE_F32, (float) decay), time);

  return gyre_sub (gyre_constant (GYRE_F32, 1), power);
}

static void
adam_prepare (const GyreRule *self,
              GyreRuleStep   *step)
{
  step->scalars[0] = bias_correction (step->time, self->b1);
  step->scalars[1] = bias_correction (step->time, self->b2);
}

static GyreTensor *
adam_direction (const GyreRule  *self,
                GyreRuleStep    *step,
                GyreTensor      *grad,
                GyreTensor     **slots)
{
  GyreTensor *mean, *square;

  slots[0] = update_moment (grad, slots[0], self->b1);
  slots[1] = update_moment (gyre_square (grad), slots[1], self->b2);
  mean = gyre_div (slots[0], step->scalars[0]);
  square = gyre_div (slots[1], step->scalars[1]);
  if (self->eps_root != 0)
    square = gyre_add_scalar (square, self->eps_root);

  return gyre_div (mean, gyre_add_scalar (gyre_sqrt (square), self->eps));
}

static GyreTensor *
adam_leaf (const GyreRule  *self,
           GyreRuleStep    *step,
           GyreTensor      *grad,
           GyreTensor      *param,
           GyreTensor     **slots)
{
  return add_decayed (self, step, adam_direction (self, step, grad, slots), param);
}

/* lamb (You et al., 2020): adam's direction d, as long as the parameter: d |p| / |d| */

static void
lamb_properties (GObjectClass *klass)
{
  add_rate (klass, 1e-3);
  add_betas (klass, 0.9, 0.999);
  add_eps (klass, 1e-6);
  gyre_property_add_double (klass, "eps-root", "Added below the square root",
                            OFFSET (eps_root), 0, G_MAXDOUBLE, 0);
  add_decay (klass, 0);
}

static GyreTensor *
norm (GyreTensor *x)
{
  return gyre_sqrt (gyre_sum (gyre_square (x)));
}

static GyreTensor *
lamb_leaf (const GyreRule  *self,
           GyreRuleStep    *step,
           GyreTensor      *grad,
           GyreTensor      *param,
           GyreTensor     **slots)
{
  GyreTensor *update = adam_leaf (self, step, grad, param, slots);
  GyreTensor *zero = gyre_constant (GYRE_F32, 0);
  GyreTensor *one = gyre_constant (GYRE_F32, 1);
  GyreTensor *of_param = norm (param);
  GyreTensor *of_update = norm (update);
  GyreTensor *is_zero =
      gyre_or (gyre_equal (of_param, zero), gyre_equal (of_update, zero));
  GyreTensor *ratio = gyre_div (of_param, gyre_select (is_zero, one, of_update));

  return gyre_mul (update, gyre_select (is_zero, one, ratio));
}

/* rmsprop: g / sqrt (v + eps) */

static void
rmsprop_properties (GObjectClass *klass)
{
  add_rate (klass, 1e-3);
  gyre_property_add_double (klass, "decay", "Decay of the mean of squares",
                            OFFSET (decay), 0, 1, 0.9);
  add_eps (klass, 1e-8);
  gyre_property_add_double (klass, "initial-scale", "What the mean of squares begins at",
                            OFFSET (initial_value), 0, G_MAXDOUBLE, 0);
}

static GyreTensor *
rmsprop_leaf (const GyreRule  *self,
              GyreRuleStep    *step,
              GyreTensor      *grad,
              GyreTensor      *param,
              GyreTensor     **slots)
{
  slots[0] = update_moment (gyre_square (grad), slots[0], self->decay);

  return gyre_mul (grad, gyre_rsqrt (gyre_add_scalar (slots[0], self->eps)));
}

/* adagrad (Duchi et al., 2011): s += g²; g / sqrt (s + eps), or 0 where s is 0 */

static void
adagrad_properties (GObjectClass *klass)
{
  add_rate (klass, 1e-2);
  gyre_property_add_double (klass, "initial-accumulator-value",
                            "What the sum of squares begins at", OFFSET (initial_value),
                            0, G_MAXDOUBLE, 0.1);
  add_eps (klass, 1e-7);
}

static GyreTensor *
adagrad_leaf (const GyreRule  *self,
              GyreRuleStep    *step,
              GyreTensor      *grad,
              GyreTensor      *param,
              GyreTensor     **slots)
{
  GyreTensor *zero = gyre_full_like (grad, 0);
  GyreTensor *scale;

  slots[0] = gyre_add (gyre_square (grad), slots[0]);
  scale = gyre_rsqrt (gyre_add_scalar (slots[0], self->eps));

  return gyre_mul (gyre_select (gyre_greater (slots[0], zero), scale, zero), grad);
}

/* lion (Chen et al., 2023): sign ((1 - b1) g + b1 m) */

static void
lion_properties (GObjectClass *klass)
{
  add_rate (klass, 1e-4);
  add_betas (klass, 0.9, 0.99);
  add_decay (klass, 1e-3);
}

static GyreTensor *
lion_leaf (const GyreRule  *self,
           GyreRuleStep    *step,
           GyreTensor      *grad,
           GyreTensor      *param,
           GyreTensor     **slots)
{
  GyreTensor *update = gyre_sign (update_moment (grad, slots[0], self->b1));

  slots[0] = update_moment (grad, slots[0], self->b2);

  return add_decayed (self, step, update, param);
}

/* clip-by-global-norm: g max_norm / |g| where the norm of all gradients is larger */

static void
global_norm_properties (GObjectClass *klass)
{
  gyre_property_add_double (klass, "max-norm",
                            "The largest norm of all gradients together",
                            OFFSET (max_norm), 0, G_MAXDOUBLE, 1);
  gyre_property_require (klass, "max-norm");
}

static void
global_norm_prepare (const GyreRule *self,
                     GyreRuleStep   *step)
{
  GyreTensor *sum = NULL;

  for (guint i = 0; i < step->grads->len; i++)
    {
      GyreTensor *grad = gyre_tree_as_tensor (g_ptr_array_index (step->grads, i));
      GyreTensor *square = gyre_sum (gyre_square (grad));

      sum = sum != NULL ? gyre_add (sum, square) : square;
    }

  step->scalars[0] = gyre_sqrt (sum);
  step->scalars[1] =
      gyre_less (step->scalars[0], gyre_constant (GYRE_F32, self->max_norm));
}

static GyreTensor *
global_norm_leaf (const GyreRule  *self,
                  GyreRuleStep    *step,
                  GyreTensor      *grad,
                  GyreTensor      *param,
                  GyreTensor     **slots)
{
  GyreTensor *clipped =
      gyre_mul_scalar (gyre_div (grad, step->scalars[0]), self->max_norm);
  GyreTensor *is_small =
    gyre_broadcast_to (step->scalars[1], gyre_tensor_get_shape (grad));

  return gyre_select (is_small, grad, clipped);
}

/* clip: each element to ±max_delta */

static void
clip_properties (GObjectClass *klass)
{
  gyre_property_add_double (klass, "max-delta", "The largest magnitude of an element",
                            OFFSET (max_delta), 0, G_MAXDOUBLE, 1);
  gyre_property_require (klass, "max-delta");
}

static GyreTensor *
clip_leaf (const GyreRule  *self,
           GyreRuleStep    *step,
           GyreTensor      *grad,
           GyreTensor      *param,
           GyreTensor     **slots)
{
  GyreTensor *high = gyre_full_like (grad, self->max_delta);

  return gyre_max (gyre_min (grad, high), gyre_neg (high));
}

const GyreRuleRow gyre_rule_rows[] = {
  { "adagrad", "GyreAdagrad", { "sum" }, FALSE, TRUE, adagrad_properties,
    NULL, NULL, adagrad_leaf },
  { "adam", "GyreAdam", { "mu", "nu" }, TRUE, TRUE, adam_properties,
    NULL, adam_prepare, adam_leaf },
  { "adamw", "GyreAdamw", { "mu", "nu" }, TRUE, TRUE, adamw_properties,
    NULL, adam_prepare, adam_leaf },
  { "clip", "GyreClip", { NULL }, FALSE, FALSE, clip_properties,
    NULL, NULL, clip_leaf },
  { "clip-by-global-norm", "GyreClipByGlobalNorm", { NULL }, FALSE, FALSE,
    global_norm_properties, NULL, global_norm_prepare, global_norm_leaf },
  { "lamb", "GyreLamb", { "mu", "nu" }, TRUE, TRUE, lamb_properties,
    NULL, adam_prepare, lamb_leaf },
  { "lion", "GyreLion", { "mu" }, FALSE, TRUE, lion_properties,
    NULL, NULL, lion_leaf },
  { "rmsprop", "GyreRmsprop", { "nu" }, FALSE, TRUE, rmsprop_properties,
    NULL, NULL, rmsprop_leaf },
  { "sgd", "GyreSgd", { "trace" }, FALSE, TRUE, sgd_properties,
    sgd_needs_slots, NULL, sgd_leaf },
};

const guint gyre_rule_n_rows = G_N_ELEMENTS (gyre_rule_rows);
