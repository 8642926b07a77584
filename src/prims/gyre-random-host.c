/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-random-host-private.h"

#include "../../cl/random.clh"

/* Coefficients by M. Giles, Approximating the erfinv function, 2010, table 5: the highest
 * power first, for w = -ln (1 - x²) below 5 and from 5. */
static const double near_coefficients[] = {
  2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
  -0.00125372503, -0.00417768164, 0.246640727, 1.50140941,
};
static const double far_coefficients[] = {
  -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
  -0.0076224613, 0.00943887047, 1.00167406, 2.83297682,
};

double
gyre_erf_inv_double (double x)
{
  double w = -log1p (-x * x), p;
  const double *coefficients = w < 5 ? near_coefficients : far_coefficients;

  if (fabs (x) == 1)
    return x * INFINITY;

  w = w < 5 ? w - 2.5 : sqrt (w) - 3;
  p = coefficients[0];
  for (guint i = 1; i < G_N_ELEMENTS (near_coefficients); i++)
    p = coefficients[i] + p * w;

  return p * x;
}

float
gyre_uniform_float (guint32 bits,
                    float   low,
                    float   span)
{
  return gyre_uniform_between (bits, low, span);
}
