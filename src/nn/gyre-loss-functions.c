/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-loss.h>

#include "ir/gyre-graph-private.h"
#include "nn/gyre-registry-private.h"

/* Losses by name, for programs. */

static void
set_if_there (GyreLoss   *loss,
              const char *property,
              double      value)
{
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (loss), property) != NULL)
    g_object_set (loss, property, value, NULL);
}

static GyreLoss *
make_loss (const char             *name,
           const GyreLossOptions  *options,
           GError                **error)
{
  GType type = gyre_loss_type_find (name, error);
  GyreLoss *loss;

  if (type == 0)
    return NULL;

  loss = g_object_new (type, "reduction", options->reduction, NULL);
  set_if_there (loss, "label-smoothing", options->label_smoothing);
  if (options->delta > 0)
    set_if_there (loss, "delta", options->delta);

  return loss;
}

/**
 * gyre_loss: (skip)
 * @name: a loss of the library or of a plugin: "softmax-cross-entropy",
 *   "sigmoid-cross-entropy", "mse", "huber", …
 * @prediction: f32[b, …]; logits f32[…, n] for "softmax-cross-entropy"
 * @target: f32 of the same shape; labels i32[…] for "softmax-cross-entropy"
 * @options: (nullable): %NULL for the mean, no label smoothing and a delta of 1
 *
 * A loss by name, made for this call: gyre_loss_apply() without the object. A mean is the
 * sum of all terms divided once by their global count: a batch that is cut among devices
 * in unequal shares has the same loss.
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
  g_autoptr (GyreLoss) loss = NULL;
  GError *error = NULL;

  g_return_val_if_fail (name != NULL && prediction != NULL && target != NULL, prediction);

  loss = make_loss (name, options != NULL ? options : &defaults, &error);
  if (loss == NULL)
    return gyre_graph_fail (prediction->graph, error);

  return gyre_loss_apply (loss, prediction, target);
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
