/* SPDX-License-Identifier: Apache-2.0 */

/* Hops of a collective: y = x ∘ y, y = x, and the same over a column of chunks, where ∘
 * is +, max or min.  A sum goes in the order of the arguments, the own chunk last:
 * ((x0 ∘ x1) ∘ …) ∘ y; so every kernel here rounds alike.  max and min keep a NaN.
 *
 * Layout: n elements a chunk, dense.  A work-item takes `per` vectors that follow each
 * other; what is left of a vector at the end goes one by one.
 * Global: ceil (n / (per · GYRE_WIDTH)) or more; local: any.
 * Preconditions: chunks don't overlap.  With `members` members (2 to 8), x0 to
 * x[members - 2] count, the others are not touched. */

#pragma OPENCL FP_CONTRACT OFF

#ifndef GYRE_TYPE
#define GYRE_TYPE float   /* float, int, uint */
#endif
#ifndef GYRE_WIDTH
#define GYRE_WIDTH 16     /* 4, 8, 16 */
#endif
#ifndef GYRE_OP
#define GYRE_OP 0         /* 0: sum, 1: max, 2: min */
#endif

#define GYRE_JOIN_(a, b) a##b
#define GYRE_JOIN(a, b)  GYRE_JOIN_ (a, b)

#define GYRE_VECTOR           GYRE_JOIN (GYRE_TYPE, GYRE_WIDTH)
#define GYRE_LOAD(p)          GYRE_JOIN (vload, GYRE_WIDTH) (0, (p) + k)
#define GYRE_STORE(x, p)      GYRE_JOIN (vstore, GYRE_WIDTH) ((x), 0, (p) + k)
#define GYRE_LOAD_ONE(p)      (p)[k]
#define GYRE_STORE_ONE(x, p)  ((p)[k] = (x))

#if GYRE_OP == 0
#define GYRE_COMBINE(a, x) ((a) + (x))
#elif GYRE_OP == 1
#define GYRE_COMBINE(a, x) select ((x), (a), ((a) > (x)) | ((a) != (a)))
#else
#define GYRE_COMBINE(a, x) select ((x), (a), ((a) < (x)) | ((a) != (a)))
#endif

#define GYRE_SWEEP(BODY)                                                     \
  const ulong part = (ulong) per * GYRE_WIDTH;                               \
  ulong k = get_global_id (0) * part;                                        \
  const ulong end = min (k + part, n);                                       \
  for (; k + GYRE_WIDTH <= end; k += GYRE_WIDTH)                             \
    {                                                                        \
      BODY (GYRE_VECTOR, GYRE_LOAD, GYRE_STORE)                              \
    }                                                                        \
  for (; k < end; k++)                                                       \
    {                                                                        \
      BODY (GYRE_TYPE, GYRE_LOAD_ONE, GYRE_STORE_ONE)                        \
    }

#define GYRE_COLUMN(qualifier)                                               \
  qualifier __global GYRE_TYPE *restrict x0,                                 \
  qualifier __global GYRE_TYPE *restrict x1,                                 \
  qualifier __global GYRE_TYPE *restrict x2,                                 \
  qualifier __global GYRE_TYPE *restrict x3,                                 \
  qualifier __global GYRE_TYPE *restrict x4,                                 \
  qualifier __global GYRE_TYPE *restrict x5,                                 \
  qualifier __global GYRE_TYPE *restrict x6

/* A hop of the ring's first half. */
#define GYRE_REDUCE_HOP(T, LOAD, STORE)                                      \
  const T a = LOAD (x);                                                      \
  const T b = LOAD (y);                                                      \
  const T c = GYRE_COMBINE (a, b);                                           \
  STORE (c, y);

__kernel void
gyre_collective_reduce (__global GYRE_TYPE       *restrict y,
                        const __global GYRE_TYPE *restrict x,
                        const ulong                        n,
                        const uint                         per)
{
  GYRE_SWEEP (GYRE_REDUCE_HOP)
}

/* A hop of its second half. */
#define GYRE_COPY_HOP(T, LOAD, STORE)                                        \
  const T a = LOAD (x);                                                      \
  STORE (a, y);

__kernel void
gyre_collective_copy (__global GYRE_TYPE       *restrict y,
                      const __global GYRE_TYPE *restrict x,
                      const ulong                        n,
                      const uint                         per)
{
  GYRE_SWEEP (GYRE_COPY_HOP)
}

#define GYRE_ADD_NEXT(T, LOAD, i, x)                                         \
  if (members > (i) + 1)                                                     \
    {                                                                        \
      const T b = LOAD (x);                                                  \
      a = GYRE_COMBINE (a, b);                                               \
    }

#define GYRE_ADD_COLUMN(T, LOAD)                                             \
  T a = LOAD (x0);                                                           \
  GYRE_ADD_NEXT (T, LOAD, 1, x1)                                             \
  GYRE_ADD_NEXT (T, LOAD, 2, x2)                                             \
  GYRE_ADD_NEXT (T, LOAD, 3, x3)                                             \
  GYRE_ADD_NEXT (T, LOAD, 4, x4)                                             \
  GYRE_ADD_NEXT (T, LOAD, 5, x5)                                             \
  GYRE_ADD_NEXT (T, LOAD, 6, x6)                                             \
  const T own = LOAD (y);                                                    \
  a = GYRE_COMBINE (a, own);

#define GYRE_SPREAD_NEXT(STORE, i, x)                                        \
  if (members > (i) + 1)                                                     \
    STORE (a, x);

#define GYRE_SPREAD_COLUMN(STORE)                                            \
  GYRE_SPREAD_NEXT (STORE, 0, x0)                                            \
  GYRE_SPREAD_NEXT (STORE, 1, x1)                                            \
  GYRE_SPREAD_NEXT (STORE, 2, x2)                                            \
  GYRE_SPREAD_NEXT (STORE, 3, x3)                                            \
  GYRE_SPREAD_NEXT (STORE, 4, x4)                                            \
  GYRE_SPREAD_NEXT (STORE, 5, x5)                                            \
  GYRE_SPREAD_NEXT (STORE, 6, x6)

/* The sum of the column, to the own chunk. */
#define GYRE_REDUCE_COLUMN(T, LOAD, STORE)                                   \
  GYRE_ADD_COLUMN (T, LOAD)                                                  \
  STORE (a, y);

__kernel void
gyre_collective_reduce_column (__global GYRE_TYPE *restrict y,
                               GYRE_COLUMN (const),
                               const ulong                  n,
                               const uint                   per,
                               const uint                   members)
{
  GYRE_SWEEP (GYRE_REDUCE_COLUMN)
}

/* The sum of the column, to all of it. */
#define GYRE_ALL_REDUCE_COLUMN(T, LOAD, STORE)                               \
  GYRE_ADD_COLUMN (T, LOAD)                                                  \
  STORE (a, y);                                                              \
  GYRE_SPREAD_COLUMN (STORE)

__kernel void
gyre_collective_all_reduce_column (__global GYRE_TYPE *restrict y,
                                   GYRE_COLUMN (),
                                   const ulong                  n,
                                   const uint                   per,
                                   const uint                   members)
{
  GYRE_SWEEP (GYRE_ALL_REDUCE_COLUMN)
}

/* The own chunk, to all of the column. */
#define GYRE_COPY_COLUMN(T, LOAD, STORE)                                     \
  const T a = LOAD (y);                                                      \
  GYRE_SPREAD_COLUMN (STORE)

__kernel void
gyre_collective_copy_column (GYRE_COLUMN (),
                             const __global GYRE_TYPE *restrict y,
                             const ulong                        n,
                             const uint                         per,
                             const uint                         members)
{
  GYRE_SWEEP (GYRE_COPY_COLUMN)
}
