/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#if !defined (GYRE_INSIDE) && !defined (GYRE_COMPILATION)
#error "Only <gyre/gyre.h> can be included directly."
#endif

#include <gyre/gyre-array.h>
#include <gyre/gyre-key.h>

G_BEGIN_DECLS

/**
 * GyreInitKind:
 * @GYRE_INIT_ZEROS: zeros
 * @GYRE_INIT_ONES: ones
 * @GYRE_INIT_CONSTANT: the scale everywhere
 * @GYRE_INIT_NORMAL: normal with the scale as its deviation
 * @GYRE_INIT_UNIFORM: uniform from 0 to the scale
 * @GYRE_INIT_TRUNCATED_NORMAL: normal cut at two deviations, times the scale
 * @GYRE_INIT_LECUN_NORMAL: truncated normal of variance 1 / fan-in
 * @GYRE_INIT_LECUN_UNIFORM: uniform of variance 1 / fan-in
 * @GYRE_INIT_GLOROT_NORMAL: truncated normal of variance 2 / (fan-in + fan-out)
 * @GYRE_INIT_GLOROT_UNIFORM: uniform of variance 2 / (fan-in + fan-out)
 * @GYRE_INIT_HE_NORMAL: truncated normal of variance 2 / fan-in
 * @GYRE_INIT_HE_UNIFORM: uniform of variance 2 / fan-in
 * @GYRE_INIT_ORTHOGONAL: the scale times a matrix [d… · in, out] whose columns, or rows
 *   if they are fewer, are of length 1 and orthogonal, drawn evenly among these
 *
 * How a parameter begins; the numbers are JAX's. Of a shape [d…, in, out] the fan-in is
 * in · d…, the fan-out is out · d….
 */
typedef enum
{
  GYRE_INIT_ZEROS,
  GYRE_INIT_ONES,
  GYRE_INIT_CONSTANT,
  GYRE_INIT_NORMAL,
  GYRE_INIT_UNIFORM,
  GYRE_INIT_TRUNCATED_NORMAL,
  GYRE_INIT_LECUN_NORMAL,
  GYRE_INIT_LECUN_UNIFORM,
  GYRE_INIT_GLOROT_NORMAL,
  GYRE_INIT_GLOROT_UNIFORM,
  GYRE_INIT_HE_NORMAL,
  GYRE_INIT_HE_UNIFORM,
  GYRE_INIT_ORTHOGONAL
} GyreInitKind;

typedef struct
{
  GyreInitKind kind;
  double       scale;     /* of the first kinds; the others ignore it */
  const char *text; /* not NULL: "he-normal", "normal(stddev=0.1)", in their place */
} GyreInit;

GYRE_API extern const GyreInit gyre_init_zeros;
GYRE_API extern const GyreInit gyre_init_ones;
GYRE_API extern const GyreInit gyre_init_lecun_normal;

#define GYRE_TYPE_INITIALIZER (gyre_initializer_get_type ())
GYRE_API
G_DECLARE_DERIVABLE_TYPE (GyreInitializer, gyre_initializer, GYRE, INITIALIZER, GObject)

/**
 * GyreInitializerClass:
 * @make: sets the numbers of a parameter, f32[shape], row-major, drawn by the key alone;
 *   %FALSE and an error where the shape is none for it
 *
 * How a parameter begins, by the name that a model line gives it: kernel-init=he-normal.
 */
struct _GyreInitializerClass
{
  GObjectClass parent_class;

  gboolean (*make) (GyreInitializer  *self,
                    const GyreShape  *shape,
                    GyreKey           key,
                    float            *numbers,
                    GError          **error);

  gpointer padding[8];
};

/* "he-normal", "normal(stddev=0.1)" */
GYRE_API GyreInitializer *gyre_initializer_parse     (const char       *text,
                                                      GError          **error);
GYRE_API char            *gyre_initializer_to_string (GyreInitializer  *self);
GYRE_API GyreArray       *gyre_initializer_make      (GyreInitializer  *self,
                                                      GyreShape         shape,
                                                      GyreKey           key,
                                                      GError          **error);
/* Types by name; the plugin that has it is loaded. */
GYRE_API GType            gyre_initializer_type_find (const char       *name,
                                                      GError          **error);
GYRE_API char           **gyre_initializer_type_list (void);

G_END_DECLS
