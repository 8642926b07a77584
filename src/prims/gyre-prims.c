/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-prims-private.h"

#include <math.h>
#include <string.h>

/* What the families of primitives share. */

char *
gyre_prims_describe (const GyreTensor *tensor)
{
  g_autofree char *shape = gyre_shape_to_string (&tensor->shape);

  return g_strconcat (gyre_dtype_name (tensor->dtype), shape, NULL);
}

gboolean
gyre_prims_error (GError     **error,
                  const char  *format,
                  ...)
{
  va_list args;

  va_start (args, format);
  g_propagate_error (error,
                     g_error_new_valist (GYRE_ERROR, GYRE_ERROR_SHAPE, format, args));
  va_end (args);

  return FALSE;
}

GyreTensor *
gyre_prims_fail (GyreGraph  *graph,
                 const char *format,
                 ...)
{
  va_list args;
  GError *error;

  va_start (args, format);
  error = g_error_new_valist (GYRE_ERROR, GYRE_ERROR_SHAPE, format, args);
  va_end (args);

  return gyre_graph_fail (graph, error);
}

gboolean
gyre_prims_check_padded (const GyreShape  *x,
                         int               dim,
                         gint64            padded,
                         GError          **error)
{
  g_autofree char *text = gyre_shape_to_string (x);

  return padded <= G_MAXINT32
         || gyre_prims_error (error,
                              "dimension %d of f32%s has %" G_GINT64_FORMAT
                              " elements with its padding and input dilation, and can "
                              "have %d: pad less", dim, text, padded, G_MAXINT32);
}

gboolean
gyre_prims_check_dtype (const GyreTensor  *operand,
                        guint              i,
                        guint              mask,
                        GError           **error)
{
  g_autoptr (GString) names = NULL;
  g_autofree char *text = NULL;

  if (mask & GYRE_DTYPES (operand->dtype))
    return TRUE;

  names = g_string_new (NULL);
  for (int dtype = 0; dtype < GYRE_N_DTYPES; dtype++)
    if (mask & GYRE_DTYPES (dtype))
      g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "",
                              gyre_dtype_name (dtype));
  text = gyre_prims_describe (operand);
  return gyre_prims_error (error, "operand %u is %s, but its dtype must be one of %s: "
                           "use gyre_convert ()", i, text, names->str);
}

gboolean
gyre_prims_poisoned (GyreTensor *const *operands,
                     guint              n)
{
  for (guint i = 0; i < n; i++)
    if (operands[i]->poison)
      return TRUE;

  return FALSE;
}

GyreTensor *
gyre_prims_emit1 (const GyrePrim *prim,
                  GyreTensor     *a,
                  const void     *attrs)
{
  return gyre_graph_emit (a->graph, prim, &a, 1, attrs);
}

GyreTensor *
gyre_prims_emit2 (const GyrePrim *prim,
                  GyreTensor     *a,
                  GyreTensor     *b,
                  const void     *attrs)
{
  GyreTensor *operands[] = { a, b };

  return gyre_graph_emit (a->graph, prim, operands, 2, attrs);
}

gboolean
gyre_prims_is_constant (const GyreTensor *tensor,
                        double           *value)
{
  if (tensor->prim != &gyre_prim_constant || tensor->poison)
    return FALSE;

  if (value != NULL)
    *value = ((const GyreConstantAttrs *) tensor->attrs)->value;
  return TRUE;
}

gboolean
gyre_prims_is_value (const GyreTensor *tensor,
                     double            value)
{
  double is;

  return gyre_prims_is_constant (tensor, &is) && is == value;
}

/* Folding computes one element: the operands hold the same value everywhere. */
GyreTensor *
gyre_prims_fold (GyreGraph        *graph,
                 const GyreTensor *node)
{
  double values[3], value = 0;
  GyreRef in[3], out = { node->dtype, GYRE_SCALAR, &value };

  if (node->n_operands == 0 || node->n_operands > G_N_ELEMENTS (values))
    return NULL;

  for (guint i = 0; i < node->n_operands; i++)
    {
      if (!gyre_prims_is_constant (node->operands[i], &values[i]))
        return NULL;
      in[i] = (GyreRef) { node->operands[i]->dtype, GYRE_SCALAR, &values[i] };
    }

  node->prim->reference (node, in, &out);
  return gyre_prims_constant (graph, node->dtype, &node->shape, value);
}

gboolean
gyre_prims_dim (const GyreTensor *tensor,
                int               dim,
                int              *result)
{
  *result = dim < 0 ? dim + tensor->shape.rank : dim;

  return *result >= 0 && *result < tensor->shape.rank;
}

double
gyre_prims_wrap (GyreDtype dtype,
                 gint64    value)
{
  switch (dtype)
    {
    case GYRE_I32:
      return (gint32) (guint32) (guint64) value;
    case GYRE_U32:
      return (guint32) (guint64) value;
    case GYRE_U8:
      return (guint8) (guint64) value;
    case GYRE_BOOL:
      return value != 0;
    case GYRE_F32:
    default:
      return (double) value;
    }
}

double
gyre_prims_round (GyreDtype dtype,
                  double    value)
{
  if (dtype == GYRE_F32)
    return (float) value;
  if (dtype == GYRE_BOOL)
    return value != 0;

  return gyre_prims_wrap (dtype, (gint64) value);
}

void
gyre_prims_unravel (const GyreShape *shape,
                    gint64           flat,
                    gint64          *ix)
{
  for (int i = shape->rank - 1; i >= 0; i--)
    {
      ix[i] = flat % shape->dims[i];
      flat /= shape->dims[i];
    }
}

gint64
gyre_prims_ravel (const GyreShape *shape,
                  const gint64    *ix)
{
  gint64 flat = 0;

  for (int i = 0; i < shape->rank; i++)
    flat = flat * shape->dims[i] + ix[i];

  return flat;
}

static int
count_uses (const char *format,
            char        which)
{
  int n = 0;

  for (const char *p = strchr (format, '$'); p != NULL; p = strchr (p + 1, '$'))
    n += p[1] == which;

  return n;
}

const char *
gyre_prims_substitute (GyreEmit   *emit,
                       const char *format,
                       const char *a,
                       const char *b,
                       const char *type)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (const char *p = format; *p != '\0'; p++)
    if (*p != '$')
      g_string_append_c (text, *p);
    else if (*++p == 'a')
      g_string_append (text, a);
    else
      g_string_append (text, *p == 'b' ? b : type);

  return gyre_arena_strdup (emit->arena, text->str);
}

static const char *
expand_operand (GyreEmit          *emit,
                const GyreTensor  *node,
                guint              i,
                const char *const *ix,
                const char        *format)
{
  const char *expression;

  if (i >= node->n_operands)
    return "";

  expression = gyre_emit_operand (emit, node, i, ix);
  if (count_uses (format, "ab"[i]) < 2)
    return expression;

  return gyre_emit_let (emit, gyre_dtype_ctype (node->operands[i]->dtype), expression);
}

const char *
gyre_prims_expand (GyreEmit          *emit,
                   const GyreTensor  *node,
                   const char *const *ix,
                   const char        *format)
{
  const char *a = expand_operand (emit, node, 0, ix, format);
  const char *b = expand_operand (emit, node, 1, ix, format);

  return gyre_prims_substitute (emit, format, a, b, gyre_dtype_ctype (node->dtype));
}

void
gyre_prims_pass_dim (const GyreSpec *in,
                     int             from,
                     GyreSpec       *out,
                     int             to)
{
  out->axes[to] = in->axes[from];
  out->base[to] = in->base[from];
}

void
gyre_prims_drop_dim (GyreSpec *spec,
                     int       dim)
{
  spec->axes[dim] = 0;
  spec->base[dim] = 0;
}

void
gyre_prims_share_dim (GyreSpec *want,
                      int       i_a,
                      int       i_b)
{
  const GyreSpec *a = &want[0], *b = &want[1];

  if (a->axes[i_a] == 0 && b->axes[i_b] == 0)
    return;

  if (a->axes[i_a] != 0 && b->axes[i_b] == 0 &&
      (gyre_spec_split_axes (b) & a->axes[i_a]) == 0)
    gyre_prims_pass_dim (a, i_a, &want[1], i_b);
  else if (b->axes[i_b] != 0 && a->axes[i_a] == 0 &&
           (gyre_spec_split_axes (a) & b->axes[i_b]) == 0)
    gyre_prims_pass_dim (b, i_b, &want[0], i_a);
  else if (a->axes[i_a] != b->axes[i_b] || a->base[i_a] != b->base[i_b])
    {
      gyre_prims_drop_dim (&want[0], i_a);
      gyre_prims_drop_dim (&want[1], i_b);
    }
}

void
gyre_prims_keep_partial (const GyreSpec *in,
                         GyreSpec       *want,
                         GyreSpec       *out)
{
  want->partial = in->partial;
  out->partial |= in->partial;
}

double
gyre_prims_cost_elements (const GyreTensor *node)
{
  return (double) gyre_shape_n_elements (&node->shape);
}

/* The result does not change with its operands, but for jumps. */
void
gyre_prims_vjp_zero (GyreTensor  *node,
                     GyreTensor  *ct,
                     GyreTensor **cts)
{
}

void
gyre_prims_print_shape (GString         *out,
                        const GyreShape *shape)
{
  g_autofree char *text = gyre_shape_to_string (shape);

  g_string_append_printf (out, " {%s}", text);
}
