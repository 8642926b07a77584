/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-convolution-private.h"

#include <string.h>

/* convolution, and its two gradients, which are primitives too. */

enum
{
  X,
  K,
  Y
};

/* Dimensions that a sharding may split: of samples, of the image's channels, of the
 * result's; -1 where the value lacks it. */
enum
{
  SAMPLES,
  CHANNELS,
  FEATURES,
  N_ROLES
};

static const int roles[3][N_ROLES] = {
  [X] = { 0, 3, -1 },
  [K] = { -1, 2, 3 },
  [Y] = { 0, -1, 3 },
};

static const GyreConvAttrs *
get_attrs (const GyreTensor *node)
{
  return node->attrs;
}

/* Shapes */

static gboolean
check_attrs (const GyreConvAttrs  *attrs,
             GError              **error)
{
  for (int i = 0; i < 2; i++)
    if (attrs->strides[i] < 1 || attrs->dilation[i] < 1 || attrs->spread[i] < 1)
      return gyre_prims_error (
          error,
          "the stride %" G_GINT64_FORMAT ", kernel dilation %" G_GINT64_FORMAT
          " and input dilation %" G_GINT64_FORMAT " must all be 1 or more",
          attrs->strides[i], attrs->dilation[i], attrs->spread[i]);
  if (attrs->groups < 1)
    return gyre_prims_error (error, "there are %" G_GINT64_FORMAT
                             " feature groups: there must be 1 or more", attrs->groups);

  return TRUE;
}

static gboolean
check_channels (const GyreConvAttrs  *attrs,
                const GyreShape      *x,
                const GyreShape      *k,
                GError              **error)
{
  g_autofree char *text_x = gyre_shape_to_string (x);
  g_autofree char *text_k = gyre_shape_to_string (k);

  if (x->rank != 4 || k->rank != 4)
    return gyre_prims_error (error,
                             "the image is f32%s and the kernel f32%s, but they must be "
                             "[samples, height, width, channels] and [height, width, "
                             "channels / groups, features]", text_x, text_k);
  if (k->dims[2] * attrs->groups != x->dims[3])
    return gyre_prims_error (error,
                             "the image f32%s has %" G_GINT64_FORMAT
                             " channels, and the kernel f32%s in %" G_GINT64_FORMAT
                             " groups takes %" G_GINT64_FORMAT
                             ": dimension 2 of the kernel times the groups must be the "
                             "channels", text_x, x->dims[3], text_k, attrs->groups,
                             k->dims[2] * attrs->groups);
  if (k->dims[3] % attrs->groups != 0)
    return gyre_prims_error (error,
                             "the kernel f32%s gives %" G_GINT64_FORMAT
                             " features, which must be a multiple of the "
                             "%" G_GINT64_FORMAT " groups",
                             text_k, k->dims[3], attrs->groups);

  return TRUE;
}

static gint64
padded_extent (const GyreConvAttrs *attrs,
               gint64               extent,
               int                  i)
{
  return (extent > 0 ? (extent - 1) * attrs->spread[i] + 1 : 0) + attrs->padding[i][0]
         + attrs->padding[i][1];
}

/* What y is, by x and k */
static gboolean
result_shape (const GyreConvAttrs  *attrs,
              const GyreShape      *x,
              const GyreShape      *k,
              GyreShape            *y,
              GError              **error)
{
  if (!check_attrs (attrs, error) || !check_channels (attrs, x, k, error))
    return FALSE;

  *y = GYRE_SHAPE (x->dims[0], 0, 0, k->dims[3]);
  for (int i = 0; i < 2; i++)
    {
      gint64 padded = padded_extent (attrs, x->dims[1 + i], i);
      gint64 reach = (k->dims[i] - 1) * attrs->dilation[i] + 1;

      if (k->dims[i] < 1 || padded < reach)
        {
          g_autofree char *text_x = gyre_shape_to_string (x);
          g_autofree char *text_k = gyre_shape_to_string (k);

          return gyre_prims_error (error,
                                   "the kernel f32%s reaches over %" G_GINT64_FORMAT
                                   " elements of dimension %d of the image f32%s, which "
                                   "has %" G_GINT64_FORMAT
                                   " with its padding: take a smaller kernel, of 1 or "
                                   "more, or pad more",
                                   text_k, reach, 1 + i, text_x, padded);
        }
      if (!gyre_prims_check_padded (x, 1 + i, padded, error))
        return FALSE;
      y->dims[1 + i] = (padded - reach) / attrs->strides[i] + 1;
    }

  return TRUE;
}

static gboolean
check_dtypes (GyreTensor *const  *operands,
              GError            **error)
{
  return gyre_prims_check_dtype (operands[0], 0, GYRE_DTYPES_FLOAT, error)
         && gyre_prims_check_dtype (operands[1], 1, GYRE_DTYPES_FLOAT, error);
}

static gboolean
convolution_infer (GyreTensor *const  *operands,
                   guint               n,
                   const void         *attrs,
                   GyreDtype          *dtype,
                   GyreShape          *shape,
                   GError            **error)
{
  *dtype = GYRE_F32;

  return check_dtypes (operands, error)
         && result_shape (attrs, &operands[0]->shape, &operands[1]->shape, shape, error);
}

/* The shape that is asked for has to make y, with the other operand. */
static gboolean
infer_gradient (GyreTensor *const  *operands,
                const GyreShape    *x,
                const GyreShape    *k,
                const void         *attrs,
                GError            **error)
{
  GyreShape y;
  g_autofree char *wanted = NULL, *given = NULL;

  if (!check_dtypes (operands, error) || !result_shape (attrs, x, k, &y, error))
    return FALSE;
  if (gyre_shape_equal (&y, &operands[1]->shape))
    return TRUE;

  wanted = gyre_shape_to_string (&y);
  given = gyre_prims_describe (operands[1]);
  return gyre_prims_error (error, "operand 1 is %s, and must be f32%s", given, wanted);
}

static GyreShape
asked_shape (const GyreConvAttrs *attrs)
{
  return GYRE_SHAPE (attrs->result[0], attrs->result[1], attrs->result[2],
                     attrs->result[3]);
}

static gboolean
image_infer (GyreTensor *const  *operands,
             guint               n,
             const void         *attrs,
             GyreDtype          *dtype,
             GyreShape          *shape,
             GError            **error)
{
  *dtype = GYRE_F32;
  *shape = asked_shape (attrs);

  return infer_gradient (operands, shape, &operands[0]->shape, attrs, error);
}

static gboolean
kernel_infer (GyreTensor *const  *operands,
              guint               n,
              const void         *attrs,
              GyreDtype          *dtype,
              GyreShape          *shape,
              GError            **error)
{
  *dtype = GYRE_F32;
  *shape = asked_shape (attrs);

  return infer_gradient (operands, &operands[0]->shape, shape, attrs, error);
}

/* Gradients */

static GyreTensor *
emit_like (const GyrePrim      *prim,
           const GyreConvAttrs *like,
           GyreTensor          *a,
           GyreTensor          *b,
           const GyreTensor    *result)
{
  GyreConvAttrs attrs = *like;

  memset (attrs.result, 0, sizeof attrs.result);
  if (result != NULL)
    memcpy (attrs.result, result->shape.dims, sizeof attrs.result);

  return gyre_prims_emit2 (prim, a, b, &attrs);
}

static void
convolution_vjp (GyreTensor  *node,
                 GyreTensor  *ct,
                 GyreTensor **cts)
{
  const GyreConvAttrs *attrs = get_attrs (node);
  GyreTensor *x = node->operands[0], *k = node->operands[1];

  cts[0] = emit_like (&gyre_prim_convolution_image, attrs, k, ct, x);
  cts[1] = emit_like (&gyre_prim_convolution_kernel, attrs, x, ct, k);
}

static void
image_vjp (GyreTensor  *node,
           GyreTensor  *ct,
           GyreTensor **cts)
{
  const GyreConvAttrs *attrs = get_attrs (node);
  GyreTensor *k = node->operands[0], *y = node->operands[1];

  cts[0] = emit_like (&gyre_prim_convolution_kernel, attrs, ct, y, k);
  cts[1] = emit_like (&gyre_prim_convolution, attrs, ct, k, NULL);
}

static void
kernel_vjp (GyreTensor  *node,
            GyreTensor  *ct,
            GyreTensor **cts)
{
  const GyreConvAttrs *attrs = get_attrs (node);
  GyreTensor *x = node->operands[0], *y = node->operands[1];

  cts[0] = emit_like (&gyre_prim_convolution_image, attrs, ct, y, x);
  cts[1] = emit_like (&gyre_prim_convolution, attrs, x, ct, NULL);
}

/* Sharding */

/* Elements of an image are wanted whole, and of several groups the channels too. */
static void
keep_roles (const GyreTensor *node,
            const int        *dims,
            GyreSpec         *want)
{
  want->flat = 0;
  for (int i = 0; i < 4; i++)
    {
      gboolean keep = i == dims[SAMPLES];

      if (get_attrs (node)->groups == 1)
        keep = keep || i == dims[CHANNELS] || i == dims[FEATURES];
      if (!keep)
        gyre_prims_drop_dim (want, i);
    }
}

/* What one operand alone has can't be split over one axis in both: the smaller operand is
 * gathered. */
static void
part_free_dims (const GyreTensor *node,
                GyreSpec         *want,
                int               of_first,
                int               of_second)
{
  gint64 first = gyre_shape_n_elements (&node->operands[0]->shape);
  gint64 second = gyre_shape_n_elements (&node->operands[1]->shape);

  if ((want[0].axes[of_first] & want[1].axes[of_second]) == 0)
    return;

  if (first >= second)
    gyre_prims_drop_dim (&want[1], of_second);
  else
    gyre_prims_drop_dim (&want[0], of_first);
}

/* As of a matrix product: one role is summed over, and each operand has one more. */
static gboolean
partition_as (const GyreTensor *node,
              int               first,
              int               second,
              int               result,
              const GyreSpec   *in,
              GyreSpec         *want,
              GyreSpec         *out)
{
  const int *a = roles[first], *b = roles[second], *c = roles[result];
  guint8 split, partial = gyre_partition_keep_partial (node, in);
  int of_first = -1, of_second = -1;

  keep_roles (node, a, &want[0]);
  keep_roles (node, b, &want[1]);
  for (int role = 0; role < N_ROLES; role++)
    if (a[role] >= 0 && b[role] >= 0)
      {
        gyre_prims_share_dim (want, a[role], b[role]);
        out->partial |= want[0].axes[a[role]];
      }
    else if (a[role] >= 0)
      of_first = role;
    else
      of_second = role;

  part_free_dims (node, want, a[of_first], b[of_second]);
  gyre_prims_pass_dim (&want[0], a[of_first], out, c[of_first]);
  gyre_prims_pass_dim (&want[1], b[of_second], out, c[of_second]);

  split = gyre_spec_split_axes (&want[0]) | gyre_spec_split_axes (&want[1]);
  if ((partial & split) == 0)
    {
      want[0].partial = in[0].partial & partial;
      want[1].partial = in[1].partial & partial;
      out->partial |= partial;
    }
  return TRUE;
}

#define DEFINE_PARTITION(NAME, FIRST, SECOND, RESULT)                                    \
  static gboolean NAME##_partition (const GyreTensor *node, const GyreMeshSpec *mesh,    \
                                    const GyreSpec *in, GyreSpec *want, GyreSpec *out,   \
                                    GError **error)                                      \
  {                                                                                      \
    return partition_as (node, FIRST, SECOND, RESULT, in, want, out);                    \
  }

DEFINE_PARTITION (convolution, X, K, Y)
DEFINE_PARTITION (image, K, Y, X)
DEFINE_PARTITION (kernel, X, Y, K)

/* Each element of y is a sum over taps and channels of its group. */
static double
cost_of (const GyreShape *k,
         const GyreShape *y)
{
  return 2.0 * (double) gyre_shape_n_elements (y)
         * (double) (k->dims[0] * k->dims[1] * k->dims[2]);
}

static double
convolution_cost (const GyreTensor *node)
{
  return cost_of (&node->operands[1]->shape, &node->shape);
}

static double
image_cost (const GyreTensor *node)
{
  return cost_of (&node->operands[0]->shape, &node->operands[1]->shape);
}

static double
kernel_cost (const GyreTensor *node)
{
  return cost_of (&node->shape, &node->operands[1]->shape);
}

static void
print_pair (GString      *out,
            const char   *name,
            const gint64 *pair)
{
  if (pair[0] != 1 || pair[1] != 1)
    g_string_append_printf (out, ",%s=%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT, name,
                            pair[0], pair[1]);
}

/* What is as usual is left out. */
static void
convolution_print (const GyreTensor *node,
                   GString          *out)
{
  const GyreConvAttrs *attrs = get_attrs (node);
  const gint64 *y = attrs->padding[0], *x = attrs->padding[1];

  g_string_append_printf (out,
                          " {pad=%" G_GINT64_FORMAT ":%" G_GINT64_FORMAT
                          "x%" G_GINT64_FORMAT ":%" G_GINT64_FORMAT,
                          y[0], y[1], x[0], x[1]);
  print_pair (out, "strides", attrs->strides);
  print_pair (out, "dilation", attrs->dilation);
  print_pair (out, "input_dilation", attrs->spread);
  if (attrs->groups != 1)
    g_string_append_printf (out, ",groups=%" G_GINT64_FORMAT, attrs->groups);
  g_string_append_c (out, '}');
}

#define CONVOLUTION(NAME, RULE, SYMBOL)                                                  \
  .name = NAME, .attrs_size = sizeof (GyreConvAttrs), .n_operands = 2, .linear = 3,      \
  .infer = RULE##_infer, .vjp = RULE##_vjp, .partition = RULE##_partition,               \
  .lower = SYMBOL##_lower, .cost = RULE##_cost, .reference = SYMBOL##_reference,         \
  .print = convolution_print

const GyrePrim gyre_prim_convolution = {
  CONVOLUTION ("convolution", convolution, gyre_convolution)
};

const GyrePrim gyre_prim_convolution_image = {
  CONVOLUTION ("convolution_image", image, gyre_convolution_image)
};

const GyrePrim gyre_prim_convolution_kernel = {
  CONVOLUTION ("convolution_kernel", kernel, gyre_convolution_kernel)
};
