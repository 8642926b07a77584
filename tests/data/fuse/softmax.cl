#pragma OPENCL FP_CONTRACT OFF

__kernel void
gyre_fused_reduce_max_35790c7692 (
    __global float *restrict out0,
    __global const float *restrict in0,
    const int n0,
    const int n1)
{
  const int i0 = get_global_id (0);

  if (i0 >= n0)
    return;

  float m0 = (-INFINITY);
  for (int r1 = 0; r1 < n1; r1++)
  {
    const float v2 = in0[i0 * 10 + r1];
    const float v3 = v2;
    m0 = m0 > v3 || m0 != m0 ? m0 : v3;
  }
  out0[i0] = m0;
}

#pragma OPENCL FP_CONTRACT OFF

__kernel void
gyre_fused_exp_reduce_sum_log_071d7170a2 (
    __global float *out0,
    __global const float *restrict in0,
    __global const float *in1,
    const int n0,
    const int n1)
{
  const int i0 = get_global_id (0);

  if (i0 >= n0)
    return;

  float m0 = 0x0.0p-126f;
  for (int r1 = 0; r1 < n1; r1++)
  {
    const float v2 = in0[i0 * 10 + r1];
    const float v3 = in1[i0];
    const float v4 = (v2 - v3);
    const float v5 = exp (v4);
    const float v6 = v5;
    m0 = m0 + v6;
  }
  const float v7 = log (m0);
  out0[i0] = v7;
}

#pragma OPENCL FP_CONTRACT OFF

__kernel void
gyre_fused_sub_broadcast_in_dim_sub_9e094b1e65 (
    __global float *out0,
    __global const float *in0,
    __global const float *restrict in1,
    __global const float *restrict in2,
    const int n0,
    const int n1)
{
  const int i1 = get_global_id (0);
  const int i0 = get_global_id (1);

  if (i1 >= n0 || i0 >= n1)
    return;

  const float v0 = in0[i0 * 10 + i1];
  const float v1 = in1[i0];
  const float v2 = (v0 - v1);
  const float v3 = in2[i0];
  const float v4 = (v2 - v3);
  out0[i0 * 10 + i1] = v4;
}
