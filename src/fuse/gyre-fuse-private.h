/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ir/gyre-program-private.h"

G_BEGIN_DECLS

/* Fuses a partitioned program (borrowed) into one whose nodes are inputs, "fused" and
 * "project", views, collectives and primitives with a lower rule.  With GYRE_FUSE=0 in
 * the environment every node is a kernel of its own.  The new program keeps nothing of
 * the old one; whatever copies its nodes keeps it alive. */
GyreProgram *gyre_fuse (GyreProgram  *program,
                        GError      **error);

/* A node that is one generated kernel.  With one result it is that value.  With several
 * it is a tuple that no buffer holds, and nodes of "project" follow it at once, one a
 * result, in order: their ids are its own + 1, + 2, …  The kernel writes their
 * buffers. */
extern const GyrePrim gyre_prim_fused;
extern const GyrePrim gyre_prim_project;

/* 1 for every other primitive than fused */
guint gyre_fused_n_results (const GyreTensor *node);
/* id of the value that holds result i of the node: its own, or a project's */
guint gyre_fused_result_id (const GyreTensor *node,
                            guint             i);
/* Whether a result may be written into the buffer of an operand that is not used
 * afterwards: every element of the operand is read, by the work-item that writes the same
 * element of the result, before any is written; dtype and sharding are equal. */
gboolean gyre_fused_may_overwrite (const GyreTensor *node,
                                   guint             result,
                                   guint             operand);

G_END_DECLS
