/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-key.h>
#include <gyre/gyre-initializer.h>

G_BEGIN_DECLS

/* The numbers that a parameter begins with, JAX's for the same key: f32[shape], to be
 * freed.  NULL + error (GYRE_ERROR_SHAPE): a fan of less than two dimensions. */
float *gyre_init_make (const GyreInit *self, const GyreShape *shape, GyreKey key,
                       GError **error);

/* The same into numbers of the shape, of a kind (text NULL). */
gboolean gyre_init_fill (const GyreInit *self, const GyreShape *shape, GyreKey key,
                         float *numbers, GError **error);
float *gyre_initializer_make_numbers (GyreInitializer *self, const GyreShape *shape,
                                      GyreKey key, GError **error);

/* Normal numbers become a matrix of the scale whose columns, or rows if they are fewer,
 * are orthogonal. */
void gyre_init_orthogonalize (const GyreShape *shape, float scale, float *numbers);

G_END_DECLS
