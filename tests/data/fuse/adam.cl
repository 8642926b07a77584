#pragma OPENCL FP_CONTRACT OFF

__kernel void
gyre_fused_div_mul_sub_f2d83af565 (
    __global float *out0,
    __global float *out1,
    __global float *out2,
    __global const float *in0,
    __global const float *in1,
    __global const float *in2,
    __global const float *in3,
    const int n0)
{
  const int i1 = get_global_id (0);

  if (i1 >= n0)
    return;

  const float v0 = in0[i1];
  const float v1 = in1[i1];
  const float v2 = 0x1.ccccccp-1f;
  const float v3 = (v1 * v2);
  const float v4 = in2[i1];
  const float v5 = 0x1.99999ap-4f;
  const float v6 = (v4 * v5);
  const float v7 = (v3 + v6);
  const float v8 = in3[i1];
  const float v9 = 0x1.ff7ceep-1f;
  const float v10 = (v8 * v9);
  const float v11 = v4;
  const float v12 = (v11 * v11);
  const float v13 = 0x1.0624dep-10f;
  const float v14 = (v12 * v13);
  const float v15 = (v10 + v14);
  const float v16 = sqrt (v15);
  const float v17 = 0x1.5798eep-27f;
  const float v18 = (v16 + v17);
  const float v19 = (v7 / v18);
  const float v20 = 0x1.0624dep-10f;
  const float v21 = (v19 * v20);
  const float v22 = (v0 - v21);
  out0[i1] = v22;
  out1[i1] = v15;
  out2[i1] = v7;
}
