/* SPDX-License-Identifier: Apache-2.0 */

/* out[r, j] = sum of update[i, j] over the i where rows[i] = r, added in the order of i.
 *
 * out f32[n, width], zero before; rows i32[count], taken for the nearest of 0 … n - 1;
 * update f32[count, width].  Global size: width by any number of parts; work-item (j, p)
 * adds the rows of the result that are of part p, and nothing is written twice.  Any
 * local size. */

#pragma OPENCL FP_CONTRACT OFF

kernel void
gyre_scatter_add_rows (global float *restrict       out,
                       global const int *restrict   rows,
                       global const float *restrict update,
                       const int                    n,
                       const int                    count,
                       const int                    width)
{
  const int j = (int) get_global_id (0);
  const int part = (int) get_global_id (1);
  const int n_parts = (int) get_global_size (1);
  const int size = (n + n_parts - 1) / n_parts;
  const int first = part * size;
  const int end = min (first + size, n);

  for (int i = 0; i < count; i++)
    {
      const int row = clamp (rows[i], 0, n - 1);

      if (row >= first && row < end)
        out[(size_t) row * width + j] += update[(size_t) i * width + j];
    }
}
