/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-rfft-private.h"

#include <math.h>

/* rfft and irfft: see gyre-rfft-private.h. */

static const GyreRfftAttrs *
get_attrs (const GyreTensor *node)
{
  return node->attrs;
}

static gboolean
check_reals (const GyreTensor    *x,
             gint64               dims,
             GError             **error)
{
  g_autofree char *text = gyre_prims_describe (x);

  if (!gyre_prims_check_dtype (x, 0, GYRE_DTYPES_FLOAT, error))
    return FALSE;
  if (x->shape.rank < dims || x->shape.rank >= GYRE_MAX_RANK)
    return gyre_prims_error (error,
                             "operand 0 is %s, but must have from %d to %d dimensions, "
                             "the last %d of which are transformed",
                             text, (int) dims, GYRE_MAX_RANK - 1, (int) dims);
  for (int i = x->shape.rank - (int) dims; i < x->shape.rank; i++)
    if (x->shape.dims[i] < 1)
      return gyre_prims_error (error,
                               "operand 0 is %s, and its dimension %d is transformed: "
                               "that must have 1 element or more",
                               text, i);

  return TRUE;
}

static gboolean
rfft_infer (GyreTensor *const  *operands,
            guint               n,
            const void         *attrs,
            GyreDtype          *dtype,
            GyreShape          *shape,
            GError            **error)
{
  const GyreTensor *x = operands[0];
  int last = x->shape.rank - 1;

  if (!check_reals (x, ((const GyreRfftAttrs *) attrs)->dims, error))
    return FALSE;

  *dtype = GYRE_F32;
  *shape = x->shape;
  shape->dims[last] = x->shape.dims[last] / 2 + 1;
  shape->dims[shape->rank++] = 2;
  return TRUE;
}

static gboolean
check_spectrum (const GyreTensor     *x,
                const GyreRfftAttrs  *attrs,
                GError              **error)
{
  g_autofree char *text = gyre_prims_describe (x);
  const gint64 *dims = x->shape.dims;
  int rank = x->shape.rank;

  if (!gyre_prims_check_dtype (x, 0, GYRE_DTYPES_FLOAT, error))
    return FALSE;
  if (rank < attrs->dims + 1 || dims[rank - 1] != 2)
    return gyre_prims_error (error,
                             "operand 0 is %s, but must be a spectrum: at least %d "
                             "dimensions, and [re, im] in the last, of 2",
                             text, (int) attrs->dims + 1);
  if (attrs->n < 1 || dims[rank - 2] != attrs->n / 2 + 1)
    return gyre_prims_error (error,
                             "operand 0 is %s, with %" G_GINT64_FORMAT
                             " frequencies, but %" G_GINT64_FORMAT
                             " numbers have %" G_GINT64_FORMAT
                             ": there must be 1 number or more, and half as many "
                             "frequencies and one",
                             text, dims[rank - 2], attrs->n, attrs->n / 2 + 1);
  if (attrs->dims == 2 && dims[rank - 3] < 1)
    return gyre_prims_error (error,
                             "operand 0 is %s, and its dimension %d is transformed: that "
                             "must have 1 element or more",
                             text, rank - 3);

  return TRUE;
}

static gboolean
irfft_infer (GyreTensor *const  *operands,
             guint               n,
             const void         *attrs,
             GyreDtype          *dtype,
             GyreShape          *shape,
             GError            **error)
{
  const GyreTensor *x = operands[0];
  const GyreRfftAttrs *is = attrs;

  if (!check_spectrum (x, is, error))
    return FALSE;

  *dtype = GYRE_F32;
  *shape = x->shape;
  shape->dims[--shape->rank] = 0;
  shape->dims[shape->rank - 1] = is->n;
  return TRUE;
}

/* The shape of the real side. */
static const GyreShape *
get_reals (const GyreTensor *node)
{
  return node->prim == &gyre_prim_rfft ? &node->operands[0]->shape : &node->shape;
}

static gint64
count_transformed (const GyreTensor *node)
{
  const GyreShape *reals = get_reals (node);
  gint64 n = 1;

  for (int i = reals->rank - (int) get_attrs (node)->dims; i < reals->rank; i++)
    n *= reals->dims[i];

  return n;
}

/* Gradients */

/* f32[n / 2 + 1, 1]: alone where a frequency stands for itself, else pair */
static GyreTensor *
frequency_weights (gint64 n,
                   double alone,
                   double pair)
{
  GyreShape shape = GYRE_SHAPE (n / 2 + 1, 1);
  GyreTensor *k = gyre_iota (shape, GYRE_I32, 0);
  GyreTensor *is_first = gyre_equal (k, gyre_full_like (k, 0));
  GyreTensor *is_middle = gyre_equal (gyre_add (k, k), gyre_full_like (k, (double) n));

  return gyre_select (gyre_or (is_first, is_middle), gyre_full (shape, GYRE_F32, alone),
                      gyre_full (shape, GYRE_F32, pair));
}

static void
rfft_vjp (GyreTensor  *node,
          GyreTensor  *ct,
          GyreTensor **cts)
{
  const GyreShape *reals = get_reals (node);
  GyreRfftAttrs attrs = { get_attrs (node)->dims, reals->dims[reals->rank - 1] };
  double n = (double) count_transformed (node);

  ct = gyre_mul (ct, frequency_weights (attrs.n, n, n / 2));
  cts[0] = gyre_prims_emit1 (&gyre_prim_irfft, ct, &attrs);
}

static void
irfft_vjp (GyreTensor  *node,
           GyreTensor  *ct,
           GyreTensor **cts)
{
  GyreRfftAttrs attrs = { get_attrs (node)->dims, 0 };
  double n = (double) count_transformed (node);

  cts[0] = gyre_mul (gyre_prims_emit1 (&gyre_prim_rfft, ct, &attrs),
                     frequency_weights (get_attrs (node)->n, 1 / n, 2 / n));
}

/* Sharding: leading dimensions may be split; a partial sum stays one. */
static gboolean
rfft_partition (const GyreTensor    *node,
                const GyreMeshSpec  *mesh,
                const GyreSpec      *in,
                GyreSpec            *want,
                GyreSpec            *out,
                GError             **error)
{
  int lead = get_reals (node)->rank - (int) get_attrs (node)->dims;

  want[0].flat = 0;
  for (int i = 0; i < node->operands[0]->shape.rank; i++)
    if (i < lead)
      gyre_prims_pass_dim (&want[0], i, out, i);
    else
      gyre_prims_drop_dim (&want[0], i);

  gyre_prims_keep_partial (&in[0], &want[0], out);
  return TRUE;
}

static gboolean
rfft_lower (GyreLower         *lower,
            const GyreTensor  *node,
            GError           **error)
{
  const GyreTensor *real = node->prim == &gyre_prim_rfft ? node->operands[0] : node;
  int dims = (int) get_attrs (node)->dims, rank = real->shape.rank;
  GyreFftOp fft = { GYRE_READ (node->operands[0]->id), GYRE_WRITE (node->id), 1 };
  GyreShape local;

  gyre_lower_local_shape (lower, real, &local, NULL);
  for (int i = 0; i < rank - dims; i++)
    fft.batch *= local.dims[i];
  fft.rows = dims == 2 ? local.dims[rank - 2] : 1;
  fft.n = local.dims[rank - 1];
  fft.backward = node->prim == &gyre_prim_irfft;
  gyre_lower_fft (lower, node, &fft);
  return TRUE;
}

/* As is usual: 5 n log2 n of complex numbers, half of that of real ones. */
static double
rfft_cost (const GyreTensor *node)
{
  double n = (double) count_transformed (node);

  return 2.5 * (double) gyre_shape_n_elements (get_reals (node)) * log2 (MAX (n, 2));
}

static void
rfft_print (const GyreTensor *node,
            GString          *out)
{
  const GyreRfftAttrs *attrs = get_attrs (node);

  if (attrs->dims == 2)
    g_string_append (out, " {dims=2");
  if (attrs->n > 0)
    g_string_append_printf (out, "%sn=%" G_GINT64_FORMAT,
                            attrs->dims == 2 ? "," : " {", attrs->n);
  if (attrs->dims == 2 || attrs->n > 0)
    g_string_append_c (out, '}');
}

#define TRANSFORM(NAME)                                                                  \
  .name = #NAME, .attrs_size = sizeof (GyreRfftAttrs), .n_operands = 1, .linear = 1,     \
  .infer = NAME##_infer, .vjp = NAME##_vjp, .partition = rfft_partition,                 \
  .lower = rfft_lower, .cost = rfft_cost, .reference = gyre_##NAME##_reference,          \
  .print = rfft_print

const GyrePrim gyre_prim_rfft = { TRANSFORM (rfft) };
const GyrePrim gyre_prim_irfft = { TRANSFORM (irfft) };
