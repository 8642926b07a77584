/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#if !defined (GYRE_INSIDE) && !defined (GYRE_COMPILATION)
#error "Only <gyre/gyre.h> can be included directly."
#endif

#include <gyre/gyre-macros.h>

G_BEGIN_DECLS

/**
 * GyreError:
 * @GYRE_ERROR_INVALID: a value, option or argument is not what the call takes
 * @GYRE_ERROR_SHAPE: shapes or dtypes of operands don't fit
 * @GYRE_ERROR_SHARDING: a partition spec or a mesh doesn't fit
 * @GYRE_ERROR_TREE: structures of trees differ, or a path is missing
 * @GYRE_ERROR_SYNTAX: a model line, device string or chain can't be read
 * @GYRE_ERROR_UNKNOWN: no layer, property, optimizer, device… of that name
 * @GYRE_ERROR_FILE: a file is missing, truncated, or not of its format
 * @GYRE_ERROR_DATA: data are out of range, such as a label
 * @GYRE_ERROR_DEVICE: a device, driver or kernel failed
 * @GYRE_ERROR_NO_DEVICE: no usable device, or no OpenCL platform
 * @GYRE_ERROR_BUILD: a kernel does not compile
 * @GYRE_ERROR_MEMORY: a device or the host has too little memory
 * @GYRE_ERROR_PLUGIN: a module can't be loaded
 * @GYRE_ERROR_TRACE: a traced function did something that can't be traced
 * @GYRE_ERROR_DONATED: an array was used after it was donated
 * @GYRE_ERROR_NAN: a value became NaN
 * @GYRE_ERROR_CANCELLED: the run was stopped by its user
 *
 * The causes of what a user, a file, a device or a plugin can do wrong.
 */
typedef enum
{
  GYRE_ERROR_INVALID,
  GYRE_ERROR_SHAPE,
  GYRE_ERROR_SHARDING,
  GYRE_ERROR_TREE,
  GYRE_ERROR_SYNTAX,
  GYRE_ERROR_UNKNOWN,
  GYRE_ERROR_FILE,
  GYRE_ERROR_DATA,
  GYRE_ERROR_DEVICE,
  GYRE_ERROR_NO_DEVICE,
  GYRE_ERROR_BUILD,
  GYRE_ERROR_MEMORY,
  GYRE_ERROR_PLUGIN,
  GYRE_ERROR_TRACE,
  GYRE_ERROR_DONATED,
  GYRE_ERROR_NAN,
  GYRE_ERROR_CANCELLED
} GyreError;

#define GYRE_ERROR (gyre_error_quark ())

GYRE_API
GQuark gyre_error_quark (void);

G_END_DECLS
