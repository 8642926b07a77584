/* SPDX-License-Identifier: Apache-2.0 */
#include "shared.clh"
  #include "nested.clh"

__kernel void
f (__global int *y)
{
  y[0] = 1;
}
