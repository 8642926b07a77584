#pragma OPENCL FP_CONTRACT OFF

__kernel void
gyre_fused_square_reduce_sum_f767def58d (
    __global float *restrict out0,
    __global const float *restrict in0,
    const int n0,
    const int n1)
{
  const int w0 = get_global_id (0);
  const int i0 = min (w0, n0 - 1);

  float m0 = 0x0.0p-126f;
  for (int r1 = 0; r1 < n1; r1++)
  {
    const float v2 = in0[r1 * 70 + i0];
    const float v3 = v2;
    const float v4 = (v3 * v3);
    const float v5 = v4;
    m0 = m0 + v5;
    barrier (CLK_LOCAL_MEM_FENCE);
  }
  if (w0 < n0)
  {
    out0[i0] = m0;
  }
}
