/* SPDX-License-Identifier: Apache-2.0 */
#include "nn/gyre-loss-private.h"

#include "nn/gyre-property-private.h"
#include "nn/gyre-registry-private.h"

/* The losses of the library: each is a row. */

typedef struct
{
  GyreLoss parent_instance;
  double   label_smoothing;
  double   delta;
} LibraryLoss;

typedef struct
{
  const char *name;
  const char *type_name;
  GyreTensor *(*terms) (GyreLoss *self, GyreTensor *prediction, GyreTensor *target);
  GyreLossTarget  target;
  void      (*add_properties) (GObjectClass *klass);   /* NULL: none */
} Row;

/* -log softmax (x)[label]; label smoothing s takes the targets to (1 - s) t + s / n. A
 * label that is no class has no term: labels are checked where they enter. */
static GyreTensor *
softmax_cross_entropy (GyreLoss   *self,
                       GyreTensor *logits,
                       GyreTensor *labels)
{
  gint64 n = gyre_tensor_dim (logits, -1);
  GyreTensor *log_p = gyre_log_softmax (logits, -1);
  GyreTensor *target = gyre_one_hot (labels, n);
  double smoothing = ((LibraryLoss *) self)->label_smoothing;

  if (smoothing != 0)
    target =
        gyre_add_scalar (gyre_mul_scalar (target, 1 - smoothing), smoothing / (double) n);

  return gyre_neg (gyre_sum_axis (gyre_mul (target, log_p), -1, FALSE));
}

/* max (x, 0) - x t + log (1 + exp (-|x|)): no exponential of a large number. */
static GyreTensor *
sigmoid_cross_entropy (GyreLoss   *self,
                       GyreTensor *logits,
                       GyreTensor *target)
{
  GyreTensor *positive = gyre_max (logits, gyre_full_like (logits, 0));
  GyreTensor *rest = gyre_log1p (gyre_exp (gyre_neg (gyre_abs (logits))));

  return gyre_add (gyre_sub (positive, gyre_mul (logits, target)), rest);
}

static GyreTensor *
squared_error (GyreLoss   *self,
               GyreTensor *prediction,
               GyreTensor *target)
{
  return gyre_square (gyre_sub (prediction, target));
}

/* e = |x - t|: e² / 2 up to delta, then delta (e - delta / 2). */
static GyreTensor *
huber (GyreLoss   *self,
       GyreTensor *prediction,
       GyreTensor *target)
{
  double delta = ((LibraryLoss *) self)->delta;
  GyreTensor *error = gyre_abs (gyre_sub (prediction, target));
  GyreTensor *near = gyre_min (error, gyre_full_like (error, delta));
  GyreTensor *far = gyre_sub (error, near);

  return gyre_add (gyre_mul_scalar (gyre_square (near), 0.5),
                   gyre_mul_scalar (far, delta));
}

static void
add_smoothing (GObjectClass *klass)
{
  gyre_property_add_double (klass, "label-smoothing",
                            "How much of each target goes to all classes alike",
                            G_STRUCT_OFFSET (LibraryLoss, label_smoothing), 0, 1, 0);
}

static void
add_delta (GObjectClass *klass)
{
  gyre_property_add_double (klass, "delta", "The error from which it grows linearly",
                            G_STRUCT_OFFSET (LibraryLoss, delta), 1e-30, G_MAXDOUBLE, 1);
}

static const Row rows[] = {
  { "huber", "GyreLossHuber", huber, GYRE_LOSS_TARGET_VALUES, add_delta },
  { "mse", "GyreLossMse", squared_error, GYRE_LOSS_TARGET_VALUES, NULL },
  { "sigmoid-cross-entropy", "GyreLossSigmoidCrossEntropy", sigmoid_cross_entropy,
    GYRE_LOSS_TARGET_VALUES, NULL },
  { "softmax-cross-entropy", "GyreLossSoftmaxCrossEntropy", softmax_cross_entropy,
    GYRE_LOSS_TARGET_LABELS, add_smoothing },
};

static void
library_loss_class_init (gpointer klass,
                         gpointer data)
{
  const Row *row = data;

  GYRE_LOSS_CLASS (klass)->terms = row->terms;
  GYRE_LOSS_CLASS (klass)->target = row->target;
  if (row->add_properties != NULL)
    row->add_properties (klass);
}

void
gyre_loss_ensure_types (void)
{
  static gsize done = 0;

  if (!g_once_init_enter (&done))
    return;

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const GTypeInfo info = {
        .class_size = sizeof (GyreLossClass),
        .class_init = library_loss_class_init,
        .class_data = &rows[i],
        .instance_size = sizeof (LibraryLoss)
      };

      gyre_registry_add (GYRE_TYPE_LOSS, rows[i].name,
                         g_type_register_static (GYRE_TYPE_LOSS, rows[i].type_name, &info,
                                                 0),
                         NULL);
    }
  g_once_init_leave (&done, 1);
}
