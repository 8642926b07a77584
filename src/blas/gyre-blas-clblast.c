/* SPDX-License-Identifier: Apache-2.0 */
#include "blas/gyre-blas-provider-private.h"

#include <clblast_c.h>

#include <gyre/gyre-error.h>

#include "device/gyre-executor-private.h"
#include "device/gyre-transfer-private.h"

/* CLBlast compiles from source, so it serves devices that have a compiler, and those
 * alone on which it once gave the right numbers. */

typedef enum
{
  UNTESTED,
  RIGHT,
  WRONG
} Verdict;

/* What is kept of a device while the process lives. The executor thread alone is here. */
typedef struct
{
  Verdict     verdict;
  GyreBuffer *scratch;    /* CLBlast's temporary buffer: grown, never given back */
} DeviceRecord;

static DeviceRecord *
get_record (GyreDevice *device)
{
  static GHashTable *records;
  DeviceRecord      *record;

  if (!records)
    records = g_hash_table_new (NULL, NULL);
  record = g_hash_table_lookup (records, device);
  if (!record)
    {
      record = g_new0 (DeviceRecord, 1);
      g_hash_table_insert (records, g_object_ref (device), record);
    }
  return record;
}

static CLBlastTranspose
transpose_of (gboolean trans)
{
  return trans ? CLBlastTransposeYes : CLBlastTransposeNo;
}

static gboolean
check (CLBlastStatusCode    status,
       GyreDevice          *device,
       const GyreBlasGemm  *gemm,
       const char          *call,
       GError             **error)
{
  g_autofree char *sizes = NULL;

  if (status == CLBlastSuccess)
    return TRUE;
  sizes = gyre_blas_gemm_to_string (gemm);
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_DEVICE,
               "%s of %s on %s failed with status %d; GYRE_GEMM=plain avoids CLBlast",
               call, sizes, gyre_device_get_name (device), (int) status);
  return FALSE;
}

static gboolean
scratch_size (GyreDevice *device, const GyreBlasGemm *gemm, gsize *size, GError **error)
{
  cl_command_queue queue = gyre_device_get_queue (device);

  *size = 0;
  return check (CLBlastSGemmTempBufferSize (CLBlastLayoutRowMajor,
                                            transpose_of (gemm->trans_a),
                                            transpose_of (gemm->trans_b),
                                            (gsize) gemm->m, (gsize) gemm->n,
                                            (gsize) gemm->k, (gsize) gemm->first_a,
                                            (gsize) gemm->lda, (gsize) gemm->first_b,
                                            (gsize) gemm->ldb, (gsize) gemm->first_c,
                                            (gsize) gemm->ldc, &queue, size),
                device, gemm, "CLBlastSGemmTempBufferSize", error);
}

/* The queue is in order: one scratch buffer serves all products of a device. */
static gboolean
grow_scratch (GyreDevice *device, const GyreBlasGemm *gemm, GError **error)
{
  DeviceRecord *record = get_record (device);
  GyreBuffer   *larger;
  gsize         size;

  if (!scratch_size (device, gemm, &size, error))
    return FALSE;
  if (record->scratch && gyre_buffer_get_size (record->scratch) >= size)
    return TRUE;
  if (!(larger = gyre_buffer_new (device, MAX (size, 4096), error)))
    return FALSE;
  g_clear_pointer (&record->scratch, gyre_buffer_unref);
  record->scratch = larger;
  return TRUE;
}

static gboolean
enqueue_one (GyreDevice          *device,
             const GyreBlasGemm  *gemm,
             cl_event            *event,
             GError             **error)
{
  cl_command_queue queue = gyre_device_get_queue (device);

  if (!grow_scratch (device, gemm, error))
    return FALSE;
  return check (CLBlastSgemmWithTempBuffer (
                    CLBlastLayoutRowMajor, transpose_of (gemm->trans_a),
                    transpose_of (gemm->trans_b), (gsize) gemm->m, (gsize) gemm->n,
                    (gsize) gemm->k, gemm->alpha, gyre_buffer_get_mem (gemm->a),
                    (gsize) gemm->first_a, (gsize) gemm->lda,
                    gyre_buffer_get_mem (gemm->b), (gsize) gemm->first_b,
                    (gsize) gemm->ldb, gemm->beta, gyre_buffer_get_mem (gemm->c),
                    (gsize) gemm->first_c, (gsize) gemm->ldc, &queue, event,
                    gyre_buffer_get_mem (get_record (device)->scratch)),
                device, gemm, "CLBlastSgemmWithTempBuffer", error);
}

static gboolean
enqueue_batch (GyreDevice          *device,
               const GyreBlasGemm  *gemm,
               cl_event            *event,
               GError             **error)
{
  cl_command_queue queue = gyre_device_get_queue (device);

  return check (CLBlastSgemmStridedBatched (CLBlastLayoutRowMajor,
                                            transpose_of (gemm->trans_a),
                                            transpose_of (gemm->trans_b),
                                            (gsize) gemm->m, (gsize) gemm->n,
                                            (gsize) gemm->k, gemm->alpha,
                                            gyre_buffer_get_mem (gemm->a),
                                            (gsize) gemm->first_a, (gsize) gemm->lda,
                                            (gsize) gemm->stride_a,
                                            gyre_buffer_get_mem (gemm->b),
                                            (gsize) gemm->first_b, (gsize) gemm->ldb,
                                            (gsize) gemm->stride_b,
                                            gemm->beta, gyre_buffer_get_mem (gemm->c),
                                            (gsize) gemm->first_c, (gsize) gemm->ldc,
                                            (gsize) gemm->stride_c,
                                            (gsize) gemm->batch, &queue, event),
                device, gemm, "CLBlastSgemmStridedBatched", error);
}

static gboolean
clblast_enqueue (GyreDevice          *device,
                 const GyreBlasGemm  *gemm,
                 cl_event            *event,
                 GError             **error)
{
  return gemm->batch == 1 ? enqueue_one (device, gemm, event, error)
                          : enqueue_batch (device, gemm, event, error);
}

/* --- the test: a product of odd sizes against the host --- */

enum
{
  TEST_M = 37,
  TEST_N = 29,
  TEST_K = 53
};

static void
test_numbers (float *x, int n, guint32 seed)
{
  for (int i = 0; i < n; i++)
    {
      seed = seed * 1664525u + 1013904223u;
      x[i] = (float) (seed >> 8) / 16777216.0f - 0.5f;
    }
}

static gboolean
is_right (const float *a, const float *b, const float *c)
{
  for (int i = 0; i < TEST_M; i++)
    for (int j = 0; j < TEST_N; j++)
      {
        double sum = 0.0;

        for (int p = 0; p < TEST_K; p++)
          sum += (double) a[i * TEST_K + p] * b[p * TEST_N + j];
        if (!(ABS (sum - c[i * TEST_N + j]) < 1e-4))   /* 53 products below 1/4 each */
          return FALSE;
      }
  return TRUE;
}

static gboolean
run_test (GyreDevice *device, gboolean *right, GError **error)
{
  static float a[TEST_M * TEST_K], b[TEST_K * TEST_N], c[TEST_M * TEST_N];
  g_autoptr (GyreBuffer) ab = gyre_buffer_new (device, sizeof a, error);
  g_autoptr (GyreBuffer) bb = ab ? gyre_buffer_new (device, sizeof b, error) : NULL;
  g_autoptr (GyreBuffer) cb = bb ? gyre_buffer_new (device, sizeof c, error) : NULL;
  GyreBlasGemm gemm = { ab, bb, cb, TEST_M, TEST_N, TEST_K, 1, TEST_K, TEST_N, TEST_N,
                        0, 0, 0, FALSE, FALSE, 1.0f, 0.0f, NULL, NULL };
  cl_event     done = NULL;

  test_numbers (a, TEST_M * TEST_K, 1);
  test_numbers (b, TEST_K * TEST_N, 2);
  if (!cb || !gyre_device_write (device, ab, 0, sizeof a, a, NULL, 0, NULL, error) ||
      !gyre_device_write (device, bb, 0, sizeof b, b, NULL, 0, NULL, error) ||
      !enqueue_one (device, &gemm, NULL, error) ||
      !gyre_device_read (device, cb, 0, sizeof c, c, NULL, 0, &done, error) ||
      !gyre_device_flush (device, error) ||
      !gyre_cl_check (clWaitForEvents (1, &done), error, "test of CLBlast on %s",
                      gyre_device_get_name (device)))
    return FALSE;
  clReleaseEvent (done);
  *right = is_right (a, b, c);
  return TRUE;
}

/* Runs on the executor thread. */
static void
find_verdict (gpointer data)
{
  GyreDevice       *device = data;
  DeviceRecord     *record = get_record (device);
  g_autoptr (GError) error = NULL;
  gboolean          right  = FALSE;

  if (record->verdict != UNTESTED)
    return;
  if (!run_test (device, &right, &error))
    g_message ("CLBlast is left out on %s: %s", gyre_device_get_name (device),
               error->message);
  else if (!right)
    g_message ("CLBlast is left out on %s: its product is wrong there",
               gyre_device_get_name (device));
  record->verdict = right ? RIGHT : WRONG;
}

static gboolean
clblast_serves (GyreDevice *device, const GyreBlasGemm *gemm)
{
  (void) gemm;
  if (!gyre_device_get_has_compiler (device))
    return FALSE;
  gyre_executor_call (find_verdict, device);
  return get_record (device)->verdict == RIGHT;
}

static gboolean
clblast_prepare (GyreDevice *device, GyreBlasGemm *gemm, GError **error)
{
  return grow_scratch (device, gemm, error);
}

const GyreBlasProvider gyre_blas_clblast = {
  "clblast", clblast_serves, clblast_prepare, clblast_enqueue,
};
