/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "array/gyre-array-private.h"
#include "schedule/gyre-crew-private.h"

#include "ir/gyre-program-private.h"

G_BEGIN_DECLS

/* The commands of a step on all devices of a mesh, in the order in which they are
 * enqueued, with the memory that they use. */
typedef struct _GyreCommands GyreCommands;

/* Where an output is found after a run. */
typedef enum
{
  GYRE_RESULT_INPUT,   /* in the memory of input `index` */
  GYRE_RESULT_FRESH,   /* in the buffer given for it */
  GYRE_RESULT_OUTPUT   /* with output `index` */
} GyreResultKind;

typedef struct
{
  GyreResultKind kind;
  guint          index;
} GyreResult;

/* programs: by device; the same pointer where they are the same.  All stay their
 * owner's, and live as long as the schedule. */
GyreCommands *gyre_commands_new        (GyreMesh            *mesh,
                                        GyreProgram *const  *programs,
                                        GyreCrewTable       *crews,
                                        GError             **error);
/* Not while a run of it is in the hands of the executor. */
void          gyre_commands_free       (GyreCommands        *self);
/* With the shares of now: new sizes, the same kernels.  Waits for the executor to have
 * enqueued what was given to it before. */
gboolean      gyre_commands_update     (GyreCommands        *self,
                                        GError             **error);

guint         gyre_commands_n_inputs   (GyreCommands        *self);
guint         gyre_commands_n_outputs  (GyreCommands        *self);
/* How an input must lie, and an output does, on the devices; spec of an automatic
 * axis. */
GyreLayout   *gyre_commands_get_layout (GyreCommands        *self,
                                        guint                device,
                                        gboolean             output,
                                        guint                i);
/* Bytes of an output on a device. */
gsize         gyre_commands_get_size   (GyreCommands        *self,
                                        guint                device,
                                        gboolean             output,
                                        guint                i);
GyreShape     gyre_commands_get_local  (GyreCommands        *self,
                                        guint                device,
                                        gboolean             output,
                                        guint                i);
GyreResult    gyre_commands_get_result (GyreCommands        *self,
                                        guint                output);
/* Whether a run writes over the input. */
gboolean      gyre_commands_overwrites (GyreCommands        *self,
                                        guint                input);
/* The memory that an input must be in, or NULL: any. (transfer none) */
GyreStore    *gyre_commands_get_home   (GyreCommands        *self,
                                        guint                device,
                                        guint                input,
                                        GError             **error);

/* On the executor thread, before state that lives in buckets is written from outside. */
gboolean      gyre_commands_acquire    (GyreCommands        *self,
                                        GError             **error);
/* On the executor thread.  slots[d]: buffers of the inputs, then of fresh outputs. */
gboolean      gyre_commands_enqueue    (GyreCommands        *self,
                                        GyreBuffer *const  **slots,
                                        GError             **error);
/* A line a command, in the order in which they are enqueued. */
char         *gyre_commands_to_string  (GyreCommands        *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyreCommands, gyre_commands_free)

G_END_DECLS
