/* SPDX-License-Identifier: Apache-2.0 */
#include <CL/cl.h>
#include <stdio.h>

/* A kernel that writes one float past its buffer, on the first device: to see that
 * oclgrind-wrapper.sh fails. */

static const char *source = "kernel void past (global float *y, int n) { y[n] = 1.0f; }";

static void
check (cl_int      status,
       const char *what)
{
  if (status != CL_SUCCESS)
    fprintf (stderr, "%s: %d\n", what, status);
}

int
main (void)
{
  cl_platform_id platform;
  cl_device_id device;
  cl_int status, n = 16;
  size_t global = 1;

  check (clGetPlatformIDs (1, &platform, NULL), "clGetPlatformIDs");
  check (clGetDeviceIDs (platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL),
         "clGetDeviceIDs");

  cl_context context = clCreateContext (NULL, 1, &device, NULL, NULL, &status);
  cl_command_queue queue = clCreateCommandQueue (context, device, 0, &status);
  cl_mem buffer = clCreateBuffer (context, CL_MEM_READ_WRITE, 16 * sizeof (float), NULL,
                                  &status);
  cl_program program = clCreateProgramWithSource (context, 1, &source, NULL, &status);
  check (clBuildProgram (program, 1, &device, "", NULL, NULL), "clBuildProgram");
  cl_kernel kernel = clCreateKernel (program, "past", &status);
  check (status, "clCreateKernel");

  clSetKernelArg (kernel, 0, sizeof buffer, &buffer);
  clSetKernelArg (kernel, 1, sizeof n, &n);
  check (clEnqueueNDRangeKernel (queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL),
         "clEnqueueNDRangeKernel");
  check (clFinish (queue), "clFinish");

  clReleaseKernel (kernel);
  clReleaseProgram (program);
  clReleaseMemObject (buffer);
  clReleaseCommandQueue (queue);
  clReleaseContext (context);
  return 0;
}
