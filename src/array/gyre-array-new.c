/* SPDX-License-Identifier: Apache-2.0 */
#include "array/gyre-array-private.h"

#include <string.h>

#include <gyre/gyre-key.h>

/* Arrays that are made of less than their elements. */

typedef union
{
  float   f32;
  gint32  i32;
  guint32 u32;
  guint8  u8;
} Element;

/* As C converts. */
static Element
convert (GyreDtype dtype,
         double    value)
{
  Element element = { 0 };

  switch (dtype)
    {
    case GYRE_F32:  element.f32 = (float) value; break;
    case GYRE_I32:  element.i32 = (gint32) value; break;
    case GYRE_U32:  element.u32 = (guint32) value; break;
    case GYRE_U8:   element.u8 = (guint8) value; break;
    case GYRE_BOOL: element.u8 = value != 0; break;
    }

  return element;
}

/* Of numbers that the array takes over. */
static GyreArray *
take (GyreDtype dtype,
      GyreShape shape,
      gpointer  numbers)
{
  gsize size = (gsize) gyre_shape_n_elements (&shape) * gyre_dtype_size (dtype);
  g_autoptr (GBytes) bytes = g_bytes_new_take (numbers, size);

  return gyre_array_new_bytes (dtype, shape, bytes, NULL);
}

/**
 * gyre_array_new_scalar:
 * @dtype: the type of the element
 * @value: its value, converted as C does
 *
 * Returns: (transfer full): an array of rank 0 on the host
 */
GyreArray *
gyre_array_new_scalar (GyreDtype dtype,
                       double    value)
{
  Element element = convert (dtype, value);

  return gyre_array_new (dtype, GYRE_SCALAR, &element);
}

/**
 * gyre_array_new_full:
 * @dtype: the type of the elements
 * @shape: any shape
 * @value: the value of each, converted as C does
 *
 * Returns: (transfer full): an array on the host whose elements are all alike
 */
GyreArray *
gyre_array_new_full (GyreDtype dtype,
                     GyreShape shape,
                     double    value)
{
  Element element = convert (dtype, value);
  gsize width = gyre_dtype_size (dtype);
  gsize n = (gsize) gyre_shape_n_elements (&shape);
  guint8 *numbers = g_malloc (n * width + 1);

  for (gsize i = 0; i < n; i++)
    memcpy (numbers + i * width, &element, width);

  return take (dtype, shape, numbers);
}

/**
 * gyre_array_new_normal:
 * @key: a random key
 * @shape: any shape
 * @scale: what the numbers are multiplied by
 *
 * Normal numbers, @scale · N(0, 1), drawn by gyre_key_normal().
 *
 * Returns: (transfer full): f32 of @shape on the host
 */
GyreArray *
gyre_array_new_normal (GyreKey   key,
                       GyreShape shape,
                       float     scale)
{
  gsize n = (gsize) gyre_shape_n_elements (&shape);
  float *numbers = g_new (float, n + 1);

  gyre_key_normal (key, n, numbers);
  for (gsize i = 0; i < n; i++)
    numbers[i] *= scale;

  return take (GYRE_F32, shape, numbers);
}

/**
 * gyre_array_new_key:
 * @key: a random key
 *
 * Returns: (transfer full): its words, u32[2] on the host
 */
GyreArray *
gyre_array_new_key (GyreKey key)
{
  return gyre_array_new (GYRE_U32, GYRE_SHAPE (2), key.words);
}

/**
 * gyre_array_new_keys:
 * @key: a random key, not to be used again
 * @n: how many, such as one a device
 *
 * Splits @key as gyre_key_split() does.
 *
 * Returns: (transfer full): a key a row, u32[@n, 2] on the host
 */
GyreArray *
gyre_array_new_keys (GyreKey key,
                     guint   n)
{
  GyreKey *keys = g_new (GyreKey, n + 1);

  gyre_key_split (key, n, keys);

  return take (GYRE_U32, GYRE_SHAPE (n, 2), keys);
}
