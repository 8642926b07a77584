/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ir/gyre-graph-private.h"
#include "ir/gyre-spec-private.h"

G_BEGIN_DECLS

/* What a program does on one device, as plain structs: no OpenCL here.  Commands name
 * values by node id; the plan says where each lies.  Lowering is run again with other
 * local shapes when shares change: it is cheap, compiles nothing, and must emit the same
 * kernels. */

typedef enum
{
  GYRE_COMMAND_ARG_VALUE,    /* a value's buffer */
  GYRE_COMMAND_ARG_TEMP,     /* scratch of this node: index into its temps */
  GYRE_COMMAND_ARG_INT,
  GYRE_COMMAND_ARG_FLOAT
} GyreCommandArgKind;

typedef struct
{
  GyreCommandArgKind kind;
  gboolean    written;   /* VALUE, TEMP: the command writes it */
  union
  {
    guint  value;        /* node id, or temp index */
    gint32 i;
    float  f;
  };
} GyreCommandArg;

typedef struct
{
  const char    *source;    /* OpenCL C text, or NULL: the resource */
  const char    *resource;  /* "gemm.cl" in cl/, or a full resource path of a plugin */
  const char    *options;   /* build options, or NULL */
  const char    *kernel;
  guint          n_args;
  const GyreCommandArg *args;
  guint          dims;
  gsize          global[3];
  gsize          local[3];  /* all 0: the driver's choice */
} GyreLaunch;

enum
{
  GYRE_GEMM_TEMP_A = 1 << 0,
  GYRE_GEMM_TEMP_B = 1 << 1,
  GYRE_GEMM_TEMP_C = 1 << 2
};

/* C[b] = alpha · op(A[b]) · op(B[b]) + beta · C[b], row-major, f32; strides in elements.
 * k = 0 fills C with beta · C; m, n or batch = 0 is nothing. */
typedef struct
{
  guint    a, b, c;         /* values, or scratch of the node where temps says so */
  guint    temps;           /* mask of GYRE_GEMM_TEMP_… */
  gint64   m, n, k, batch;
  gboolean trans_a, trans_b;
  gint64   lda, ldb, ldc;
  gint64   stride_a, stride_b, stride_c;
  gint64   first_a, first_b, first_c;   /* elements before the first matrix */
  float    alpha, beta;
} GyreGemm;

/* A transform of real numbers, or back to them, of batch rows · n each: to a spectrum
 * c64[batch, rows, n / 2 + 1], unscaled, or from it, divided by rows · n.  from and to
 * are values or scratch of the node.  A batch of 0 is nothing. */
typedef struct
{
  GyreCommandArg from, to;
  gint64         batch, rows, n;
  gboolean       backward;
} GyreFftOp;

typedef enum
{
  GYRE_COLLECTIVE_ALL_REDUCE,
  GYRE_COLLECTIVE_REDUCE_SCATTER,   /* flat: chunk i becomes whole on member i */
  GYRE_COLLECTIVE_ALL_GATHER,
  GYRE_COLLECTIVE_ALL_TO_ALL,       /* row m of member k becomes row k of member m */
  GYRE_COLLECTIVE_PERMUTE           /* members get whole values of each other */
} GyreCollectiveKind;

typedef enum
{
  GYRE_REDUCE_SUM,
  GYRE_REDUCE_MAX,
  GYRE_REDUCE_MIN
} GyreReduceOp;

typedef struct
{
  GyreCollectiveKind kind;
  GyreReduceOp       op;
  guint8             axes;    /* mask of mesh axes: members that differ in these alone */
  int                dim;     /* dimension that is scattered or gathered; -1: flat */
  guint              in, out; /* values */
  guint order; /* what it is matched by on members that were traced apart; 0:
                                 by its place */
  const guint8      *sources; /* permute: by member, or GYRE_NO_SOURCE: zeros */
} GyreCollectiveOp;

#define GYRE_NO_SOURCE 255

typedef enum
{
  GYRE_COMMAND_LAUNCH,
  GYRE_COMMAND_GEMM,
  GYRE_COMMAND_FFT,
  GYRE_COMMAND_FILL,
  GYRE_COMMAND_COPY,
  GYRE_COMMAND_COLLECTIVE
} GyreCommandKind;

typedef struct
{
  GyreCommandKind   kind;
  const GyreTensor *node;    /* for messages and profiles */
  const char       *variant; /* which of several ways to compute the node, or NULL */
  union
  {
    GyreLaunch       launch;
    GyreGemm         gemm;
    GyreFftOp        fft;
    struct { guint value; float pattern; gint64 count; } fill;         /* f32 or 32-bit */
    struct { guint from, to; gint64 from_first, to_first, bytes; } copy; /* in bytes */
    GyreCollectiveOp collective;
  };
} GyreCommand;

/* What a lower rule is told of its device. */
typedef struct
{
  gboolean cpu;                 /* work-groups of one work-item are best */
  gsize    max_work_group;
  gsize    local_memory;        /* bytes */
  guint    compute_units;
  gsize    memory;              /* bytes; 0: not known */
  gsize    max_allocation;      /* bytes of one buffer; 0: not known */
} GyreTarget;

typedef struct
{
  const GyreGraph    *graph;
  const GyreMeshSpec *mesh;
  const GyreSpec     *specs;    /* by node id */
  guint               device;
  const GyreTarget   *target;
  GyreArena          *arena;    /* of the command list: what commands point to */
  GArray             *commands; /* GyreCommand */
  GArray             *temps;    /* gsize: bytes of the node's scratch buffers */
  /* flat boundaries, by node id, [n_devices + 1], for specs with flat; set by the plan */
  gint64           *(*flat_bounds) (gpointer data, guint id);
  gpointer            data;
  /* Named with the commands that follow; a static string, or NULL. */
  const char         *variant;
} GyreLower;

/* What the device holds; of a value that is split flat, one dimension. */
void  gyre_lower_local_shape (const GyreLower *self, const GyreTensor *value,
                              GyreShape *local, gint64 *offsets /* or NULL */);
/* Copies the arguments; strings are kept: static ones, or of the arena.  A launch of
 * zero extent stays in the list, and is skipped when it is run. */
void  gyre_lower_launch      (GyreLower *self, const GyreTensor *node,
                              const GyreLaunch *launch);
void  gyre_lower_gemm        (GyreLower *self, const GyreTensor *node,
                              const GyreGemm *gemm);
void  gyre_lower_fft         (GyreLower *self, const GyreTensor *node,
                              const GyreFftOp *fft);
void  gyre_lower_fill        (GyreLower *self, const GyreTensor *node, guint value,
                              float pattern, gint64 count);
void  gyre_lower_copy        (GyreLower *self, const GyreTensor *node, guint from,
                              gint64 from_first, guint to, gint64 to_first, gint64 bytes);
void  gyre_lower_collective  (GyreLower *self, const GyreTensor *node,
                              const GyreCollectiveOp *op);
/* Scratch for this node alone; returns its index for GYRE_COMMAND_ARG_TEMP. */
guint gyre_lower_temp        (GyreLower *self, gsize bytes);

#define GYRE_READ(id) \
  ((GyreCommandArg) { GYRE_COMMAND_ARG_VALUE, FALSE, { .value = (id) } })
#define GYRE_WRITE(id) \
  ((GyreCommandArg) { GYRE_COMMAND_ARG_VALUE, TRUE, { .value = (id) } })
#define GYRE_INT(x) \
  ((GyreCommandArg) { GYRE_COMMAND_ARG_INT, FALSE, { .i = (gint32) (x) } })
#define GYRE_FLOAT(x) \
  ((GyreCommandArg) { GYRE_COMMAND_ARG_FLOAT, FALSE, { .f = (float) (x) } })
/* scratch of the node itself */
#define GYRE_TEMP(i) \
  ((GyreCommandArg) { GYRE_COMMAND_ARG_TEMP, TRUE, { .value = (i) } })

G_END_DECLS
