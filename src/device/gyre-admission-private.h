/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "device/gyre-inventory-private.h"

G_BEGIN_DECLS

/* Counted up when the helper tests more, so that old verdicts don't count. */
#define GYRE_ADMIT_VERSION 1

/* Gives each of the entries (not owned) a verdict, and those that are refused a reason
 * in their info.  A helper program opens each device alone and compares it with the
 * host, two at a time; a verdict is kept per driver version.  An error: the helper can't
 * be run, or an environment variable makes no sense. */
gboolean gyre_admission_check (GPtrArray  *entries,
                               GError    **error);

/* The environment's settings. */
typedef enum
{
  GYRE_ADMISSION_CACHED,
  GYRE_ADMISSION_FRESH,
  GYRE_ADMISSION_OFF
} GyreAdmissionMode;

typedef struct
{
  GyreAdmissionMode mode;     /* GYRE_ADMISSION */
  guint             limit;    /* seconds, GYRE_ADMIT_TIMEOUT */
  char             *helper;   /* GYRE_LIBEXEC, or where it was built or installed */
} GyreAdmissionOptions;

/* Runs the helper on the device. */
void gyre_admission_run  (GyreInventoryEntry         *entry,
                          const GyreAdmissionOptions *options,
                          gboolean                   *keep);

/* The verdicts on the disk. */
gboolean gyre_verdict_load (GyreInventoryEntry *entry,
                            guint               limit);
void     gyre_verdict_save (GyreInventoryEntry *entry,
                            guint               limit);

G_END_DECLS
