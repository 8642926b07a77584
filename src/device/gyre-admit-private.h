/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "device/gyre-cl-private.h"

G_BEGIN_DECLS

/* What the helper tests on: one device alone, and the program cl/admit.cl. */
typedef struct
{
  cl_device_id     id;
  cl_context       context;
  cl_command_queue queue;
  cl_program       program;
  gsize            group;   /* a power of two */
  gsize            tile;
} GyreBench;

/* Each compares the device with the host. */
gboolean gyre_admit_test_transfer (GyreBench  *bench,
                                   GError    **error);
gboolean gyre_admit_test_vector   (GyreBench  *bench,
                                   GError    **error);
gboolean gyre_admit_test_reduce   (GyreBench  *bench,
                                   GError    **error);
gboolean gyre_admit_test_matmul   (GyreBench  *bench,
                                   GError    **error);

G_END_DECLS
