/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#if !defined (GYRE_INSIDE) && !defined (GYRE_COMPILATION)
#error "Only <gyre/gyre.h> can be included directly."
#endif

#include <gyre/gyre-key.h>
#include <gyre/gyre-types.h>

G_BEGIN_DECLS

/* What a traced function computes with.  Nothing returns NULL: the first error is kept on
 * the trace and what follows is a poison tensor.  Binary element-wise operations
 * broadcast as NumPy does; dtypes must be equal. */

/* What a tensor is */
GYRE_API GyreDtype gyre_tensor_get_dtype (GyreTensor *self);
GYRE_API int       gyre_tensor_get_rank  (GyreTensor *self);
GYRE_API GyreShape gyre_tensor_get_shape (GyreTensor *self);
GYRE_API gint64    gyre_tensor_dim       (GyreTensor *self, int dim);   /* -1: the last */
GYRE_API gint64    gyre_tensor_n_elements (GyreTensor *self);

/* Constants; they belong to the function being traced. */
GYRE_API GyreTensor *gyre_constant      (GyreDtype dtype, double value);
GYRE_API GyreTensor *gyre_full          (GyreShape shape, GyreDtype dtype, double value);
GYRE_API GyreTensor *gyre_full_like     (GyreTensor *x, double value);
GYRE_API GyreTensor *gyre_iota          (GyreShape shape, GyreDtype dtype, int dim);

/* Element-wise, f32 unless said otherwise */
GYRE_API GyreTensor *gyre_add (GyreTensor *a, GyreTensor *b);   /* any number */
GYRE_API GyreTensor *gyre_sub (GyreTensor *a, GyreTensor *b);   /* any number */
GYRE_API GyreTensor *gyre_mul (GyreTensor *a, GyreTensor *b);   /* any number */
/* any number; integers truncate */
GYRE_API GyreTensor *gyre_div (GyreTensor *a, GyreTensor *b);
/* any number; sign of a */
GYRE_API GyreTensor *gyre_rem (GyreTensor *a, GyreTensor *b);
GYRE_API GyreTensor *gyre_pow (GyreTensor *a, GyreTensor *b);
GYRE_API GyreTensor *gyre_max (GyreTensor *a, GyreTensor *b);   /* any number; NaN wins */
GYRE_API GyreTensor *gyre_min (GyreTensor *a, GyreTensor *b);
GYRE_API GyreTensor *gyre_and (GyreTensor *a, GyreTensor *b);   /* bool, i32, u32 */
GYRE_API GyreTensor *gyre_or  (GyreTensor *a, GyreTensor *b);
GYRE_API GyreTensor *gyre_xor (GyreTensor *a, GyreTensor *b);
GYRE_API GyreTensor *gyre_shift_left  (GyreTensor *a, GyreTensor *b);  /* u32, i32 */
GYRE_API GyreTensor *gyre_shift_right (GyreTensor *a, GyreTensor *b);  /* u32: logical */
GYRE_API GyreTensor *gyre_add_scalar (GyreTensor *x, double value);
GYRE_API GyreTensor *gyre_mul_scalar (GyreTensor *x, double value);

GYRE_API GyreTensor *gyre_neg (GyreTensor *x);
GYRE_API GyreTensor *gyre_abs (GyreTensor *x);
GYRE_API GyreTensor *gyre_sign (GyreTensor *x);
GYRE_API GyreTensor *gyre_not (GyreTensor *x);        /* bool */
GYRE_API GyreTensor *gyre_exp (GyreTensor *x);
GYRE_API GyreTensor *gyre_expm1 (GyreTensor *x);
GYRE_API GyreTensor *gyre_log (GyreTensor *x);
GYRE_API GyreTensor *gyre_log1p (GyreTensor *x);
GYRE_API GyreTensor *gyre_sqrt (GyreTensor *x);
GYRE_API GyreTensor *gyre_rsqrt (GyreTensor *x);
GYRE_API GyreTensor *gyre_square (GyreTensor *x);
GYRE_API GyreTensor *gyre_sin (GyreTensor *x);
GYRE_API GyreTensor *gyre_cos (GyreTensor *x);
GYRE_API GyreTensor *gyre_tanh (GyreTensor *x);
GYRE_API GyreTensor *gyre_logistic (GyreTensor *x);
GYRE_API GyreTensor *gyre_erf (GyreTensor *x);
GYRE_API GyreTensor *gyre_erf_inv (GyreTensor *x);
GYRE_API GyreTensor *gyre_floor (GyreTensor *x);
GYRE_API GyreTensor *gyre_is_finite (GyreTensor *x);  /* → bool */
GYRE_API GyreTensor *gyre_stop_gradient (GyreTensor *x);

/* Comparison: two of one dtype → bool */
GYRE_API GyreTensor *gyre_equal         (GyreTensor *a, GyreTensor *b);
GYRE_API GyreTensor *gyre_not_equal     (GyreTensor *a, GyreTensor *b);
GYRE_API GyreTensor *gyre_less          (GyreTensor *a, GyreTensor *b);
GYRE_API GyreTensor *gyre_less_equal    (GyreTensor *a, GyreTensor *b);
GYRE_API GyreTensor *gyre_greater       (GyreTensor *a, GyreTensor *b);
GYRE_API GyreTensor *gyre_greater_equal (GyreTensor *a, GyreTensor *b);
GYRE_API GyreTensor *gyre_select        (GyreTensor *condition, GyreTensor *a,
                                         GyreTensor *b);

GYRE_API GyreTensor *gyre_convert       (GyreTensor *x, GyreDtype dtype);
/* of 32 bits */
GYRE_API GyreTensor *gyre_bitcast       (GyreTensor *x, GyreDtype dtype);

/* Shape */
/* one -1: the rest */
GYRE_API GyreTensor *gyre_reshape       (GyreTensor *x, GyreShape shape);
GYRE_API GyreTensor *gyre_broadcast_to  (GyreTensor *x, GyreShape shape);
/* Dimension i of x becomes dimension dims[i] of the result. */
GYRE_API GyreTensor *gyre_broadcast_in_dim (GyreTensor *x, GyreShape shape,
                                            const int *dims);
GYRE_API GyreTensor *gyre_expand_dims   (GyreTensor *x, int dim);
GYRE_API GyreTensor *gyre_squeeze       (GyreTensor *x, int dim);
/* NULL: reverse */
GYRE_API GyreTensor *gyre_transpose     (GyreTensor *x, const int *permutation);
/* NULL: 1 */
GYRE_API GyreTensor *gyre_slice         (GyreTensor *x, const gint64 *start,
                                         const gint64 *limit, const gint64 *strides);
/* low and high may be negative (cut), interior zeros between elements: as in lax.pad */
GYRE_API GyreTensor *gyre_pad           (GyreTensor *x, double value, const gint64 *low,
                                         const gint64 *high, const gint64 *interior);
GYRE_API GyreTensor *gyre_concatenate   (GyreTensor *const *xs, guint n, int dim);
/* x[n, …], rows i32[…b] → [b…, …]; a row out of range is clamped, as in JAX's default */
GYRE_API GyreTensor *gyre_gather_rows   (GyreTensor *x, GyreTensor *rows);
/* its adjoint: zeros[n, …] with update[b…, …] added at rows, in order of rows */
GYRE_API GyreTensor *gyre_scatter_add_rows (gint64 n, GyreTensor *rows,
                                            GyreTensor *update);
/* i32[…] → f32[…, n] */
GYRE_API GyreTensor *gyre_one_hot       (GyreTensor *labels, gint64 n_classes);

/* Reductions: over the dimensions given (n_dims 0 and dims NULL: all) */
GYRE_API GyreTensor *gyre_sum_dims      (GyreTensor *x, const int *dims, int n_dims,
                                         gboolean keep);
GYRE_API GyreTensor *gyre_max_dims      (GyreTensor *x, const int *dims, int n_dims,
                                         gboolean keep);
GYRE_API GyreTensor *gyre_min_dims      (GyreTensor *x, const int *dims, int n_dims,
                                         gboolean keep);
GYRE_API GyreTensor *gyre_mean_dims     (GyreTensor *x, const int *dims, int n_dims,
                                         gboolean keep);
GYRE_API GyreTensor *gyre_sum           (GyreTensor *x);                     /* of all */
GYRE_API GyreTensor *gyre_mean          (GyreTensor *x);
GYRE_API GyreTensor *gyre_sum_axis      (GyreTensor *x, int dim, gboolean keep);
GYRE_API GyreTensor *gyre_max_axis      (GyreTensor *x, int dim, gboolean keep);
GYRE_API GyreTensor *gyre_mean_axis     (GyreTensor *x, int dim, gboolean keep);
/* → i32; first of equals */
GYRE_API GyreTensor *gyre_arg_max       (GyreTensor *x, int dim);
GYRE_API GyreTensor *gyre_arg_min       (GyreTensor *x, int dim);
GYRE_API GyreTensor *gyre_log_sum_exp   (GyreTensor *x, int dim, gboolean keep);
GYRE_API GyreTensor *gyre_softmax       (GyreTensor *x, int dim);
GYRE_API GyreTensor *gyre_log_softmax   (GyreTensor *x, int dim);

/* f32[…, m, k] · f32[…, k, n] → f32[…, m, n]; leading dimensions broadcast; either side
 * may be taken transposed (its last two dimensions). A vector is a row on the left and a
 * column on the right, as in NumPy. */
GYRE_API GyreTensor *gyre_matmul        (GyreTensor *a, GyreTensor *b);
GYRE_API GyreTensor *gyre_matmul_full   (GyreTensor *a, gboolean trans_a,
                                         GyreTensor *b, gboolean trans_b);

/* Convolution: x[n, h, w, c], kernel[h, w, c / groups, o] → [n, h, w, o].  Pairs are of
 * the height and the width; a padding is low and high of each.  NULL: 1, no padding. */
GYRE_API GyreTensor *gyre_conv          (GyreTensor *x, GyreTensor *kernel,
                                         const gint64 *strides,
                                         const gint64 *padding,
                                         const gint64 *dilation, gint64 groups);
GYRE_API GyreTensor *gyre_conv_dilated  (GyreTensor *x, GyreTensor *kernel,
                                         const gint64 *strides,
                                         const gint64 *padding,
                                         const gint64 *dilation,
                                         const gint64 *input_dilation, gint64 groups);
/* Paddings by name, of one dimension: SAME; and those of transposed convolutions */
GYRE_API void        gyre_padding_same  (gint64 extent, gint64 window, gint64 stride,
                                         gint64 dilation, gint64 padding[2]);
GYRE_API void        gyre_padding_transposed (gint64 window, gint64 stride,
                                              gint64 dilation, gboolean same,
                                              gint64 padding[2]);

/* Windows of x[n, h, w, c]; strides NULL: the window's own */
GYRE_API GyreTensor *gyre_max_pool      (GyreTensor *x, const gint64 *window,
                                         const gint64 *strides, const gint64 *padding);
GYRE_API GyreTensor *gyre_sum_pool      (GyreTensor *x, const gint64 *window,
                                         const gint64 *strides, const gint64 *padding);
GYRE_API GyreTensor *gyre_avg_pool      (GyreTensor *x, const gint64 *window,
                                         const gint64 *strides, const gint64 *padding,
                                         gboolean count_padding);

/* Random numbers: key is u32[2]. Element i (row-major, in the global shape) is that of
 * JAX for the same key and shape. */
/* a constant → u32[2] */
GYRE_API GyreTensor *gyre_random_key        (GyreKey key);
/* → u32[n, 2] */
GYRE_API GyreTensor *gyre_random_split      (GyreTensor *key, gint64 n);
/* u32[] */
GYRE_API GyreTensor *gyre_random_fold_in    (GyreTensor *key, GyreTensor *data);
GYRE_API GyreTensor *gyre_random_fold_in_path (GyreTensor *key, const char *path);
GYRE_API GyreTensor *gyre_random_bits       (GyreTensor *key, GyreShape shape);
GYRE_API GyreTensor *gyre_random_uniform    (GyreTensor *key, GyreShape shape, double low,
                                             double high);
GYRE_API GyreTensor *gyre_random_normal     (GyreTensor *key, GyreShape shape);
GYRE_API GyreTensor *gyre_random_truncated_normal (GyreTensor *key, GyreShape shape,
                                                   double low, double high);
GYRE_API GyreTensor *gyre_random_bernoulli  (GyreTensor *key, GyreShape shape, double p);
GYRE_API GyreTensor *gyre_random_randint    (GyreTensor *key, GyreShape shape, gint32 low,
                                             gint32 high);
GYRE_API GyreTensor *gyre_random_gumbel     (GyreTensor *key, GyreShape shape);
GYRE_API GyreTensor *gyre_random_exponential (GyreTensor *key, GyreShape shape);
/* f32[…, n] → i32[…] */
GYRE_API GyreTensor *gyre_random_categorical (GyreTensor *key, GyreTensor *logits);

/* Fourier transforms of real numbers; complex ones are [re, im] in a last dimension of 2.
 * n, extents: 0 or NULL is what there is; dims NULL: the last two */
GYRE_API GyreTensor *gyre_rfft          (GyreTensor *x, gint64 n, int dim);
GYRE_API GyreTensor *gyre_irfft         (GyreTensor *x, gint64 n, int dim);
GYRE_API GyreTensor *gyre_rfft2         (GyreTensor *x, const gint64 *extents,
                                         const int *dims);
GYRE_API GyreTensor *gyre_irfft2        (GyreTensor *x, const gint64 *extents,
                                         const int *dims);

/* Collectives, by the name of a manual axis, or of several: "data+model" */
GYRE_API GyreTensor *gyre_psum          (GyreTensor *x, const char *axis);
GYRE_API GyreTensor *gyre_pmean         (GyreTensor *x, const char *axis);
GYRE_API GyreTensor *gyre_pmean_weighted (GyreTensor *x, GyreTensor *count,
                                          const char *axis);
GYRE_API GyreTensor *gyre_pmax          (GyreTensor *x, const char *axis);
GYRE_API GyreTensor *gyre_pmin          (GyreTensor *x, const char *axis);
/* new leading dimension */
GYRE_API GyreTensor *gyre_all_gather    (GyreTensor *x, const char *axis);
/* x [members, …]: row m of the sum goes to member m; row m of member k becomes row k of
 * member m */
GYRE_API GyreTensor *gyre_psum_scatter  (GyreTensor *x, const char *axis);
GYRE_API GyreTensor *gyre_all_to_all    (GyreTensor *x, const char *axis);
/* pairs: source, destination, …; who receives nothing has zeros */
GYRE_API GyreTensor *gyre_ppermute      (GyreTensor *x, const char *axis,
                                         const guint *pairs, guint n_pairs);
/* → i32[] */
GYRE_API GyreTensor *gyre_axis_index    (const char *axis);
/* → i32[] */
GYRE_API GyreTensor *gyre_axis_size     (const char *axis);
/* Whether the function sees one member's share along it; FALSE without a mesh. */
GYRE_API gboolean    gyre_axis_is_manual (const char *axis);
/* All such axes, "data" or "data+model"; NULL where it sees the whole batch. */
GYRE_API const char *gyre_axis_get_manual (void);

/* Trees of tensors: leaf by leaf */
GYRE_API GyreTree   *gyre_pmean_tree    (GyreTree *tree, const char *axis);
GYRE_API GyreTree   *gyre_pmean_weighted_tree (GyreTree *tree, GyreTensor *count,
                                               const char *axis);
GYRE_API GyreTree   *gyre_psum_tree     (GyreTree *tree, const char *axis);
GYRE_API GyreTree   *gyre_pmax_tree     (GyreTree *tree, const char *axis);
GYRE_API GyreTree   *gyre_pmin_tree     (GyreTree *tree, const char *axis);
GYRE_API GyreTree   *gyre_all_gather_tree (GyreTree *tree, const char *axis);
GYRE_API GyreTree   *gyre_psum_scatter_tree (GyreTree *tree, const char *axis);
GYRE_API GyreTree   *gyre_all_to_all_tree (GyreTree *tree, const char *axis);
GYRE_API GyreTree   *gyre_ppermute_tree (GyreTree *tree, const char *axis,
                                         const guint *pairs, guint n_pairs);

/* Differentiation inside a traced function */

/**
 * GyreLossFunc:
 * @params: what is differentiated
 * @aux: (out) (optional): further results that aren't differentiated; may be left NULL
 * @data: the caller's
 *
 * Returns: the loss, f32[]
 */
typedef GyreTensor *(*GyreLossFunc) (GyreTree  *params,
                                     GyreTree **aux,
                                     gpointer   data);

/* Gradient of func at params, a tree of params' structure; value and aux are optional. */
GYRE_API GyreTree   *gyre_value_and_grad (GyreLossFunc  func,
                                          GyreTree     *params,
                                          gpointer      data,
                                          GyreTensor  **value,
                                          GyreTree    **aux);
/* Gradients of a scalar by tensors that it was computed from. */
GYRE_API void        gyre_grad_of        (GyreTensor        *loss,
                                          GyreTensor *const *wrt,
                                          guint              n,
                                          GyreTensor       **grads);
/* Vector-Jacobian product: cotangents of wrt, given those of outputs. */
GYRE_API void        gyre_vjp            (GyreTensor *const *outputs,
                                          GyreTensor *const *cotangents,
                                          guint              n_outputs,
                                          GyreTensor *const *wrt,
                                          guint              n_wrt,
                                          GyreTensor       **grads);

G_END_DECLS
