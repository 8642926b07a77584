/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-prims-private.h"
#include "prims/gyre-random-host-private.h"

#include <string.h>
#include <zlib.h>

/* The primitives of random numbers, threefry-2x32 of cl/random.clh: a key that is known
 * when the function is traced, the bits of an array, the keys made of a key and a number,
 * and bits made to floats. */

static void
print_shape (const GyreTensor *node,
             GString          *out)
{
  gyre_prims_print_shape (out, &node->shape);
}

static gboolean
check_key (const GyreTensor  *key,
           GError           **error)
{
  g_autofree char *text = gyre_prims_describe (key);

  if (key->dtype == GYRE_U32 && gyre_shape_equal (&key->shape, &GYRE_SHAPE (2)))
    return TRUE;

  return gyre_prims_error (error, "operand 0 is %s, but a key is u32[2]: take a row of "
                           "gyre_random_split ()", text);
}

static GyreKey
get_key (const GyreRef *ref)
{
  return (GyreKey) { { (guint32) ref->data[0], (guint32) ref->data[1] } };
}

/* key: a constant */

static gboolean
key_infer (GyreTensor *const  *operands,
           guint               n,
           const void         *attrs,
           GyreDtype          *dtype,
           GyreShape          *shape,
           GError            **error)
{
  *dtype = GYRE_U32;
  *shape = GYRE_SHAPE (2);
  return TRUE;
}

static const char *
key_fuse (GyreEmit          *emit,
          const GyreTensor  *node,
          const char *const *ix)
{
  const GyreKey *key = node->attrs;

  return gyre_emit_printf (emit, "(%s + %s == 0 ? %uu : %uu)", ix[0],
                           gyre_emit_offset (emit, node, 0), key->words[0],
                           key->words[1]);
}

static void
key_reference (const GyreTensor *node,
               const GyreRef    *in,
               GyreRef          *out)
{
  const GyreKey *key = node->attrs;

  out->data[0] = key->words[0];
  out->data[1] = key->words[1];
}

static void
key_print (const GyreTensor *node,
           GString          *out)
{
  const GyreKey *key = node->attrs;

  g_string_append_printf (out, " {%u,%u}", key->words[0], key->words[1]);
}

static const GyrePrim key_prim = {
  .name = "random_key",
  .flags = GYRE_PRIM_GENERATOR,
  .attrs_size = sizeof (GyreKey),
  .infer = key_infer,
  .vjp = gyre_prims_vjp_zero,
  .partition = gyre_partition_replicated,
  .fuse = key_fuse,
  .reference = key_reference,
  .print = key_print,
};

/* random_bits: element i of the global array from the counter i */

static gboolean
bits_infer (GyreTensor *const  *operands,
            guint               n,
            const void         *attrs,
            GyreDtype          *dtype,
            GyreShape          *shape,
            GError            **error)
{
  *dtype = GYRE_U32;
  *shape = ((const GyreShapeAttrs *) attrs)->shape;
  if (gyre_shape_n_elements (shape) < 0)
    return gyre_prims_error (
        error, "the shape has a negative extent: give extents of 0 or more");

  return check_key (operands[0], error);
}

/* The row-major index in the global array, of 64 bits. */
static const char *
global_index (GyreEmit          *emit,
              const GyreTensor  *node,
              const char *const *ix)
{
  const char *flat = "0ul";

  for (int i = 0; i < node->shape.rank; i++)
    {
      const char *at = gyre_emit_printf (emit, "(ulong) (%s + %s)", ix[i],
                                         gyre_emit_offset (emit, node, i));

      flat = i == 0 ? at : gyre_emit_printf (emit, "(%s * (ulong) %s + %s)", flat,
                                             gyre_emit_global_extent (emit, node, i), at);
    }

  return flat;
}

static const char *
bits_fuse (GyreEmit          *emit,
           const GyreTensor  *node,
           const char *const *ix)
{
  const char *first[] = { "0" }, *second[] = { "1" };

  gyre_emit_need (emit, "random.clh");
  return gyre_emit_printf (emit, "gyre_threefry_bits (%s, %s, %s)",
                           gyre_emit_operand (emit, node, 0, first),
                           gyre_emit_operand (emit, node, 0, second),
                           global_index (emit, node, ix));
}

static double
bits_cost (const GyreTensor *node)
{
  return 60 * gyre_prims_cost_elements (node);
}

static void
bits_reference (const GyreTensor *node,
                const GyreRef    *in,
                GyreRef          *out)
{
  gsize n = (gsize) gyre_shape_n_elements (&out->shape);
  g_autofree guint32 *bits = g_new (guint32, n + 1);

  gyre_key_bits (get_key (&in[0]), 0, n, bits);
  for (gsize i = 0; i < n; i++)
    out->data[i] = bits[i];
}

static const GyrePrim bits_prim = {
  .name = "random_bits",
  .flags = GYRE_PRIM_GENERATOR,
  .attrs_size = sizeof (GyreShapeAttrs),
  .n_operands = 1,
  .infer = bits_infer,
  .vjp = gyre_prims_vjp_zero,
  .partition = gyre_partition_replicated,
  .fuse = bits_fuse,
  .cost = bits_cost,
  .reference = bits_reference,
  .print = print_shape,
};

/* random_fold_in: key, data u32[…] → u32[…, 2], a key for each number */

static gboolean
fold_infer (GyreTensor *const  *operands,
            guint               n,
            const void         *attrs,
            GyreDtype          *dtype,
            GyreShape          *shape,
            GError            **error)
{
  if (!check_key (operands[0], error) ||
      !gyre_prims_check_dtype (operands[1], 1, GYRE_DTYPES (GYRE_U32), error))
    return FALSE;
  if (operands[1]->shape.rank == GYRE_MAX_RANK)
    return gyre_prims_error (error,
                             "operand 1 has %d dimensions already, and can't have one "
                             "more: reshape it",
                             GYRE_MAX_RANK);

  *dtype = GYRE_U32;
  *shape = operands[1]->shape;
  shape->dims[shape->rank++] = 2;
  return TRUE;
}

static gboolean
fold_partition (const GyreTensor    *node,
                const GyreMeshSpec  *mesh,
                const GyreSpec      *in,
                GyreSpec            *want,
                GyreSpec            *out,
                GError             **error)
{
  want[0] = GYRE_SPEC_REPLICATED;
  want[1].flat = 0;
  for (int i = 0; i < node->operands[1]->shape.rank; i++)
    gyre_prims_pass_dim (&want[1], i, out, i);

  return TRUE;
}

static const char *
fold_fuse (GyreEmit          *emit,
           const GyreTensor  *node,
           const char *const *ix)
{
  const char *first[] = { "0" }, *second[] = { "1" };
  const char *data = gyre_emit_operand (emit, node, 1, ix);
  const char *k0 = gyre_emit_operand (emit, node, 0, first);
  const char *k1 = gyre_emit_operand (emit, node, 0, second);
  const char *word = gyre_emit_variable (emit, "uint", "0u");

  gyre_emit_need (emit, "random.clh");
  gyre_emit_statement (emit,
                       "{ uint block[2] = { 0u, %s }; gyre_threefry (%s, %s, block); "
                       "%s = %s == 0 ? block[0] : block[1]; }",
                       data, k0, k1, word, ix[node->shape.rank - 1]);
  return word;
}

static void
fold_reference (const GyreTensor *node,
                const GyreRef    *in,
                GyreRef          *out)
{
  gint64 n = gyre_shape_n_elements (&in[1].shape);

  for (gint64 i = 0; i < n; i++)
    {
      GyreKey key = gyre_key_fold_in (get_key (&in[0]), (guint32) in[1].data[i]);

      out->data[2 * i] = key.words[0];
      out->data[2 * i + 1] = key.words[1];
    }
}

static const GyrePrim fold_prim = {
  .name = "random_fold_in",
  .n_operands = 2,
  .infer = fold_infer,
  .vjp = gyre_prims_vjp_zero,
  .partition = fold_partition,
  .fuse = fold_fuse,
  .cost = bits_cost,
  .reference = fold_reference,
};

/* uniform: bits → [low, low + span), product and sum rounded once */

typedef struct
{
  float low, span;
} GyreUniformAttrs;

static gboolean
uniform_infer (GyreTensor *const  *operands,
               guint               n,
               const void         *attrs,
               GyreDtype          *dtype,
               GyreShape          *shape,
               GError            **error)
{
  *dtype = GYRE_F32;
  *shape = operands[0]->shape;
  return gyre_prims_check_dtype (operands[0], 0, GYRE_DTYPES (GYRE_U32), error);
}

static const char *
uniform_fuse (GyreEmit          *emit,
              const GyreTensor  *node,
              const char *const *ix)
{
  const GyreUniformAttrs *attrs = node->attrs;
  const char *bits = gyre_emit_operand (emit, node, 0, ix);

  gyre_emit_need (emit, "random.clh");
  if (attrs->low == 0 && attrs->span == 1)
    return gyre_emit_printf (emit, "gyre_uniform_from_bits (%s)", bits);

  return gyre_emit_printf (emit, "gyre_uniform_between (%s, %s, %s)", bits,
                           gyre_emit_literal (emit, GYRE_F32, attrs->low),
                           gyre_emit_literal (emit, GYRE_F32, attrs->span));
}

static void
uniform_reference (const GyreTensor *node,
                   const GyreRef    *in,
                   GyreRef          *out)
{
  const GyreUniformAttrs *attrs = node->attrs;
  gint64 n = gyre_shape_n_elements (&out->shape);

  for (gint64 i = 0; i < n; i++)
    out->data[i] = gyre_uniform_float ((guint32) in[0].data[i], attrs->low, attrs->span);
}

static void
uniform_print (const GyreTensor *node,
               GString          *out)
{
  const GyreUniformAttrs *attrs = node->attrs;
  char low[G_ASCII_DTOSTR_BUF_SIZE], span[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (out, " {low=%s,span=%s}",
                          g_ascii_formatd (low, sizeof low, "%.9g", attrs->low),
                          g_ascii_formatd (span, sizeof span, "%.9g", attrs->span));
}

static const GyrePrim uniform_prim = {
  .name = "uniform",
  .flags = GYRE_PRIM_ELEMENTWISE,
  .attrs_size = sizeof (GyreUniformAttrs),
  .n_operands = 1,
  .infer = uniform_infer,
  .vjp = gyre_prims_vjp_zero,
  .partition = gyre_partition_elementwise,
  .fuse = uniform_fuse,
  .cost = gyre_prims_cost_elements,
  .reference = uniform_reference,
  .print = uniform_print,
};

/**
 * gyre_random_key:
 * @key: a key that is known when the function is traced
 *
 * Returns: (transfer none): u32[2], a constant
 */
GyreTensor *
gyre_random_key (GyreKey key)
{
  GyreGraph *graph = gyre_graph_require ("gyre_random_key");

  return graph != NULL ? gyre_graph_emit (graph, &key_prim, NULL, 0, &key) : NULL;
}

/**
 * gyre_random_bits:
 * @key: u32[2]
 * @shape: a shape
 *
 * Element i, row-major in the global shape, is made of @key and the 64-bit number i, so
 * that any sharding has the same numbers. No gradient. Kernel header: random.clh. Source:
 * Salmon, Moraes, Dror and Shaw, Parallel random numbers: as easy as 1, 2, 3, SC 2011.
 *
 * Returns: (transfer none): u32 of @shape
 */
GyreTensor *
gyre_random_bits (GyreTensor *key,
                  GyreShape   shape)
{
  GyreShapeAttrs attrs = { shape };

  g_return_val_if_fail (key != NULL, NULL);

  return gyre_prims_emit1 (&bits_prim, key, &attrs);
}

/**
 * gyre_random_fold_in:
 * @key: u32[2]
 * @data: u32[]: a number, such as that of a step; more dimensions give as many keys
 *
 * Returns: (transfer none): u32[2], a new key
 */
GyreTensor *
gyre_random_fold_in (GyreTensor *key,
                     GyreTensor *data)
{
  g_return_val_if_fail (key != NULL && data != NULL, NULL);

  return gyre_prims_emit2 (&fold_prim, key, data, NULL);
}

/**
 * gyre_random_fold_in_path:
 * @key: u32[2]
 * @path: a path, such as "dropout_0"
 *
 * Folds in the CRC-32 of @path, as gyre_key_fold_in_path() does.
 *
 * Returns: (transfer none): u32[2], a new key
 */
GyreTensor *
gyre_random_fold_in_path (GyreTensor *key,
                          const char *path)
{
  g_return_val_if_fail (key != NULL && path != NULL, NULL);

  return gyre_random_fold_in (
      key, gyre_constant (GYRE_U32,
                          (double) crc32_z (0, (const Bytef *) path, strlen (path))));
}

/**
 * gyre_random_split:
 * @key: u32[2], not to be used again
 * @n: how many
 *
 * Row i is gyre_random_fold_in() of i. Take one with gyre_slice() and gyre_reshape().
 *
 * Returns: (transfer none): u32[n, 2], keys whose numbers are independent
 */
GyreTensor *
gyre_random_split (GyreTensor *key,
                   gint64      n)
{
  g_return_val_if_fail (key != NULL, NULL);

  return gyre_random_fold_in (key, gyre_iota (GYRE_SHAPE (n), GYRE_U32, 0));
}

/**
 * gyre_random_uniform:
 * @key: u32[2]
 * @shape: a shape
 * @low: the lowest
 * @high: what all are below, but for rounding
 *
 * low + u (high - low), where u has 23 random bits. No gradient.
 *
 * Returns: (transfer none): f32 of @shape
 */
GyreTensor *
gyre_random_uniform (GyreTensor *key,
                     GyreShape   shape,
                     double      low,
                     double      high)
{
  GyreUniformAttrs attrs = { (float) low, (float) high - (float) low };

  g_return_val_if_fail (key != NULL, NULL);

  return gyre_prims_emit1 (&uniform_prim, gyre_random_bits (key, shape), &attrs);
}
