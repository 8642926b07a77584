/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "device/gyre-inventory-private.h"

G_BEGIN_DECLS

/* A term of a device string, NAME[:INDEX][/PARTS][*COPIES][=SHARE]. */
typedef struct
{
  char  *name;
  int    index;    /* -1: all that match */
  guint  parts;    /* sub-devices, 1: the whole device */
  guint  copies;
  double share;    /* 0 to 1, -1: not fixed */
  guint  column;   /* of its name, from 1 */
} GyreDeviceTerm;

/* Pure: terms of a device string, at least one. */
GPtrArray *gyre_device_spec_parse (const char  *spec,
                                   GError     **error);
/* The entries (not owned) that a term means, in order, at least one. */
GPtrArray *gyre_device_term_match (const GyreDeviceTerm  *self,
                                   GPtrArray             *inventory,
                                   GError               **error);
void       gyre_device_term_free  (GyreDeviceTerm *self);

G_END_DECLS
