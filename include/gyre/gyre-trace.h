/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#if !defined (GYRE_INSIDE) && !defined (GYRE_COMPILATION)
#error "Only <gyre/gyre.h> can be included directly."
#endif

#include <gyre/gyre-tree.h>

G_BEGIN_DECLS

/**
 * GyreStepFunc:
 * @args: the arguments: a dictionary whose leaves are tensors
 * @data: the caller's
 *
 * A function that is traced: called to record what it computes.  What it makes belongs to
 * the trace.
 *
 * Returns: the results, a tree of tensors
 */
typedef GyreTree *(*GyreStepFunc) (GyreTree *args,
                                   gpointer  data);

G_END_DECLS
