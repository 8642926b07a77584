/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#if !defined (GYRE_INSIDE) && !defined (GYRE_COMPILATION)
#error "Only <gyre/gyre.h> can be included directly."
#endif

#include <gyre/gyre-types.h>

G_BEGIN_DECLS

#define GYRE_PLUGIN_MAX_OPERANDS 8
#define GYRE_PLUGIN_MAX_NUMBERS  24

/**
 * GyrePluginSplit:
 * @GYRE_PLUGIN_SPLIT_NONE: it needs all of its operands: each device has them whole
 * @GYRE_PLUGIN_SPLIT_ROWS: row i of the result needs rows i of the operands in the mask
 *   rows, and the other operands whole
 * @GYRE_PLUGIN_SPLIT_ELEMENTS: the operands have the result's shape, and element i of it
 *   needs elements i of them alone
 *
 * How the devices of a mesh share the work of a primitive.
 */
typedef enum
{
  GYRE_PLUGIN_SPLIT_NONE,
  GYRE_PLUGIN_SPLIT_ROWS,
  GYRE_PLUGIN_SPLIT_ELEMENTS
} GyrePluginSplit;

/**
 * GyrePluginNumbers:
 * @dtype: its dtype
 * @shape: its shape
 * @data: its elements, row-major, whatever the dtype
 *
 * A value on the host, as reference rules see it.
 */
typedef struct
{
  GyreDtype dtype;
  GyreShape shape;
  double   *data;
} GyrePluginNumbers;

/**
 * GyrePluginLaunch:
 * @result: the shape of what this device makes
 * @operands: the shapes of what it has of the operands
 * @dims: of the range, 1 to 3; set by the launch rule
 * @global: how many work-items; set by the launch rule
 * @local: how many in a work-group; 0: as the driver likes
 *
 * One launch of a primitive's kernel on one device. The kernel's arguments are the
 * result, the operands, and the numbers that gyre_plugin_launch_add_int() and
 * gyre_plugin_launch_add_float() append.
 */
typedef struct
{
  GyreShape result;
  GyreShape operands[GYRE_PLUGIN_MAX_OPERANDS];
  guint     dims;
  gsize     global[3];
  gsize     local[3];

  /*< private >*/
  guint     n_numbers;
  gboolean  is_float[GYRE_PLUGIN_MAX_NUMBERS];
  gint32    ints[GYRE_PLUGIN_MAX_NUMBERS];
  float     floats[GYRE_PLUGIN_MAX_NUMBERS];
} GyrePluginLaunch;

/**
 * GyrePluginPrim:
 * @name: for messages and dumps, "swish2"
 * @n_operands: how many it has, 1 to 8
 * @attrs_size: of its attributes, a plain struct without pointers and with zeroed
 *   padding; 0: none
 * @split: how it is shared by devices
 * @rows: %GYRE_PLUGIN_SPLIT_ROWS: bit i: operand i is cut by rows with the result
 * @resource: the file of its kernel among the resources of the plugin
 * @kernel: the kernel in it
 * @flops: floating point operations an element of the result
 * @infer: sets the dtype and shape of the result, or %FALSE and an error that names the
 *   operand, its shape, and what would be right
 * @launch: sets the range and appends numbers; %NULL: one work-item an element of the
 *   result, and their number as the only number (int)
 * @vjp: sets cts[i] to the cotangent of operand i, built of gyre_mul() and its kin or of
 *   other primitives; %NULL where it is zero. No rule: it has no gradient
 * @reference: the same result in double on the host; %NULL: the interpreter can't run it
 *
 * A primitive of a plugin's own: a kernel, and the rules that Gyre needs to differentiate
 * it and to share it among devices. It has to be static.
 */
typedef struct _GyrePluginPrim GyrePluginPrim;

struct _GyrePluginPrim
{
  const char     *name;
  guint           n_operands;
  gsize           attrs_size;
  GyrePluginSplit split;
  guint32         rows;
  const char     *resource;
  const char     *kernel;
  double          flops;

  gboolean (*infer)     (GyreTensor *const       *operands,
                         const void              *attrs,
                         GyreDtype               *dtype,
                         GyreShape               *shape,
                         GError                 **error);
  void     (*launch)    (GyrePluginLaunch        *launch,
                         const void              *attrs);
  void     (*vjp)       (GyreTensor              *result,
                         GyreTensor *const       *operands,
                         const void              *attrs,
                         GyreTensor              *ct,
                         GyreTensor             **cts);
  void     (*reference) (const GyrePluginNumbers *operands,
                         const void              *attrs,
                         GyrePluginNumbers       *result);

  gpointer padding[8];
};

/* Traces it: what a layer's apply calls. */
GYRE_API GyreTensor *gyre_plugin_prim_apply       (const GyrePluginPrim *self,
                                                   GyreTensor *const    *operands,
                                                   const void           *attrs);
/* For launch rules. */
GYRE_API void        gyre_plugin_launch_add_int   (GyrePluginLaunch     *self,
                                                   gint64                value);
GYRE_API void        gyre_plugin_launch_add_float (GyrePluginLaunch     *self,
                                                   double                value);

G_END_DECLS
