/* SPDX-License-Identifier: Apache-2.0 */
#include "blas/gyre-blas-provider-private.h"

#include <string.h>

#include <gyre/gyre-error.h>

#include "device/gyre-transfer-private.h"

static const GyreBlasProvider *const providers[] = {
  &gyre_blas_panel,
  &gyre_blas_clblast,
  &gyre_blas_plain,
};

/* $GYRE_GEMM names a provider that is asked first. */
static const GyreBlasProvider *
find_provider (GyreDevice *device, const GyreBlasGemm *gemm)
{
  const char *first = g_getenv ("GYRE_GEMM");

  for (gsize i = 0; first && i < G_N_ELEMENTS (providers); i++)
    if (g_str_equal (providers[i]->name, first) && providers[i]->serves (device, gemm))
      return providers[i];
  for (gsize i = 0; i < G_N_ELEMENTS (providers); i++)
    if (providers[i]->serves (device, gemm))
      return providers[i];
  g_assert_not_reached ();   /* plain serves all */
}

static gboolean
check_choice (GError **error)
{
  const char *first = g_getenv ("GYRE_GEMM");

  for (gsize i = 0; first && i < G_N_ELEMENTS (providers); i++)
    if (g_str_equal (providers[i]->name, first))
      return TRUE;
  if (!first || *first == '\0')
    return TRUE;
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
               "GYRE_GEMM=%s: it is panel, clblast or plain", first);
  return FALSE;
}

static gboolean
is_empty (const GyreBlasGemm *gemm)
{
  return gemm->m == 0 || gemm->n == 0 || gemm->batch == 0;
}

char *
gyre_blas_gemm_to_string (const GyreBlasGemm *gemm)
{
  return g_strdup_printf ("%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT
                          "%s%s", gemm->m, gemm->n, gemm->k,
                          gemm->trans_a ? ", A transposed" : "",
                          gemm->trans_b ? ", B transposed" : "");
}

const char *
gyre_blas_provider (GyreDevice         *device,
                    const GyreBlasGemm *gemm)
{
  return find_provider (device, gemm)->name;
}

gboolean
gyre_blas_prepare (GyreDevice    *device,
                   GyreBlasGemm  *gemm,
                   GError       **error)
{
  if (!check_choice (error))
    return FALSE;
  if (is_empty (gemm) || gemm->k == 0)
    return TRUE;
  gemm->provider = find_provider (device, gemm);
  return gemm->provider->prepare (device, gemm, error);
}

/* A sum over nothing. */
static gboolean
fill_zero (GyreDevice *device, const GyreBlasGemm *gemm, cl_event *event, GError **error)
{
  for (gint64 i = 0; i < gemm->batch; i++)
    for (gint64 row = 0; row < gemm->m; row++)
      {
        gboolean dense = gemm->ldc == gemm->n;
        gboolean last  = i == gemm->batch - 1 && (dense || row == gemm->m - 1);
        gint64   first = gemm->first_c + i * gemm->stride_c + row * gemm->ldc;
        gint64   count = dense ? gemm->m * gemm->n : gemm->n;

        if (!gyre_device_fill (device, gemm->c, (gsize) first * 4, (gsize) count * 4, 0,
                               NULL, 0, last ? event : NULL, error))
          return FALSE;
        if (dense)
          break;
      }
  return TRUE;
}

gboolean
gyre_blas_gemm (GyreDevice          *device,
                const GyreBlasGemm  *gemm,
                cl_event            *event,
                GError             **error)
{
  gboolean nothing = is_empty (gemm) || (gemm->k == 0 && gemm->beta == 1.0f);

  g_return_val_if_fail (gemm->k > 0 || gemm->beta == 0.0f || gemm->beta == 1.0f, FALSE);
  if (nothing)
    return event ? gyre_device_marker (device, NULL, 0, event, error) : TRUE;
  if (gemm->k == 0)
    return fill_zero (device, gemm, event, error);
  g_return_val_if_fail (gemm->provider, FALSE);
  return gemm->provider->enqueue (device, gemm, event, error);
}
