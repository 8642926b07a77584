/* SPDX-License-Identifier: Apache-2.0 */
#include "nn/gyre-init-private.h"

#include <math.h>

/* The deviation of a normal cut at two deviations. */
#define TRUNCATED_DEVIATION .87962566103423978

typedef enum
{
  FAN_NONE,     /* the scale is the initializer's own */
  FAN_MATRIX,   /* the same, of a shape that has fans */
  FAN_IN,
  FAN_AVERAGE
} Fan;

typedef void (*Draw) (GyreKey key, float scale, gsize n, float *out);

typedef struct
{
  Draw   draw;
  Fan    fan;
  double variance;   /* times 1 / fan */
  /* Optional: what becomes of the numbers then; the scale is left to it. */
  void (*arrange) (const GyreShape *shape, float scale, float *numbers);
} Rule;

static void
fill (GyreKey  key,
      float    scale,
      gsize    n,
      float   *out)
{
  for (gsize i = 0; i < n; i++)
    out[i] = scale;
}

static void
multiply (float  scale,
          gsize  n,
          float *out)
{
  for (gsize i = 0; i < n; i++)
    out[i] *= scale;
}

static void
draw_normal (GyreKey  key,
             float    scale,
             gsize    n,
             float   *out)
{
  gyre_key_normal (key, n, out);
  multiply (scale, n, out);
}

static void
draw_truncated (GyreKey  key,
                float    scale,
                gsize    n,
                float   *out)
{
  gyre_key_truncated_normal (key, -2, 2, n, out);
  multiply (scale, n, out);
}

static void
draw_scaled_truncated (GyreKey  key,
                       float    scale,
                       gsize    n,
                       float   *out)
{
  draw_truncated (key, scale / (float) TRUNCATED_DEVIATION, n, out);
}

static void
draw_uniform (GyreKey  key,
              float    scale,
              gsize    n,
              float   *out)
{
  gyre_key_uniform (key, 0, 1, n, out);
  multiply (scale, n, out);
}

/* Of the deviation that is asked for, from -sqrt (3) times it. */
static void
draw_scaled_uniform (GyreKey  key,
                     float    scale,
                     gsize    n,
                     float   *out)
{
  gyre_key_uniform (key, -1, 1, n, out);
  multiply (scale, n, out);
}

static const Rule rules[] = {
  [GYRE_INIT_ZEROS]            = { fill, FAN_NONE, 0 },
  [GYRE_INIT_ONES]             = { fill, FAN_NONE, 0 },
  [GYRE_INIT_CONSTANT]         = { fill, FAN_NONE, 0 },
  [GYRE_INIT_NORMAL]           = { draw_normal, FAN_NONE, 0 },
  [GYRE_INIT_UNIFORM]          = { draw_uniform, FAN_NONE, 0 },
  [GYRE_INIT_TRUNCATED_NORMAL] = { draw_truncated, FAN_NONE, 0 },
  [GYRE_INIT_LECUN_NORMAL]     = { draw_scaled_truncated, FAN_IN, 1 },
  [GYRE_INIT_LECUN_UNIFORM]    = { draw_scaled_uniform, FAN_IN, 3 },
  [GYRE_INIT_GLOROT_NORMAL]    = { draw_scaled_truncated, FAN_AVERAGE, 1 },
  [GYRE_INIT_GLOROT_UNIFORM]   = { draw_scaled_uniform, FAN_AVERAGE, 3 },
  [GYRE_INIT_HE_NORMAL]        = { draw_scaled_truncated, FAN_IN, 2 },
  [GYRE_INIT_HE_UNIFORM]       = { draw_scaled_uniform, FAN_IN, 6 },
  [GYRE_INIT_ORTHOGONAL]       = { draw_normal, FAN_MATRIX, 0, gyre_init_orthogonalize },
};

static gboolean
count_fan (const GyreShape  *shape,
           Fan               fan,
           double           *count,
           GError          **error)
{
  double field = 1, in, out;

  if (shape->rank < 2)
    {
      g_autofree char *text = gyre_shape_to_string (shape);

      g_set_error (
          error, GYRE_ERROR, GYRE_ERROR_SHAPE,
          "an initializer by fan needs a shape [in, out], not %s: take zeros or a "
          "normal with a scale",
          text);
      return FALSE;
    }

  for (int i = 0; i < shape->rank - 2; i++)
    field *= (double) shape->dims[i];
  in = field * (double) shape->dims[shape->rank - 2];
  out = field * (double) shape->dims[shape->rank - 1];
  *count = MAX (fan == FAN_IN ? in : (in + out) / 2, 1);

  return TRUE;
}

/* In float, step by step as JAX does it, for the same last bit. */
static gboolean
get_scale (const GyreInit   *self,
           const GyreShape  *shape,
           float            *scale,
           GError          **error)
{
  const Rule *rule = &rules[self->kind];
  double count;

  *scale = self->kind == GYRE_INIT_ONES ? 1 : (float) self->scale;
  if (self->kind == GYRE_INIT_ZEROS)
    *scale = 0;
  if (rule->fan == FAN_NONE)
    return TRUE;
  if (!count_fan (shape, rule->fan, &count, error))
    return FALSE;
  if (rule->fan == FAN_MATRIX)
    return TRUE;

  *scale = sqrtf ((float) (rule->variance / count));
  return TRUE;
}

gboolean
gyre_init_fill (const GyreInit   *self,
                const GyreShape  *shape,
                GyreKey           key,
                float            *numbers,
                GError          **error)
{
  const Rule *rule = &rules[self->kind];
  gsize n = (gsize) gyre_shape_n_elements (shape);
  float scale;

  if (!get_scale (self, shape, &scale, error))
    return FALSE;

  rule->draw (key, rule->arrange == NULL ? scale : 1, n, numbers);
  if (rule->arrange != NULL)
    rule->arrange (shape, scale, numbers);

  return TRUE;
}

static float *
make_named (const char       *text,
            const GyreShape  *shape,
            GyreKey           key,
            GError          **error)
{
  g_autoptr (GyreInitializer) initializer = gyre_initializer_parse (text, error);
  float *numbers = NULL;

  if (initializer != NULL)
    numbers = gyre_initializer_make_numbers (initializer, shape, key, error);
  if (numbers == NULL)
    g_prefix_error (error, "%s: ", text);

  return numbers;
}

float *
gyre_init_make (const GyreInit   *self,
                const GyreShape  *shape,
                GyreKey           key,
                GError          **error)
{
  gsize n = (gsize) gyre_shape_n_elements (shape);
  g_autofree float *numbers = NULL;

  if (self->text != NULL)
    return make_named (self->text, shape, key, error);

  numbers = g_try_new (float, MAX (n, 1));
  if (numbers == NULL)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_MEMORY,
                   "no memory for a parameter of %" G_GSIZE_FORMAT " numbers", n);
      return NULL;
    }

  return gyre_init_fill (self, shape, key, numbers, error) ? g_steal_pointer (&numbers)
                                                           : NULL;
}
