/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ir/gyre-program-private.h"

#include "device/gyre-device-private.h"

G_BEGIN_DECLS

/* Runs a program on one device, for all members of its mesh in turn; collectives and
 * matrix products on the host.  Inputs and outputs are whole arrays: each member is given
 * its part, and what the members make is put together (summed where it is a partial sum).
 * Buffers are filled with NaN before, so that what no kernel writes is seen.  Returns the
 * number of launches of all members. */
guint gyre_check_run_program (GyreProgram   *program,
                              GyreDevice    *device,
                              const GyreRef *inputs,
                              GyreRef       *outputs);

/* The same, lowered for a device of these abilities. */
guint gyre_check_run_program_as (GyreProgram      *program,
                                 GyreDevice       *device,
                                 const GyreTarget *target,
                                 const GyreRef    *inputs,
                                 GyreRef          *outputs);

/* An array of the values f32 exact: multiples of 1/64 in [low, high), always the same. */
GyreRef gyre_check_make_ref  (GyreDtype        dtype,
                              const GyreShape *shape,
                              double           low,
                              double           high,
                              guint32          seed);

G_END_DECLS
