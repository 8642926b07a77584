/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-version.h>

/**
 * gyre_version:
 *
 * The version of the library that runs, which may be newer than the headers
 * that a program was compiled against (`GYRE_VERSION_STRING`).
 *
 * Returns: (transfer none): the version, as "0.1.0"
 */
const char *
gyre_version (void)
{
  return GYRE_VERSION_STRING;
}
