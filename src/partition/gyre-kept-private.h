/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ir/gyre-program-private.h"

G_BEGIN_DECLS

/* State in parts over an axis of the data.
 *  gathered  by node id: of an input, the axes to gather before its use outside of an
 *            update
 *  specs     by node id: how a node of an update lies, as the state that it makes; NULL
 *            outside of one */
typedef struct
{
  guint8          *gathered;
  const GyreSpec **specs;
} GyreKept;

/* inputs: by input; donated: by output, the input that it takes over, or -1; either may
 * be NULL: then there is no such state. */
GyreKept *gyre_kept_new  (const GyreGraph *graph,
                          const GyreSpec  *inputs,
                          const int       *donated);
void      gyre_kept_free (GyreKept        *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyreKept, gyre_kept_free)

G_END_DECLS
