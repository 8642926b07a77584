/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <gyre/gyre-device.h>

#include "blas/gyre-blas-private.h"
#include "device/gyre-executor-private.h"
#include "device/gyre-kernel-private.h"
#include "device/gyre-transfer-private.h"

/* Every provider against a product in double, on odd sizes: one, below a tile, around a
 * tile, more than a block of k; both sides plain and transposed; strides wider than
 * rows. */

typedef struct
{
  GyreDevice   *device;
  GyreBlasGemm  gemm;
  const float  *a, *b;
  float        *c;
  gsize         na, nb, nc;
  GError       *error;
} Run;

static void
run_job (gpointer data)
{
  Run     *run  = data;
  cl_event done = NULL;

  if (!(run->gemm.a = gyre_buffer_new (run->device, run->na * 4, &run->error)) ||
      !(run->gemm.b = gyre_buffer_new (run->device, run->nb * 4, &run->error)) ||
      !(run->gemm.c = gyre_buffer_new (run->device, run->nc * 4, &run->error)) ||
      !gyre_device_write (run->device, run->gemm.a, 0, run->na * 4, run->a, NULL, 0, NULL,
                          &run->error) ||
      !gyre_device_write (run->device, run->gemm.b, 0, run->nb * 4, run->b, NULL, 0, NULL,
                          &run->error) ||
      !gyre_device_write (run->device, run->gemm.c, 0, run->nc * 4, run->c, NULL, 0, NULL,
                          &run->error) ||
      !gyre_blas_prepare (run->device, &run->gemm, &run->error) ||
      !gyre_blas_gemm (run->device, &run->gemm, NULL, &run->error) ||
      !gyre_device_read (run->device, run->gemm.c, 0, run->nc * 4, run->c, NULL, 0, &done,
                         &run->error) ||
      !gyre_device_flush (run->device, &run->error))
    return;
  clWaitForEvents (1, &done);
  clReleaseEvent (done);
  gyre_buffer_unref (run->gemm.a);
  gyre_buffer_unref (run->gemm.b);
  gyre_buffer_unref (run->gemm.c);
}

static float *
numbers (gsize n, guint32 seed)
{
  float *x = g_new (float, n + 1);

  for (gsize i = 0; i < n; i++)
    {
      seed = seed * 1664525u + 1013904223u;
      x[i] = (float) (seed >> 8) / 16777216.0f - 0.5f;
    }
  return x;
}

static double
product (const Run *run, gint64 batch, gint64 i, gint64 j, double before)
{
  const GyreBlasGemm *g   = &run->gemm;
  double              sum = 0.0;

  for (gint64 p = 0; p < g->k; p++)
    {
      gint64 ia = g->trans_a ? p * g->lda + i : i * g->lda + p;
      gint64 ib = g->trans_b ? j * g->ldb + p : p * g->ldb + j;

      sum += (double) run->a[batch * g->stride_a + ia] * run->b[batch * g->stride_b + ib];
    }
  return g->alpha * sum + g->beta * before;
}

static void
check_product (GyreDevice *device, gint64 m, gint64 n, gint64 k, gint64 batch,
               gboolean trans_a, gboolean trans_b, float alpha, float beta, gint64 slack)
{
  gint64 lda = (trans_a ? m : k) + slack;
  gint64 ldb = (trans_b ? k : n) + slack;
  gint64 ldc = n + slack;
  gint64 sa  = lda * (trans_a ? k : m);
  gint64 sb  = ldb * (trans_b ? n : k);
  gint64 sc  = ldc * m;
  Run    run = { device, { NULL, NULL, NULL, m, n, k, batch, lda, ldb, ldc, sa, sb, sc,
                           trans_a, trans_b, alpha, beta } };
  g_autofree float *a = numbers ((gsize) (sa * batch), 1);
  g_autofree float *b = numbers ((gsize) (sb * batch), 2);
  g_autofree float *c = numbers ((gsize) (sc * batch), 3);
  g_autofree float *before = g_memdup2 (c, (gsize) (sc * batch) * 4 + 4);

  run.a  = a;
  run.b  = b;
  run.c  = c;
  run.na = (gsize) (sa * batch);
  run.nb = (gsize) (sb * batch);
  run.nc = (gsize) (sc * batch);
  gyre_executor_call (run_job, &run);
  gyre_assert_no_error (run.error);
  for (gint64 x = 0; x < batch; x++)
    for (gint64 i = 0; i < m; i++)
      for (gint64 j = 0; j < ldc; j++)
        {
          gint64 at   = x * sc + i * ldc + j;
          double want = j < n ? product (&run, x, i, j, before[at]) : before[at];

          /* k roundings of a sum of terms below 1/4 */
          gyre_assert_near (c[at], want, 1e-7 * (double) (k + 4));
        }
}

static void
check_sizes (GyreDevice *device)
{
  static const gint64 sizes[][3] = {
    { 1, 1, 1 }, { 1, 10, 7 }, { 3, 5, 2 }, { 7, 49, 33 }, { 8, 48, 16 }, { 9, 47, 17 },
    { 33, 96, 64 }, { 130, 70, 20 }, { 5, 16, 1100 }, { 37, 10, 513 }, { 64, 100, 1 },
  };

  for (gsize s = 0; s < G_N_ELEMENTS (sizes); s++)
    for (int t = 0; t < 4; t++)
      check_product (device, sizes[s][0], sizes[s][1], sizes[s][2], 1, t & 1, t & 2,
                     1.0f, 0.0f, 0);
  check_product (device, 17, 19, 23, 3, FALSE, TRUE, 1.0f, 0.0f, 0);
  check_product (device, 17, 50, 600, 1, TRUE, FALSE, 0.5f, 1.0f, 3);
  check_product (device, 20, 31, 9, 2, FALSE, FALSE, -2.0f, 0.25f, 5);
  check_product (device, 4, 6, 0, 2, FALSE, FALSE, 1.0f, 0.0f, 0);
  check_product (device, 4, 6, 0, 1, FALSE, FALSE, 1.0f, 0.0f, 2);
  check_product (device, 0, 6, 3, 1, FALSE, FALSE, 1.0f, 0.0f, 0);
}

static void
check_provider (const char *name)
{
  g_autoptr (GError)    error   = NULL;
  g_autoptr (GPtrArray) devices = gyre_devices_open (NULL, &error);

  gyre_assert_no_error (error);
  g_setenv ("GYRE_GEMM", name, TRUE);
  for (guint i = 0; i < devices->len; i++)
    {
      GyreDevice  *device = g_ptr_array_index (devices, i);
      GyreBlasGemm gemm   = { .m = 8, .n = 8, .k = 8, .batch = 1 };

      if (g_str_equal (gyre_blas_provider (device, &gemm), name))
        check_sizes (device);
    }
  g_unsetenv ("GYRE_GEMM");
}

START_TEST (panel_multiplies)
{
  check_provider ("panel");
}
END_TEST

START_TEST (plain_multiplies)
{
  check_provider ("plain");
}
END_TEST

START_TEST (clblast_multiplies)
{
  check_provider ("clblast");
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add (suite, "panel", panel_multiplies);
  gyre_check_add (suite, "plain", plain_multiplies);
  gyre_check_add (suite, "clblast", clblast_multiplies);
}

GYRE_CHECK_MAIN ("blas", add_tests)
