/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#if !defined (GYRE_INSIDE) && !defined (GYRE_COMPILATION)
#error "Only <gyre/gyre.h> can be included directly."
#endif

#include <gyre/gyre-types.h>

G_BEGIN_DECLS

/**
 * GyreKey:
 * @words: the two words of a threefry-2x32 key
 *
 * A random key, passed by value.  Keys give JAX's numbers (partitionable threefry).
 */
struct _GyreKey
{
  guint32 words[2];
};

GYRE_API GyreKey gyre_key_new              (guint64      seed);
GYRE_API GyreKey gyre_key_fold_in          (GyreKey      key,
                                            guint32      data);
/* Folds in the path's CRC-32. */
GYRE_API GyreKey gyre_key_fold_in_path     (GyreKey      key,
                                            const char  *path);
GYRE_API void    gyre_key_split            (GyreKey      key,
                                            guint        n,
                                            GyreKey     *keys);
/* step_key, key = split (key) */
GYRE_API GyreKey gyre_key_next             (GyreKey     *key);

/* Element i of each is drawn from the 64-bit counter i (of bits: first + i), so that a
 * part of an array can be drawn without the rest. */
GYRE_API void    gyre_key_bits             (GyreKey      key,
                                            guint64      first,
                                            gsize        n,
                                            guint32     *out);
GYRE_API void    gyre_key_uniform          (GyreKey      key,
                                            float        low,
                                            float        high,
                                            gsize        n,
                                            float       *out);
GYRE_API void    gyre_key_normal           (GyreKey      key,
                                            gsize        n,
                                            float       *out);
GYRE_API void    gyre_key_truncated_normal (GyreKey      key,
                                            float        low,
                                            float        high,
                                            gsize        n,
                                            float       *out);
GYRE_API void    gyre_key_bernoulli        (GyreKey      key,
                                            float        p,
                                            gsize        n,
                                            guint8      *out);
GYRE_API void    gyre_key_randint          (GyreKey      key,
                                            gint32       low,
                                            gint32       high,
                                            gsize        n,
                                            gint32      *out);
GYRE_API void    gyre_key_permutation      (GyreKey      key,
                                            gsize        n,
                                            gint32      *out);
GYRE_API void    gyre_key_gumbel           (GyreKey      key,
                                            gsize        n,
                                            float       *out);
GYRE_API void    gyre_key_exponential      (GyreKey      key,
                                            gsize        n,
                                            float       *out);
/* logits: f32[rows, classes]; out: i32[rows] */
GYRE_API void    gyre_key_categorical      (GyreKey      key,
                                            const float *logits,
                                            gsize        rows,
                                            gsize        classes,
                                            gint32      *out);

G_END_DECLS
