#pragma OPENCL FP_CONTRACT OFF

__kernel void
gyre_fused_greater_select_max_45ba5a2ca5 (
    __global float *out0,
    __global float *out1,
    __global const float *in0,
    __global const float *restrict in1,
    __global const float *in2,
    const int n0,
    const int n1)
{
  const int i1 = get_global_id (0);
  const int i0 = get_global_id (1);

  if (i1 >= n0 || i0 >= n1)
    return;

  const float v0 = in0[i0 * 4 + i1];
  const float v1 = in1[i1];
  const float v2 = (v0 + v1);
  const float v3 = 0x0.0p-126f;
  const uchar v4 = ((uchar) (v2 > v3));
  const float v5 = in2[i0 * 4 + i1];
  const float v6 = (v4 ? v5 : v3);
  const float v7 = v2;
  const float v8 = v3;
  const float v9 = (v7 > v8 || v7 != v7 ? v7 : v8);
  out0[i0 * 4 + i1] = v6;
  out1[i0 * 4 + i1] = v9;
}
