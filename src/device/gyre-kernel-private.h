/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "device/gyre-buffer-private.h"

G_BEGIN_DECLS

/* A kernel object of one device, with the arguments that were set last. */
typedef struct _GyreKernel GyreKernel;

typedef enum
{
  GYRE_ARG_BUFFER,
  GYRE_ARG_I32,
  GYRE_ARG_U32,
  GYRE_ARG_F32,
  GYRE_ARG_I64,
  GYRE_ARG_U64,
  GYRE_ARG_LOCAL    /* bytes of local memory */
} GyreArgKind;

typedef struct
{
  GyreArgKind kind;
  union
  {
    GyreBuffer *buffer;
    gint32      i32;
    guint32     u32;
    float       f32;
    gint64      i64;
    guint64     u64;
    gsize       local;
  } value;
} GyreKernelArg;

#define GYRE_BUFFER_ARG(b) ((GyreKernelArg) { GYRE_ARG_BUFFER, { .buffer = (b) } })
#define GYRE_I32_ARG(v)    ((GyreKernelArg) { GYRE_ARG_I32, { .i32 = (v) } })
#define GYRE_U32_ARG(v)    ((GyreKernelArg) { GYRE_ARG_U32, { .u32 = (v) } })
#define GYRE_F32_ARG(v)    ((GyreKernelArg) { GYRE_ARG_F32, { .f32 = (v) } })
#define GYRE_I64_ARG(v)    ((GyreKernelArg) { GYRE_ARG_I64, { .i64 = (v) } })
#define GYRE_U64_ARG(v)    ((GyreKernelArg) { GYRE_ARG_U64, { .u64 = (v) } })
#define GYRE_LOCAL_ARG(n)  ((GyreKernelArg) { GYRE_ARG_LOCAL, { .local = (n) } })

/* The kernel's text: /org/gyre/cl/NAME of the resources, with each line
 * #include "x.clh" replaced by the text of /org/gyre/cl/x.clh, once.  A name that
 * begins with '/' is a full resource path, and its includes are looked for beside it
 * first. */
char       *gyre_kernel_source_load (const char  *name,
                                     GError     **error);

/* Any thread.  The kernel is the device's, for as long as that lives; the same
 * arguments give the same kernel.  Programs are shared by the devices that have the
 * cl_device_id and the context in common, and are kept on disk as binaries.  The
 * compiler's log is in the error. */
GyreKernel *gyre_device_get_kernel  (GyreDevice  *device,
                                     const char  *source,
                                     const char  *options,
                                     const char  *name,
                                     GError     **error);
const char *gyre_kernel_get_name           (const GyreKernel *self);
cl_kernel   gyre_kernel_get_object         (const GyreKernel *self);
/* CL_KERNEL_WORK_GROUP_SIZE on its device. */
gsize       gyre_kernel_get_max_work_group (const GyreKernel *self);

/* On the executor thread.  Sets those arguments that differ from the last launch's,
 * and enqueues.  Nothing is allocated.  local may be NULL.  Where an extent is 0
 * nothing is launched: an event that is asked for is a marker's. */
gboolean    gyre_device_launch (GyreDevice           *device,
                                GyreKernel           *kernel,
                                const GyreKernelArg  *args,
                                guint                 n_args,
                                guint                 dims,
                                const gsize          *global,
                                const gsize          *local,
                                const cl_event       *wait,
                                guint                 n_wait,
                                cl_event             *event,
                                GError              **error);

/* Since the process began. */
typedef struct
{
  guint programs_built;    /* by a compiler */
  guint programs_loaded;   /* from the disk */
  guint kernels_created;
  guint launches;
} GyreKernelStats;

GyreKernelStats gyre_kernel_get_stats (void);

G_END_DECLS
