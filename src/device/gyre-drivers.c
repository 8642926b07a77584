/* SPDX-License-Identifier: Apache-2.0 */
#include "device/gyre-drivers-private.h"

#include <stddef.h>

/* On a CPU that Intel's runtime does not know ("Unknown host CPU": those of other
 * makers), the integer divisions of its vectorized kernels are wrong.  They are right
 * once it is told an instruction set that the CPU has. */
static const char *
choose_intel_target (void)
{
#if defined (__x86_64__)
  __builtin_cpu_init ();
  if (__builtin_cpu_is ("intel"))
    return NULL;
  if (__builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512bw") &&
      __builtin_cpu_supports ("avx512dq") && __builtin_cpu_supports ("avx512vl") &&
      __builtin_cpu_supports ("avx512cd"))
    return "skx";
  if (__builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma") &&
      __builtin_cpu_supports ("bmi2"))
    return "core-avx2";
  if (__builtin_cpu_supports ("avx"))
    return "corei7-avx";
#endif
  return NULL;
}

void
gyre_drivers_set_environment (void)
{
  const char *target = choose_intel_target ();

  if (target != NULL)
    g_setenv ("CL_CONFIG_CPU_TARGET_ARCH", target, FALSE);
  /* PoCL links its kernels by `ld`, and aborts the program where it doesn't find it */
  g_setenv ("PATH", "/usr/local/bin:/usr/bin:/bin", FALSE);
}
