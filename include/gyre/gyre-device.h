/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#if !defined (GYRE_INSIDE) && !defined (GYRE_COMPILATION)
#error "Only <gyre/gyre.h> can be included directly."
#endif

#include <gyre/gyre-macros.h>

G_BEGIN_DECLS

/**
 * GyreDeviceKind:
 * @GYRE_DEVICE_CPU: a CPU
 * @GYRE_DEVICE_GPU: a GPU
 * @GYRE_DEVICE_ACCELERATOR: an accelerator, such as an FPGA
 * @GYRE_DEVICE_OTHER: anything else
 *
 * What a device says that it is.
 */
typedef enum
{
  GYRE_DEVICE_CPU,
  GYRE_DEVICE_GPU,
  GYRE_DEVICE_ACCELERATOR,
  GYRE_DEVICE_OTHER
} GyreDeviceKind;

#define GYRE_TYPE_DEVICE_KIND (gyre_device_kind_get_type ())
GYRE_API
GType gyre_device_kind_get_type (void);
GYRE_API
const char *gyre_device_kind_name (GyreDeviceKind kind);

/**
 * GyreDeviceInfo:
 * @platform: the platform's name
 * @name: the device's name
 * @vendor: the device's vendor
 * @driver_version: the driver's version
 * @kind: CPU, GPU, accelerator
 * @compute_units: number of compute units
 * @memory: global memory in bytes
 * @max_allocation: the largest buffer in bytes
 * @local_memory: local memory of a work-group in bytes
 * @has_compiler: whether it compiles kernels from source
 * @unified_memory: whether it shares the host's memory
 * @admitted: whether it passed its self-test
 * @reason: why it is left out, or %NULL where @admitted
 *
 * What is known of a device that need not be open: a line of `gyre devices`.
 */
typedef struct
{
  char          *platform;
  char          *name;
  char          *vendor;
  char          *driver_version;
  GyreDeviceKind kind;
  guint          compute_units;
  guint64        memory;
  guint64        max_allocation;
  guint64        local_memory;
  gboolean       has_compiler;
  gboolean       unified_memory;
  gboolean       admitted;
  char          *reason;
} GyreDeviceInfo;

#define GYRE_TYPE_DEVICE_INFO (gyre_device_info_get_type ())
GYRE_API
GType gyre_device_info_get_type (void);
GYRE_API
GyreDeviceInfo *gyre_device_info_copy (const GyreDeviceInfo *self);
GYRE_API
void gyre_device_info_free (GyreDeviceInfo *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyreDeviceInfo, gyre_device_info_free)

#define GYRE_TYPE_DEVICE (gyre_device_get_type ())
GYRE_API
G_DECLARE_FINAL_TYPE (GyreDevice, gyre_device, GYRE, DEVICE, GObject)

GYRE_API
GPtrArray *gyre_devices_open (const char  *spec,
                              GError     **error);
GYRE_API
GPtrArray *gyre_devices_list (GError **error);
GYRE_API
char **gyre_devices_get_rejected (void);

GYRE_API
const char *gyre_device_get_name (GyreDevice *self);
GYRE_API
const char *gyre_device_get_vendor (GyreDevice *self);
GYRE_API
const char *gyre_device_get_platform (GyreDevice *self);
GYRE_API
const char *gyre_device_get_driver_version (GyreDevice *self);
GYRE_API
GyreDeviceKind gyre_device_get_kind (GyreDevice *self);
GYRE_API
guint gyre_device_get_compute_units (GyreDevice *self);
GYRE_API
guint64 gyre_device_get_memory (GyreDevice *self);
GYRE_API
guint64 gyre_device_get_max_allocation (GyreDevice *self);
GYRE_API
guint64 gyre_device_get_local_memory (GyreDevice *self);
GYRE_API
gboolean gyre_device_get_has_compiler (GyreDevice *self);
GYRE_API
gboolean gyre_device_get_unified_memory (GyreDevice *self);
GYRE_API
double gyre_device_get_share (GyreDevice *self);
GYRE_API
double gyre_device_get_busy (GyreDevice *self);
GYRE_API
guint gyre_device_get_index (GyreDevice *self);
GYRE_API
gboolean gyre_device_is_lost (GyreDevice *self);

G_END_DECLS
