/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#if !defined (GYRE_INSIDE) && !defined (GYRE_COMPILATION)
#error "Only <gyre/gyre.h> can be included directly."
#endif

#include <gyre/gyre-ops.h>

G_BEGIN_DECLS

/**
 * GyreReduction:
 * @GYRE_REDUCTION_MEAN: the sum divided by the number of terms
 * @GYRE_REDUCTION_SUM: the sum
 * @GYRE_REDUCTION_NONE: each term
 *
 * What becomes of the terms of a loss.
 */
typedef enum
{
  GYRE_REDUCTION_MEAN,
  GYRE_REDUCTION_SUM,
  GYRE_REDUCTION_NONE
} GyreReduction;

#define GYRE_TYPE_REDUCTION (gyre_reduction_get_type ())
GYRE_API GType gyre_reduction_get_type (void);

/**
 * GyreLossTarget:
 * @GYRE_LOSS_TARGET_VALUES: f32 of the prediction's shape; labels become ones and zeros
 * @GYRE_LOSS_TARGET_LABELS: i32[…], each the number of a class: an index into the last
 *   dimension of the prediction
 *
 * What a loss compares a prediction with.
 */
typedef enum
{
  GYRE_LOSS_TARGET_VALUES,
  GYRE_LOSS_TARGET_LABELS
} GyreLossTarget;

#define GYRE_TYPE_LOSS (gyre_loss_get_type ())
GYRE_API
G_DECLARE_DERIVABLE_TYPE (GyreLoss, gyre_loss, GYRE, LOSS, GObject)

/**
 * GyreLossClass:
 * @terms: inside a traced function: f32[b, …], the terms before they are reduced, those
 *   of row i of the batch from row i alone
 * @target: what @terms takes as its target
 *
 * What training makes small.  A loss says its terms; what becomes of them, a mean or a
 * sum, is the property "reduction" of all losses.
 */
struct _GyreLossClass
{
  GObjectClass parent_class;

  GyreTensor *(*terms) (GyreLoss   *self,
                        GyreTensor *prediction,
                        GyreTensor *target);
  GyreLossTarget    target;

  gpointer padding[8];
};

/* "huber delta=2 reduction=sum" */
GYRE_API GyreLoss     *gyre_loss_parse         (const char    *line,
                                                GError       **error);
GYRE_API char         *gyre_loss_to_string     (GyreLoss      *self);
GYRE_API const char   *gyre_loss_get_type_name (GyreLoss      *self);
GYRE_API GyreReduction gyre_loss_get_reduction (GyreLoss      *self);
/* Labels i32[…] are turned into what the loss takes. */
GYRE_API GyreTensor   *gyre_loss_apply         (GyreLoss      *self,
                                                GyreTensor    *prediction,
                                                GyreTensor    *target);
/* The terms alone, not reduced */
GYRE_API GyreTensor   *gyre_loss_get_terms     (GyreLoss      *self,
                                                GyreTensor    *prediction,
                                                GyreTensor    *target);
/* Types by name; the plugin that has it is loaded. */
GYRE_API GType         gyre_loss_type_find     (const char    *name,
                                                GError       **error);
GYRE_API char        **gyre_loss_list          (void);

typedef struct
{
  GyreReduction reduction;
  double        label_smoothing;   /* softmax-cross-entropy: 0 to 1 */
  double        delta;             /* huber: where it turns linear; 0: at 1 */
} GyreLossOptions;

/* By name, with options that many have */
GYRE_API GyreTensor *gyre_loss      (const char            *name,
                                     GyreTensor            *prediction,
                                     GyreTensor            *target,
                                     const GyreLossOptions *options);

/* Means over all samples, f32[] */
GYRE_API GyreTensor *gyre_softmax_cross_entropy            (GyreTensor *logits,
                                                            GyreTensor *labels);
/* by sample: f32[b] */
GYRE_API GyreTensor *gyre_softmax_cross_entropy_per_sample (GyreTensor *logits,
                                                            GyreTensor *labels);
GYRE_API GyreTensor *gyre_mse                              (GyreTensor *prediction,
                                                            GyreTensor *target);
/* f32[]: how many arg-max of logits equal the label */
GYRE_API GyreTensor *gyre_count_correct                    (GyreTensor *logits,
                                                            GyreTensor *labels);
/* f32[]: that as a part of all */
GYRE_API GyreTensor *gyre_accuracy                         (GyreTensor *logits,
                                                            GyreTensor *labels);

G_END_DECLS
