/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#if !defined (GYRE_INSIDE) && !defined (GYRE_COMPILATION)
#error "Only <gyre/gyre.h> can be included directly."
#endif

#include <gyre/gyre-array.h>
#include <gyre/gyre-mesh.h>
#include <gyre/gyre-trace.h>
#include <gyre/gyre-tree.h>

G_BEGIN_DECLS

#define GYRE_TYPE_STEP (gyre_step_get_type ())

/**
 * GyreStep:
 *
 * A compiled function from a tree of arguments to a tree of results.  It is traced once
 * for each distinct set of shapes; gyre_step_run () enqueues it and returns: it waits for
 * the run before the last and for nothing else.
 */
GYRE_API
G_DECLARE_FINAL_TYPE (GyreStep, gyre_step, GYRE, STEP, GObject)

/* func is written as if for one device and sees global shapes.  shardings: for the
 * entries of the arguments by path prefix, "state=, batch=data" (an entry that isn't
 * named is replicated; specs as in gyre_sharding_new ()). donate: comma-separated names
 * of entries whose buffers the results may take over, e.g. "state". data: passed to
 * func. */
GYRE_API GyreStep *gyre_step_jit  (GyreStepFunc func, GyreMesh *mesh,
                                   const char *shardings, const char *donate,
                                   gpointer data, GDestroyNotify destroy, GError **error);
/* func sees one device's share; axis is the manual axis' name. Entries named in broadcast
 * have no leading device dimension; all others have (or, for the entries named in ragged,
 * their leading dimension is cut among the devices by share). Results get one. */
GYRE_API GyreStep *gyre_step_pmap (GyreStepFunc func, GyreMesh *mesh, const char *axis,
                                   const char *broadcast, const char *ragged,
                                   const char *donate, gpointer data,
                                   GDestroyNotify destroy, GError **error);
/* args: a dictionary. (transfer full) */
GYRE_API GyreTree *gyre_step_run_tree (GyreStep *self, GyreTree *args, GError **error);
/* gyre_step_run (step, &error, GYRE_NODE_ENTRY ("state", state), GYRE_TREE_ENTRY
 * ("batch", batch), NULL) */
GYRE_API GyreTree *gyre_step_run      (GyreStep *self, GError **error,
                                       ...) G_GNUC_NULL_TERMINATED;
/* Waits until all runs are done; the error of the first that failed. */
GYRE_API gboolean  gyre_step_wait     (GyreStep *self, GError **error);
/* what: "graph", "program" or "schedule"; of the shapes that ran last. (transfer full) */
GYRE_API char     *gyre_step_describe (GyreStep *self, const char *what);
GYRE_API guint     gyre_step_get_n_traces (GyreStep *self);

G_END_DECLS
