/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/gyre-tool-private.h"

int
main (int    argc,
      char **argv)
{
  return gyre_tool_main (argc, argv);
}
