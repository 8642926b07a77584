#pragma OPENCL FP_CONTRACT OFF

__kernel void
gyre_fused_square_reduce_sum_sqrt_76c8dd06f4 (
    __global float *restrict partials,
    __global const float *restrict in0,
    const int n0,
    const int n1)
{
  const int w0 = get_global_id (0);

  const int v0 = n0 / 256;
  float m1 = 0x0.0p-126f;
  for (int r2 = 0; r2 < n1; r2++)
  {
    for (int r3 = 0; r3 < v0; r3++)
    {
      const int v4 = r3 * 256 + w0;
      const float v5 = in0[r2 * 777 + v4];
      const float v6 = v5;
      const float v7 = (v6 * v6);
      const float v8 = v7;
      m1 = m1 + v8;
      barrier (CLK_LOCAL_MEM_FENCE);
    }
  }
  const int v9 = w0 < n0 - v0 * 256 ? 1 : 0;
  float m10 = 0x0.0p-126f;
  for (int r11 = 0; r11 < n1; r11++)
  {
    for (int r12 = 0; r12 < v9; r12++)
    {
      const int v13 = (v0 + r12) * 256 + w0;
      const float v14 = in0[r11 * 777 + v13];
      const float v15 = v14;
      const float v16 = (v15 * v15);
      const float v17 = v16;
      m10 = m10 + v17;
    }
  }
  partials[w0] = m1;
  partials[256 + w0] = m10;
}

#pragma OPENCL FP_CONTRACT OFF

__kernel void
gyre_fused_square_reduce_sum_sqrt_c4b55d73e1 (
    __global float *restrict out0,
    __global const float *restrict in0,
    __global const float *restrict partials)
{
  float m0 = 0x0.0p-126f;
  for (int r1 = 0; r1 < 1; r1++)
  {
    for (int r2 = 0; r2 < 512; r2++)
    {
      const float v3 = partials[r2];
      m0 = m0 + v3;
    }
  }
  const float v4 = sqrt (m0);
  out0[0] = v4;
}
