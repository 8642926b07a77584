/* SPDX-License-Identifier: Apache-2.0 */
#include "fft/gyre-fft-plain-private.h"

#include "device/gyre-kernel-private.h"

/* Transforms of any length by the kernels of fft.cl, for any device.  A plan is a list of
 * launches, each from one place to another. */

#define MAX_ARGS   8
#define MAX_LOCAL  64
#define MAX_FACTOR 31    /* a pass of a larger prime costs more than a chirp */

typedef enum
{
  FROM,
  TO,
  SCRATCH_0,
  SCRATCH_1
} Place;

typedef struct
{
  GyreKernel    *kernel;
  Place          from, to;
  guint          n_args;
  GyreKernelArg  args[MAX_ARGS];   /* the first two are set when it is enqueued */
  gsize          global[2], local[2];
} Launch;

typedef struct
{
  GyreFftPlan  base;
  GArray      *launches;   /* Launch */
} Plan;

/* While a plan is made: where the numbers are now. */
typedef struct
{
  Plan        *plan;
  GyreDevice  *device;
  const char  *source;
  Place        now;
  gsize        wanted[4];   /* bytes, by place */
  GError     **error;
  gboolean     failed;
} Maker;

/* Lines of complex numbers: [lines, n, inner] */
typedef struct
{
  gint64 lines, n, inner;
} Lines;

static Place
next_scratch (const Maker *self)
{
  return self->now == SCRATCH_0 ? SCRATCH_1 : SCRATCH_0;
}

/* A few sizes of work-groups where the width allows: some drivers compile a kernel for
 * each size.  0: the driver's choice. */
static gsize
choose_local (gint64 width)
{
  gint64 largest = MIN (width & -width, MAX_LOCAL);

  return largest >= 8 || largest == width ? (gsize) largest : 0;
}

/* Launches a kernel from where the numbers are; they are at to then. */
static void
add_launch (Maker               *self,
            Place                to,
            const char          *kernel,
            const GyreKernelArg *args,
            guint                n_args,
            gint64               width,
            gint64               lines)
{
  Launch launch = { .from = self->now, .to = to, .n_args = 2 + n_args };

  if (self->failed)
    return;

  launch.kernel =
    gyre_device_get_kernel (self->device, self->source, NULL, kernel, self->error);
  self->failed = launch.kernel == NULL;
  for (guint i = 0; i < n_args; i++)
    launch.args[2 + i] = args[i];
  launch.global[0] = (gsize) width;
  launch.global[1] = (gsize) lines;
  launch.local[0] = choose_local (width);
  launch.local[1] = 1;
  g_array_append_val (self->plan->launches, launch);
  self->wanted[to] = MAX (self->wanted[to], (gsize) (width * lines) * 8);
  self->now = to;
}

#define ADD(SELF, TO, KERNEL, WIDTH, LINES, ...)                                         \
  add_launch (SELF, TO, KERNEL, (const GyreKernelArg[]){ __VA_ARGS__ },                  \
              G_N_ELEMENTS (((const GyreKernelArg[]){ __VA_ARGS__ })), WIDTH, LINES)

#define INT(x)  GYRE_I32_ARG ((gint32) (x))
#define FLOAT(x) GYRE_F32_ARG ((float) (x))

static GyreKernelArg
get_table (Maker        *self,
           GyreFftTable  table,
           gint64        n)
{
  GyreBuffer *buffer = NULL;

  if (!self->failed)
    buffer = gyre_fft_get_table (self->device, table, n, self->error);
  self->failed = buffer == NULL;

  return GYRE_BUFFER_ARG (buffer);
}

/* --- passes --- */

/* Of powers of two eights, and fours where no eights are left over. */
static gint64
choose_radix (gint64 n)
{
  int twos = g_bit_nth_lsf ((gulong) n, -1);

  if (twos == 1)
    return 2;
  if (twos > 0)
    return twos % 3 == 0 ? 8 : 4;
  for (gint64 p = 3; p <= MAX_FACTOR; p += 2)
    if (n % p == 0)
      return p;

  return n;
}

static gboolean
has_small_factors (gint64 n)
{
  while (n > 1 && choose_radix (n) <= MAX_FACTOR)
    n /= choose_radix (n);

  return n == 1;
}

/* Radices that have a kernel of their own; the others share one. */
static const char *const radix_kernels[] = {
  [2] = "gyre_fft_radix2", [3] = "gyre_fft_radix3", [4] = "gyre_fft_radix4",
  [5] = "gyre_fft_radix5", [7] = "gyre_fft_radix7", [8] = "gyre_fft_radix8",
};

static void
add_pass (Maker       *self,
          Place        to,
          const Lines *lines,
          gint64       radix,
          gint64       span,
          float        sign)
{
  GyreKernelArg roots = get_table (self, GYRE_FFT_ROOTS, lines->n);
  const char *kernel =
    radix < (gint64) G_N_ELEMENTS (radix_kernels) ? radix_kernels[radix] : NULL;
  gsize bytes = (gsize) (lines->n * lines->inner * lines->lines) * 8;

  if (kernel != NULL)
    ADD (self, to, kernel, lines->n / radix * lines->inner, lines->lines, roots,
         INT (lines->n), INT (lines->inner), INT (span), FLOAT (sign));
  else
    ADD (self, to, "gyre_fft_radix", lines->n * lines->inner, lines->lines, roots,
         INT (lines->n), INT (lines->inner), INT (radix), INT (span), FLOAT (sign));
  self->wanted[to] = MAX (self->wanted[to], bytes);
}

/* The last pass ends at TO where that is asked for; of length 1 there is none. */
static void
add_passes (Maker       *self,
            const Lines *lines,
            float        sign,
            gboolean     last)
{
  for (gint64 span = 1; span < lines->n;)
    {
      gint64 radix = choose_radix (lines->n / span);
      gboolean end = span * radix == lines->n;

      add_pass (self, last && end ? TO : next_scratch (self), lines, radix, span, sign);
      span *= radix;
    }
}

/* As a convolution with the chirp e^(πi j² / n); backward is the conjugate of forward on
 * conjugates. */
static void
add_bluestein (Maker       *self,
               const Lines *lines,
               float        sign,
               gboolean     last)
{
  gint64 n = lines->n, inner = lines->inner;
  Lines wide = { lines->lines, gyre_fft_wide (n), inner };
  GyreKernelArg chirp = get_table (self, GYRE_FFT_CHIRP, n);
  GyreKernelArg spectrum = get_table (self, GYRE_FFT_SPECTRUM, n);

  ADD (self, next_scratch (self), "gyre_fft_chirp", wide.n * inner, wide.lines, chirp,
       INT (n), INT (wide.n), INT (inner), FLOAT (sign));
  add_passes (self, &wide, 1, FALSE);
  ADD (self, next_scratch (self), "gyre_fft_filter", wide.n * inner, wide.lines, spectrum,
       INT (wide.n), INT (inner));
  add_passes (self, &wide, -1, FALSE);
  ADD (self, last ? TO : next_scratch (self), "gyre_fft_dechirp", n * inner, wide.lines,
       chirp, INT (n), INT (wide.n), INT (inner), FLOAT (sign));
}

static void
add_lines (Maker    *self,
           Lines     lines,
           gboolean  backward,
           gboolean  last)
{
  if (has_small_factors (lines.n))
    add_passes (self, &lines, backward ? -1 : 1, last);
  else
    add_bluestein (self, &lines, backward ? -1 : 1, last);
}

/* --- real numbers --- */

static void
add_forward (Maker             *self,
             const GyreFftKind *kind)
{
  gint64 n = kind->n, m = n / 2 + 1, lines = kind->batch * kind->rows;
  gboolean plane = kind->rows > 1;

  if (n % 2 == 0)
    {
      add_lines (self, (Lines){ lines, n / 2, 1 }, FALSE, FALSE);
      ADD (self, plane ? next_scratch (self) : TO, "gyre_fft_unweave", m, lines,
           get_table (self, GYRE_FFT_ROOTS, n), INT (n));
    }
  else
    {
      ADD (self, next_scratch (self), "gyre_fft_widen", n, lines, INT (n));
      add_lines (self, (Lines){ lines, n, 1 }, FALSE, FALSE);
      ADD (self, plane ? next_scratch (self) : TO, "gyre_fft_halve", m, lines, INT (m),
           INT (n));
    }
  if (plane)
    add_lines (self, (Lines){ kind->batch, kind->rows, m }, FALSE, TRUE);
}

static void
add_backward (Maker             *self,
              const GyreFftKind *kind)
{
  gint64 n = kind->n, m = n / 2 + 1, lines = kind->batch * kind->rows;
  double scale = 1.0 / (double) (kind->rows * n);

  if (kind->rows > 1)
    add_lines (self, (Lines){ kind->batch, kind->rows, m }, TRUE, FALSE);
  if (n % 2 == 0)
    {
      ADD (self, n == 2 ? TO : next_scratch (self), "gyre_fft_weave", n / 2, lines,
           get_table (self, GYRE_FFT_ROOTS, n), INT (n), FLOAT (scale));
      add_lines (self, (Lines){ lines, n / 2, 1 }, TRUE, TRUE);
      return;
    }

  ADD (self, next_scratch (self), "gyre_fft_mirror", n, lines, INT (m), INT (n),
       FLOAT (scale));
  add_lines (self, (Lines){ lines, n, 1 }, TRUE, FALSE);
  ADD (self, TO, "gyre_fft_narrow", n, lines, INT (n));
}

/* --- the provider --- */

static gboolean
plain_serves (GyreDevice        *device,
              const GyreFftKind *kind)
{
  return TRUE;
}

static GyreFftPlan *
plain_plan (GyreDevice         *device,
            const GyreFftKind  *kind,
            GError            **error)
{
  g_autofree char *source = gyre_kernel_source_load ("fft.cl", error);
  Maker self = { NULL, device, source, FROM, { 0 }, error, FALSE };
  Plan *plan;

  if (source == NULL)
    return NULL;

  plan = self.plan = g_new0 (Plan, 1);
  plan->launches = g_array_new (FALSE, TRUE, sizeof (Launch));
  if (kind->backward)
    add_backward (&self, kind);
  else
    add_forward (&self, kind);
  plan->base.scratch[0] = self.wanted[SCRATCH_0];
  plan->base.scratch[1] = self.wanted[SCRATCH_1];
  if (!self.failed)
    return &plan->base;

  g_array_unref (plan->launches);
  g_free (plan);
  return NULL;
}

static gboolean
plain_enqueue (const GyreFftPlan   *base,
               GyreBuffer          *from,
               GyreBuffer          *to,
               GyreBuffer *const   *scratch,
               cl_event            *event,
               GError             **error)
{
  const Plan *plan = (const Plan *) base;
  GyreBuffer *const places[] = { from, to, scratch[0], scratch[1] };

  for (guint i = 0; i < plan->launches->len; i++)
    {
      Launch *launch = &g_array_index (plan->launches, Launch, i);
      gboolean last = i + 1 == plan->launches->len;

      launch->args[0] = GYRE_BUFFER_ARG (places[launch->to]);
      launch->args[1] = GYRE_BUFFER_ARG (places[launch->from]);
      if (!gyre_device_launch (base->device, launch->kernel, launch->args, launch->n_args,
                               2, launch->global,
                               launch->local[0] > 0 ? launch->local : NULL, NULL, 0,
                               last ? event : NULL, error))
        return FALSE;
    }

  return TRUE;
}

const GyreFftProvider gyre_fft_plain = {
  "plain", plain_serves, plain_serves, plain_plan, plain_enqueue,
};
