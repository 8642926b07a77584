/* SPDX-License-Identifier: Apache-2.0 */
#include "device/gyre-admit-private.h"

#include <string.h>

#include <gyre/gyre-error.h>

#define N 1000          /* not a multiple of any group's size */
#define M_SIZE 33
#define N_SIZE 29
#define K_SIZE 37

/* Small integers that look like none. */
static int
draw (guint i,
      guint salt,
      int   range)
{
  return (int) ((i * 2654435761u + salt * 40503u) >> 16) % range;
}

static gsize
round_up (gsize n,
          gsize to)
{
  return (n + to - 1) / to * to;
}

/* Buffers of the bench; a test has at most eight. */

static cl_mem
put (GyreBench      *bench,
     gconstpointer   data,
     gsize           size,
     GError        **error)
{
  cl_mem_flags flags = CL_MEM_READ_WRITE | (data != NULL ? CL_MEM_COPY_HOST_PTR : 0);
  cl_int status;
  cl_mem mem = clCreateBuffer (bench->context, flags, size, (gpointer) data, &status);

  return gyre_cl_check (status, error, "clCreateBuffer") ? mem : NULL;
}

static gboolean
get (GyreBench  *bench,
     cl_mem      mem,
     gpointer    data,
     gsize       size,
     GError    **error)
{
  return gyre_cl_check (clEnqueueReadBuffer (bench->queue, mem, CL_TRUE, 0, size, data, 0,
                                             NULL, NULL),
                        error, "clEnqueueReadBuffer");
}

static gboolean
differ (const char  *what,
        gsize        i,
        double       is,
        double       should,
        GError     **error)
{
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_DEVICE, "%s: [%" G_GSIZE_FORMAT
               "] is %.9g, not %.9g", what, i, is, should);
  return FALSE;
}

/* An argument: of a size, at a place; local memory has no place. */
typedef struct
{
  gsize         size;
  gconstpointer at;
} Arg;

#define ARG(variable) { sizeof (variable), &(variable) }

static gboolean
launch (GyreBench    *bench,
        const char   *name,
        const Arg    *args,
        guint         n_args,
        guint         dims,
        const gsize  *global,
        const gsize  *local,
        GError      **error)
{
  cl_int status;
  cl_kernel kernel = clCreateKernel (bench->program, name, &status);

  if (!gyre_cl_check (status, error, "clCreateKernel of %s", name))
    return FALSE;
  for (guint i = 0; i < n_args; i++)
    if (!gyre_cl_check (clSetKernelArg (kernel, i, args[i].size, args[i].at), error,
                        "clSetKernelArg %u of %s", i, name))
      return FALSE;
  status = clEnqueueNDRangeKernel (bench->queue, kernel, dims, NULL, global, local, 0,
                                   NULL, NULL);
  clReleaseKernel (kernel);
  return gyre_cl_check (status, error, "clEnqueueNDRangeKernel of %s", name);
}

/* The tests. */

typedef struct
{
  float   a[N], b[N], f[N];
  guint32 u[N], u_out[N];
  gint32  s[N], s_out[N];
  guint8  c[N], k[N];
} Vectors;

static gboolean
compare_vectors (const Vectors  *v,
                 GError        **error)
{
  for (guint i = 0; i < N; i++)
    {
      float f = v->a[i] * v->b[i] + v->c[i];
      guint32 u = v->u[i] * 2654435761u;
      gint32 s = v->s[i] / 7 + v->s[i] % 5;
      guint8 k = v->c[i] * 3;

      u = ((u << 13) | (u >> 19)) ^ i;
      if (v->f[i] != f)
        return differ ("element-wise f32", i, v->f[i], f, error);
      if (v->u_out[i] != u)
        return differ ("element-wise u32", i, v->u_out[i], u, error);
      if (v->s_out[i] != s)
        return differ ("element-wise i32", i, v->s_out[i], s, error);
      if (v->k[i] != k)
        return differ ("element-wise u8", i, v->k[i], k, error);
    }
  return TRUE;
}

gboolean
gyre_admit_test_vector (GyreBench  *bench,
                        GError    **error)
{
  static Vectors v;
  cl_int n = N;
  gsize global = round_up (N, bench->group);
  cl_mem f, u, s, k, a, b, c;

  for (guint i = 0; i < N; i++)
    {
      v.a[i] = draw (i, 1, 100) - 50;
      v.b[i] = draw (i, 2, 100) - 50;
      v.c[i] = draw (i, 3, 256);
      v.u[i] = i * 977 + 5;
      v.s[i] = draw (i, 4, 20000) - 10000;
    }
  if (!(f = put (bench, NULL, sizeof v.f, error)) ||
      !(u = put (bench, v.u, sizeof v.u, error)) ||
      !(s = put (bench, v.s, sizeof v.s, error)) ||
      !(k = put (bench, NULL, sizeof v.k, error)) ||
      !(a = put (bench, v.a, sizeof v.a, error)) ||
      !(b = put (bench, v.b, sizeof v.b, error)) ||
      !(c = put (bench, v.c, sizeof v.c, error)))
    return FALSE;

  return launch (bench, "gyre_admit_vector",
                 (Arg[]) { ARG (f), ARG (u), ARG (s), ARG (k), ARG (a), ARG (b), ARG (c),
                           ARG (n) },
                 8, 1, &global, &bench->group, error) &&
         get (bench, f, v.f, sizeof v.f, error) &&
         get (bench, u, v.u_out, sizeof v.u_out, error) &&
         get (bench, s, v.s_out, sizeof v.s_out, error) &&
         get (bench, k, v.k, sizeof v.k, error) && compare_vectors (&v, error);
}

static gboolean
compare_sums (const float   *x,
              const gint32  *y,
              const float   *x_sums,
              const gint32  *y_sums,
              gsize          group,
              GError       **error)
{
  for (gsize g = 0; g * group < N; g++)
    {
      float x_sum = 0;
      gint32 y_sum = 0;

      for (gsize i = g * group; i < MIN ((g + 1) * group, N); i++)
        {
          x_sum += x[i];
          y_sum += y[i];
        }
      if (x_sums[g] != x_sum)
        return differ ("f32 sum in local memory", g, x_sums[g], x_sum, error);
      if (y_sums[g] != y_sum)
        return differ ("i32 sum in local memory", g, y_sums[g], y_sum, error);
    }
  return TRUE;
}

gboolean
gyre_admit_test_reduce (GyreBench  *bench,
                        GError    **error)
{
  static float x[N], x_sums[N];
  static gint32 y[N], y_sums[N];
  cl_int n = N;
  gsize global = round_up (N, bench->group);
  gsize groups = global / bench->group;
  cl_mem x_mem, y_mem, x_out, y_out;

  for (guint i = 0; i < N; i++)
    {
      x[i] = draw (i, 5, 100);
      y[i] = draw (i, 6, 10000) - 5000;
    }
  if (!(x_mem = put (bench, x, sizeof x, error)) ||
      !(y_mem = put (bench, y, sizeof y, error)) ||
      !(x_out = put (bench, NULL, sizeof x, error)) ||
      !(y_out = put (bench, NULL, sizeof y, error)))
    return FALSE;

  return launch (bench, "gyre_admit_reduce",
                 (Arg[]) { ARG (x_out), ARG (y_out), ARG (x_mem), ARG (y_mem), ARG (n),
                           { bench->group * sizeof (float), NULL },
                           { bench->group * sizeof (gint32), NULL } },
                 7, 1, &global, &bench->group, error) &&
         get (bench, x_out, x_sums, groups * sizeof *x_sums, error) &&
         get (bench, y_out, y_sums, groups * sizeof *y_sums, error) &&
         compare_sums (x, y, x_sums, y_sums, bench->group, error);
}

static gboolean
compare_product (const float  *a,
                 const float  *b,
                 const float  *c,
                 GError      **error)
{
  for (gsize i = 0; i < M_SIZE * N_SIZE; i++)
    {
      float sum = 0;

      for (gsize k = 0; k < K_SIZE; k++)
        sum += a[i / N_SIZE * K_SIZE + k] * b[k * N_SIZE + i % N_SIZE];
      if (c[i] != sum)
        return differ ("matrix product", i, c[i], sum, error);
    }
  return TRUE;
}

gboolean
gyre_admit_test_matmul (GyreBench  *bench,
                        GError    **error)
{
  static float a[M_SIZE * K_SIZE], b[K_SIZE * N_SIZE], c[M_SIZE * N_SIZE];
  cl_int m = M_SIZE, n = N_SIZE, k = K_SIZE;
  gsize local[] = { bench->tile, bench->tile };
  gsize global[] = { round_up (N_SIZE, bench->tile), round_up (M_SIZE, bench->tile) };
  cl_mem a_mem, b_mem, c_mem;

  for (guint i = 0; i < G_N_ELEMENTS (a); i++)
    a[i] = draw (i, 7, 20) - 10;
  for (guint i = 0; i < G_N_ELEMENTS (b); i++)
    b[i] = draw (i, 8, 20) - 10;
  if (!(a_mem = put (bench, a, sizeof a, error)) ||
      !(b_mem = put (bench, b, sizeof b, error)) ||
      !(c_mem = put (bench, NULL, sizeof c, error)))
    return FALSE;

  return launch (bench, "gyre_admit_matmul",
                 (Arg[]) { ARG (c_mem), ARG (a_mem), ARG (b_mem), ARG (m), ARG (n),
                           ARG (k) },
                 6, 2, global, local, error) &&
         get (bench, c_mem, c, sizeof c, error) && compare_product (a, b, c, error);
}

/* Copies half of the buffer, and adds one to the other half where it is mapped. */
static gboolean
shuffle_bytes (GyreBench  *bench,
               cl_mem      from,
               cl_mem      to,
               gsize       size,
               GError    **error)
{
  guint32 *mapped;
  cl_int status;

  status = clEnqueueCopyBuffer (bench->queue, from, to, 0, 0, size, 0, NULL, NULL);
  if (!gyre_cl_check (status, error, "clEnqueueCopyBuffer"))
    return FALSE;
  mapped = clEnqueueMapBuffer (bench->queue, to, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                               size / 2, size / 2, 0, NULL, NULL, &status);
  if (!gyre_cl_check (status, error, "clEnqueueMapBuffer"))
    return FALSE;
  for (gsize i = 0; i < size / 2 / sizeof *mapped; i++)
    mapped[i]++;
  status = clEnqueueUnmapMemObject (bench->queue, to, mapped, 0, NULL, NULL);
  return gyre_cl_check (status, error, "clEnqueueUnmapMemObject");
}

gboolean
gyre_admit_test_transfer (GyreBench  *bench,
                          GError    **error)
{
  static guint32 sent[N], got[N];
  cl_mem from, to;
  cl_int status;

  for (guint i = 0; i < N; i++)
    sent[i] = i * 2654435761u;
  if (!(from = put (bench, NULL, sizeof sent, error)) ||
      !(to = put (bench, NULL, sizeof sent, error)))
    return FALSE;
  status = clEnqueueWriteBuffer (bench->queue, from, CL_TRUE, 0, sizeof sent, sent, 0,
                                 NULL, NULL);
  if (!gyre_cl_check (status, error, "clEnqueueWriteBuffer") ||
      !shuffle_bytes (bench, from, to, sizeof sent, error) ||
      !get (bench, to, got, sizeof got, error))
    return FALSE;

  for (guint i = 0; i < N; i++)
    if (got[i] != sent[i] + (i >= N / 2))
      return differ ("copied and mapped u32", i, got[i], sent[i] + (i >= N / 2), error);
  return TRUE;
}
