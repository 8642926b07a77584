/* SPDX-License-Identifier: Apache-2.0 */
/* Puts one member's block into the whole array after a gather over any dimension, and,
 * packed, out of the whole before a scatter:
 *
 *   out[i, first + j] = in[in_first + i · inner + j]
 *   out[out_first + i · inner + j] = in[i, first + j]
 *
 * layout: a block in rows of inner elements one after the other; the whole in rows of
 * stride elements
 * global: (inner, rows); local: any
 * preconditions: first + inner <= stride
 */

__kernel void
gyre_blocks_unpack_word (__global uint *restrict out,
                         __global const uint *restrict in,
                         int inner,
                         int stride,
                         int first,
                         int in_first)
{
  int j = get_global_id (0), i = get_global_id (1);

  out[i * stride + first + j] = in[in_first + i * inner + j];
}

__kernel void
gyre_blocks_unpack_byte (__global uchar *restrict out,
                         __global const uchar *restrict in,
                         int inner,
                         int stride,
                         int first,
                         int in_first)
{
  int j = get_global_id (0), i = get_global_id (1);

  out[i * stride + first + j] = in[in_first + i * inner + j];
}

__kernel void
gyre_blocks_pack_word (__global uint *restrict out,
                       __global const uint *restrict in,
                       int inner,
                       int stride,
                       int first,
                       int out_first)
{
  int j = get_global_id (0), i = get_global_id (1);

  out[out_first + i * inner + j] = in[i * stride + first + j];
}
