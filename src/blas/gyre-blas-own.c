/* SPDX-License-Identifier: Apache-2.0 */
#include "blas/gyre-blas-provider-private.h"

#include "device/gyre-kernel-private.h"

/* The products of cl/gemm-panel.cl and cl/gemm-plain.cl. */

#define PLAIN_TILE  4
#define PLAIN_LOCAL 64

/* The source is read once; NULL where the resource is missing. */
static const char *
panel_source (void)
{
  static gsize once;

  if (g_once_init_enter (&once))
    g_once_init_leave (&once, (gsize) gyre_kernel_source_load ("gemm-panel.cl", NULL));
  return (const char *) once;
}

static const char *
plain_source (void)
{
  static gsize once;

  if (g_once_init_enter (&once))
    g_once_init_leave (&once, (gsize) gyre_kernel_source_load ("gemm-plain.cl", NULL));
  return (const char *) once;
}

static gint64
divide_up (gint64 a, gint64 b)
{
  return (a + b - 1) / b;
}

/* --- panel --- */

typedef struct
{
  int mr, nv, kc, rows;
} PanelShape;

/* A tile no higher than the matrix, no wider than it needs, and a packed panel that local
 * memory holds; groups enough to keep every compute unit busy. */
static PanelShape
panel_shape (GyreDevice *device, const GyreBlasGemm *gemm)
{
  PanelShape shape = { 8, 3, 512, 128 };
  gint64     local = (gint64) gyre_device_get_local_memory (device) * 3 / 4;
  gint64     units = MAX (1, gyre_device_get_compute_units (device));

  while (shape.mr > gemm->m)
    shape.mr /= 2;
  if (gemm->n <= 16)
    shape.nv = 1;
  else if (gemm->n <= 32)
    shape.nv = 2;
  while (shape.kc > 16 && (gint64) shape.kc * shape.nv * 64 > local)
    shape.kc /= 2;
  while (shape.rows > 4 * shape.mr &&
         divide_up (gemm->m, shape.rows) * divide_up (gemm->n, 16 * shape.nv) *
         gemm->batch < 4 * units)
    shape.rows /= 2;
  return shape;
}

static gboolean
panel_serves (GyreDevice *device, const GyreBlasGemm *gemm)
{
  GyreDeviceKind kind = gyre_device_get_kind (device);

  (void) gemm;
  return kind == GYRE_DEVICE_CPU || kind == GYRE_DEVICE_ACCELERATOR;
}

static gboolean
panel_prepare (GyreDevice *device, GyreBlasGemm *gemm, GError **error)
{
  PanelShape shape = panel_shape (device, gemm);
  char       options[96];

  g_snprintf (options, sizeof options, "-DMR=%d -DNV=%d -DKC=%d%s%s", shape.mr,
              shape.nv, shape.kc, gemm->trans_a ? " -DTRANS_A" : "",
              gemm->trans_b ? " -DTRANS_B" : "");
  gemm->kernel = gyre_device_get_kernel (device, panel_source (), options,
                                         "gyre_gemm_panel", error);
  return gemm->kernel != NULL;
}

static gboolean
panel_enqueue (GyreDevice          *device,
               const GyreBlasGemm  *gemm,
               cl_event            *event,
               GError             **error)
{
  PanelShape    shape     = panel_shape (device, gemm);
  gsize         local[3]  = { 1, 1, 1 };
  gsize         global[3] = { (gsize) divide_up (gemm->m, shape.rows),
                              (gsize) divide_up (gemm->n, 16 * shape.nv),
                              (gsize) gemm->batch };
  GyreKernelArg args[] = {
    GYRE_BUFFER_ARG (gemm->c), GYRE_BUFFER_ARG (gemm->a), GYRE_BUFFER_ARG (gemm->b),
    GYRE_I32_ARG ((gint32) gemm->m), GYRE_I32_ARG ((gint32) gemm->n),
    GYRE_I32_ARG ((gint32) gemm->k), GYRE_I32_ARG ((gint32) gemm->lda),
    GYRE_I32_ARG ((gint32) gemm->ldb), GYRE_I32_ARG ((gint32) gemm->ldc),
    GYRE_I64_ARG (gemm->stride_a), GYRE_I64_ARG (gemm->stride_b),
    GYRE_I64_ARG (gemm->stride_c), GYRE_I64_ARG (gemm->first_a),
    GYRE_I64_ARG (gemm->first_b), GYRE_I64_ARG (gemm->first_c),
    GYRE_I32_ARG (shape.rows), GYRE_F32_ARG (gemm->alpha), GYRE_F32_ARG (gemm->beta),
  };

  return gyre_device_launch (device, gemm->kernel, args, G_N_ELEMENTS (args), 3, global,
                             local, NULL, 0, event, error);
}

const GyreBlasProvider gyre_blas_panel = {
  "panel", panel_serves, panel_prepare, panel_enqueue,
};

/* --- plain --- */

static gboolean
plain_serves (GyreDevice *device, const GyreBlasGemm *gemm)
{
  (void) device;
  (void) gemm;
  return TRUE;
}

static gboolean
plain_prepare (GyreDevice *device, GyreBlasGemm *gemm, GError **error)
{
  char options[64];

  g_snprintf (options, sizeof options, "-DTILE=%d%s%s", PLAIN_TILE,
              gemm->trans_a ? " -DTRANS_A" : "", gemm->trans_b ? " -DTRANS_B" : "");
  gemm->kernel = gyre_device_get_kernel (device, plain_source (), options,
                                         "gyre_gemm_plain", error);
  return gemm->kernel != NULL;
}

static gboolean
plain_enqueue (GyreDevice          *device,
               const GyreBlasGemm  *gemm,
               cl_event            *event,
               GError             **error)
{
  gsize         width     = MIN (PLAIN_LOCAL, gyre_device_get_max_work_group (device));
  gsize         local[3]  = { width, 1, 1 };
  gsize         global[3] = { (gsize) divide_up (gemm->n, (gint64) width) * width,
                              (gsize) divide_up (gemm->m, PLAIN_TILE),
                              (gsize) gemm->batch };
  GyreKernelArg args[] = {
    GYRE_BUFFER_ARG (gemm->c), GYRE_BUFFER_ARG (gemm->a), GYRE_BUFFER_ARG (gemm->b),
    GYRE_I32_ARG ((gint32) gemm->m), GYRE_I32_ARG ((gint32) gemm->n),
    GYRE_I32_ARG ((gint32) gemm->k), GYRE_I32_ARG ((gint32) gemm->lda),
    GYRE_I32_ARG ((gint32) gemm->ldb), GYRE_I32_ARG ((gint32) gemm->ldc),
    GYRE_I64_ARG (gemm->stride_a), GYRE_I64_ARG (gemm->stride_b),
    GYRE_I64_ARG (gemm->stride_c), GYRE_I64_ARG (gemm->first_a),
    GYRE_I64_ARG (gemm->first_b), GYRE_I64_ARG (gemm->first_c),
    GYRE_F32_ARG (gemm->alpha), GYRE_F32_ARG (gemm->beta),
  };

  return gyre_device_launch (device, gemm->kernel, args, G_N_ELEMENTS (args), 3, global,
                             local, NULL, 0, event, error);
}

const GyreBlasProvider gyre_blas_plain = {
  "plain", plain_serves, plain_prepare, plain_enqueue,
};
