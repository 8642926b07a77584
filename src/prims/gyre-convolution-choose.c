/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-convolution-private.h"

#include <gyre/gyre-error.h>

static const GyreConvAlgorithm *const algorithms[] = {
  &gyre_conv_fft,        /* suits large kernels alone */
  &gyre_conv_direct,
  &gyre_conv_im2col,
};

static const GyreConvAlgorithm *
find_named (const char  *name,
            GError     **error)
{
  g_autoptr (GString) names = g_string_new ("auto");

  for (gsize i = 0; i < G_N_ELEMENTS (algorithms); i++)
    {
      if (g_str_equal (algorithms[i]->name, name))
        return algorithms[i];
      g_string_append_printf (names, "%s%s",
                              i + 1 < G_N_ELEMENTS (algorithms) ? ", " : " or ",
                              algorithms[i]->name);
    }

  g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID, "GYRE_CONV=%s: it is %s", name,
               names->str);
  return NULL;
}

/* $GYRE_CONV names an algorithm that is taken wherever it serves. */
const GyreConvAlgorithm *
gyre_convolution_choose (const GyreLower    *lower,
                         const GyreConvJob  *job,
                         GError            **error)
{
  const char *name = g_getenv ("GYRE_CONV");
  gboolean named = name != NULL && *name != '\0' && !g_str_equal (name, "auto");
  const GyreConvAlgorithm *first = named ? find_named (name, error) : NULL;

  if (named && first == NULL)
    return NULL;
  if (named && first->serves (lower, job))
    return first;

  for (gsize i = 0; i < G_N_ELEMENTS (algorithms); i++)
    if (algorithms[i]->serves (lower, job) && algorithms[i]->suits (lower, job))
      return algorithms[i];

  return &gyre_conv_direct;
}
