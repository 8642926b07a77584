/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-dtype.h>
#include <gyre/gyre-error.h>

static const struct
{
  const char *name;
  gsize       size;
} dtypes[GYRE_N_DTYPES] = {
  [GYRE_F32]  = { "f32", 4 },
  [GYRE_I32]  = { "i32", 4 },
  [GYRE_U32]  = { "u32", 4 },
  [GYRE_U8]   = { "u8", 1 },
  [GYRE_BOOL] = { "bool", 1 },
};

/**
 * gyre_dtype_size:
 * @dtype: a dtype
 *
 * Returns: the bytes of one element
 */
gsize
gyre_dtype_size (GyreDtype dtype)
{
  g_return_val_if_fail ((guint) dtype < GYRE_N_DTYPES, 0);

  return dtypes[dtype].size;
}

/**
 * gyre_dtype_name:
 * @dtype: a dtype
 *
 * Returns: its name, such as "f32"
 */
const char *
gyre_dtype_name (GyreDtype dtype)
{
  g_return_val_if_fail ((guint) dtype < GYRE_N_DTYPES, NULL);

  return dtypes[dtype].name;
}

/**
 * gyre_dtype_parse:
 * @name: a name, such as "f32"
 * @dtype: (out): the dtype of that name
 * @error: %GYRE_ERROR_INVALID if no dtype has that name
 *
 * The inverse of gyre_dtype_name().
 *
 * Returns: whether @name is the name of a dtype
 */
gboolean
gyre_dtype_parse (const char  *name,
                  GyreDtype   *dtype,
                  GError     **error)
{
  g_return_val_if_fail (name != NULL, FALSE);
  g_return_val_if_fail (dtype != NULL, FALSE);

  for (guint i = 0; i < GYRE_N_DTYPES; i++)
    if (strcmp (name, dtypes[i].name) == 0)
      {
        *dtype = (GyreDtype) i;
        return TRUE;
      }

  g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
               "\"%s\" is no dtype: it is f32, i32, u32, u8 or bool", name);
  return FALSE;
}

/**
 * gyre_dtype_is_float:
 * @dtype: a dtype
 *
 * Returns: whether elements are floating-point numbers, so that there are gradients
 */
gboolean
gyre_dtype_is_float (GyreDtype dtype)
{
  return dtype == GYRE_F32;
}
