/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "schedule/gyre-line-private.h"

G_BEGIN_DECLS

/* Makes bound commands of lowered ones: kernels are looked up, values become buffers. */
typedef struct
{
  GyreLine            *line;
  const GyreMeshSpec  *mesh;
  GyreLine *const     *lines;
  guint                n_inputs;
  GError             **error;
} GyreBinder;

/* The arguments of bound commands stay where they are: patches point at them only once
 * all are there. */
typedef struct
{
  guint bound;
  guint arg;
  guint slot;
} GyreWish;

/* Returns its index. */
guint       gyre_binder_add         (GyreBinder       *self,
                                     const GyreBound  *bound);
/* Sets the arg-th buffer of a command: now, or by a wish where it differs from run to
 * run. */
gboolean    gyre_binder_set_value   (GyreBinder       *self,
                                     guint             bound,
                                     guint             arg,
                                     guint             id,
                                     GArray           *wishes);
GyreKernel *gyre_binder_find_kernel (GyreBinder       *self,
                                     const GyreLaunch *launch);
gboolean    gyre_binder_add_between (GyreBinder       *self,
                                     GArray           *wishes);

G_END_DECLS
