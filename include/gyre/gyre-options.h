/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#if !defined (GYRE_INSIDE) && !defined (GYRE_COMPILATION)
#error "Only <gyre/gyre.h> can be included directly."
#endif

#include <gyre/gyre-macros.h>

G_BEGIN_DECLS

/**
 * GyreOptions:
 * @devices: `--devices`: a device string for gyre_mesh_open(), or %NULL
 * @mesh: `--mesh`: a layout for gyre_mesh_open(); the option is there only where the
 *   program sets a layout to begin with
 * @seed: `--seed`
 * @entries: (array zero-terminated=1) (nullable): options of the program's own
 *
 * The options that a program which trains usually has. What the program sets before is
 * the default.
 */
typedef struct
{
  const char *devices;
  const char *mesh;
  gint64      seed;

  const GOptionEntry *entries;
} GyreOptions;

/**
 * GyreProgramFunc:
 * @options: what the command line says
 * @error: return location for an error
 *
 * What a program does. Returns: whether it went well
 */
typedef gboolean (*GyreProgramFunc) (const GyreOptions *options,
                                     GError           **error);

/* For a program that parses its command line itself. */
GYRE_API GOptionGroup *gyre_options_new_group (GyreOptions     *self);
/* The whole of main (). */
GYRE_API int           gyre_options_run       (GyreOptions     *self,
                                               int              argc,
                                               char           **argv,
                                               GyreProgramFunc  func);

G_END_DECLS
