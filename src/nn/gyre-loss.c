/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-layer.h>

#include "base/gyre-text-private.h"
#include "ir/gyre-graph-private.h"

#include <string.h>

/* The terms of a loss, before they are reduced. */
typedef GyreTensor *(*GyreLossTerms) (GyreTensor            *prediction,
                                      GyreTensor            *target,
                                      const GyreLossOptions *options);

typedef struct
{
  const char   *name;
  GyreLossTerms terms;
} GyreLoss;

/* -log softmax (x)[label]; label smoothing s takes the targets to (1 - s) t + s / n. A
 * label that is no class has no term: labels are checked where they enter. */
static GyreTensor *
softmax_cross_entropy (GyreTensor            *logits,
                       GyreTensor            *labels,
                       const GyreLossOptions *options)
{
  gint64 n = gyre_tensor_dim (logits, -1);
  GyreTensor *log_p = gyre_log_softmax (logits, -1);
  GyreTensor *target = gyre_one_hot (labels, n);
  double smoothing = options->label_smoothing;

  if (smoothing != 0)
    target =
        gyre_add_scalar (gyre_mul_scalar (target, 1 - smoothing), smoothing / (double) n);

  return gyre_neg (gyre_sum_axis (gyre_mul (target, log_p), -1, FALSE));
}

/* max (x, 0) - x t + log (1 + exp (-|x|)): no exponential of a large number. */
static GyreTensor *
sigmoid_cross_entropy (GyreTensor            *logits,
                       GyreTensor            *target,
                       const GyreLossOptions *options)
{
  GyreTensor *positive = gyre_max (logits, gyre_full_like (logits, 0));
  GyreTensor *rest = gyre_log1p (gyre_exp (gyre_neg (gyre_abs (logits))));

  return gyre_add (gyre_sub (positive, gyre_mul (logits, target)), rest);
}

static GyreTensor *
squared_error (GyreTensor            *prediction,
               GyreTensor            *target,
               const GyreLossOptions *options)
{
  return gyre_square (gyre_sub (prediction, target));
}

/* e = |x - t|: e² / 2 up to delta, then delta (e - delta / 2). */
static GyreTensor *
huber (GyreTensor            *prediction,
       GyreTensor            *target,
       const GyreLossOptions *options)
{
  double delta = options->delta > 0 ? options->delta : 1;
  GyreTensor *error = gyre_abs (gyre_sub (prediction, target));
  GyreTensor *near = gyre_min (error, gyre_full_like (error, delta));
  GyreTensor *far = gyre_sub (error, near);

  return gyre_add (gyre_mul_scalar (gyre_square (near), 0.5),
                   gyre_mul_scalar (far, delta));
}

static const GyreLoss losses[] = {
  { "huber", huber },
  { "mse", squared_error },
  { "sigmoid-cross-entropy", sigmoid_cross_entropy },
  { "softmax-cross-entropy", softmax_cross_entropy },
};

static GyreTensor *
keep (GyreTensor *x)
{
  return x;
}

static GyreTensor *(*const reductions[]) (GyreTensor *x) = {
  [GYRE_REDUCTION_MEAN] = gyre_mean,
  [GYRE_REDUCTION_SUM] = gyre_sum,
  [GYRE_REDUCTION_NONE] = keep,
};

static const GyreLoss *
find_loss (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (losses); i++)
    if (g_str_equal (losses[i].name, name))
      return &losses[i];

  return NULL;
}

/**
 * gyre_loss_list:
 *
 * Returns: (transfer full): the names that gyre_loss() knows, sorted
 */
char **
gyre_loss_list (void)
{
  char **names = g_new0 (char *, G_N_ELEMENTS (losses) + 1);

  for (gsize i = 0; i < G_N_ELEMENTS (losses); i++)
    names[i] = g_strdup (losses[i].name);

  return names;
}

/**
 * gyre_loss: (skip)
 * @name: "softmax-cross-entropy", "sigmoid-cross-entropy", "mse" or "huber"
 * @prediction: f32[b, …]; logits f32[…, n] for "softmax-cross-entropy"
 * @target: f32 of the same shape; labels i32[…] for "softmax-cross-entropy"
 * @options: (nullable): %NULL for the mean, no label smoothing and a delta of 1
 *
 * A loss by name. A mean is the sum of all terms divided once by their global count: a
 * batch that is cut among devices in unequal shares has the same loss.
 *
 * Returns: (transfer none): f32[], or with %GYRE_REDUCTION_NONE f32 with a number a term;
 *   an unknown name is an error of the trace
 */
GyreTensor *
gyre_loss (const char            *name,
           GyreTensor            *prediction,
           GyreTensor            *target,
           const GyreLossOptions *options)
{
  static const GyreLossOptions defaults = { GYRE_REDUCTION_MEAN, 0, 0 };
  const GyreLoss *loss;

  g_return_val_if_fail (name != NULL && prediction != NULL && target != NULL, prediction);

  loss = find_loss (name);
  if (loss == NULL)
    {
      g_auto (GStrv) names = gyre_loss_list ();
      g_autofree char *list = g_strjoinv (", ", names);

      return gyre_graph_fail (prediction->graph,
                              g_error_new (GYRE_ERROR, GYRE_ERROR_UNKNOWN,
                                           "unknown loss \"%s\"; there are %s", name,
                                           list));
    }
  if (prediction->poison || target->poison)
    return prediction->poison ? prediction : target;
  if (options == NULL)
    options = &defaults;

  return reductions[options->reduction](loss->terms (prediction, target, options));
}

/**
 * gyre_softmax_cross_entropy: (skip)
 * @logits: f32[b, …, n]
 * @labels: i32[b, …], each from 0 to n - 1
 *
 * The mean of -log softmax (logits)[label], stable for logits of any size. Gradient:
 * (softmax (logits) - one_hot (labels)) / count. A label out of range counts as 0 here;
 * gyre_labels_check() finds it where it enters.
 *
 * Returns: (transfer none): f32[]
 */
GyreTensor *
gyre_softmax_cross_entropy (GyreTensor *logits,
                            GyreTensor *labels)
{
  return gyre_loss ("softmax-cross-entropy", logits, labels, NULL);
}

/**
 * gyre_softmax_cross_entropy_per_sample: (skip)
 * @logits: f32[b, …, n]
 * @labels: i32[b, …], each from 0 to n - 1
 *
 * As gyre_softmax_cross_entropy(), without the mean.
 *
 * Returns: (transfer none): f32[b, …]
 */
GyreTensor *
gyre_softmax_cross_entropy_per_sample (GyreTensor *logits,
                                       GyreTensor *labels)
{
  static const GyreLossOptions options = { GYRE_REDUCTION_NONE, 0, 0 };

  return gyre_loss ("softmax-cross-entropy", logits, labels, &options);
}

/**
 * gyre_mse: (skip)
 * @prediction: f32[b, …]
 * @target: f32[b, …]
 *
 * The mean of (prediction - target)² over all elements.
 *
 * Returns: (transfer none): f32[]
 */
GyreTensor *
gyre_mse (GyreTensor *prediction,
          GyreTensor *target)
{
  return gyre_loss ("mse", prediction, target, NULL);
}

/* f32[b, …]: 1 where the largest logit is that of the label, else 0 */
static GyreTensor *
is_correct (GyreTensor *logits,
            GyreTensor *labels)
{
  return gyre_convert (gyre_equal (gyre_arg_max (logits, -1), labels), GYRE_F32);
}

/**
 * gyre_count_correct: (skip)
 * @logits: f32[b, …, n]
 * @labels: i32[b, …]
 *
 * How often the largest logit, the first of equals, is that of the label.
 *
 * Returns: (transfer none): f32[]
 */
GyreTensor *
gyre_count_correct (GyreTensor *logits,
                    GyreTensor *labels)
{
  g_return_val_if_fail (logits != NULL && labels != NULL, logits);

  return gyre_sum (is_correct (logits, labels));
}

/**
 * gyre_accuracy: (skip)
 * @logits: f32[b, …, n]
 * @labels: i32[b, …]
 *
 * gyre_count_correct() as a part of all: 0 to 1.
 *
 * Returns: (transfer none): f32[]
 */
GyreTensor *
gyre_accuracy (GyreTensor *logits,
               GyreTensor *labels)
{
  g_return_val_if_fail (logits != NULL && labels != NULL, logits);

  return gyre_mean (is_correct (logits, labels));
}
