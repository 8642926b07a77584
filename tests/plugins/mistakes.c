/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-plugin.h>

/* The mistakes that authors of layers make most: gyre_test_layer () has to find them.
 * All are about y = x², and one sums pairs of it. */

typedef struct
{
  GyreLayer             parent_instance;
  const GyrePluginPrim *prim;
} TestMistake;

static gboolean
infer_like_x (GyreTensor *const  *operands,
              const void         *attrs,
              GyreDtype          *dtype,
              GyreShape          *shape,
              GError            **error)
{
  *dtype = GYRE_F32;
  *shape = gyre_tensor_get_shape (operands[0]);
  return TRUE;
}

/* 2 x dy */
static void
vjp_right (GyreTensor        *y,
           GyreTensor *const *operands,
           const void        *attrs,
           GyreTensor        *dy,
           GyreTensor       **cts)
{
  cts[0] = gyre_mul_scalar (gyre_mul (operands[0], dy), 2);
}

/* The 2 is forgotten. */
static void
vjp_wrong (GyreTensor        *y,
           GyreTensor *const *operands,
           const void        *attrs,
           GyreTensor        *dy,
           GyreTensor       **cts)
{
  cts[0] = gyre_mul (operands[0], dy);
}

static const GyrePluginPrim behind;

/* The right one, by way of a kernel that writes behind the last element */
static void
vjp_of_bounds (GyreTensor        *y,
               GyreTensor *const *operands,
               const void        *attrs,
               GyreTensor        *dy,
               GyreTensor       **cts)
{
  GyreTensor *twice = gyre_mul_scalar (dy, 2);
  GyreTensor *square = gyre_plugin_prim_apply (&behind, &twice, NULL);

  vjp_right (y, operands, attrs, dy, cts);
  cts[0] = gyre_add (cts[0], gyre_mul_scalar (square, 0));
}

/* One column too many, and integers */
static gboolean
infer_wider (GyreTensor *const  *operands,
             const void         *attrs,
             GyreDtype          *dtype,
             GyreShape          *shape,
             GError            **error)
{
  infer_like_x (operands, attrs, dtype, shape, error);
  shape->dims[1]++;
  return TRUE;
}

static gboolean
infer_integer (GyreTensor *const  *operands,
               const void         *attrs,
               GyreDtype          *dtype,
               GyreShape          *shape,
               GError            **error)
{
  infer_like_x (operands, attrs, dtype, shape, error);
  *dtype = GYRE_I32;
  return TRUE;
}

/* All of it in one work-group */
static void
launch_group (GyrePluginLaunch *launch,
              const void       *attrs)
{
  launch->dims = 1;
  launch->global[0] = (gsize) gyre_shape_n_elements (&launch->result);
  launch->local[0] = launch->global[0];
  gyre_plugin_launch_add_int (launch, (gint64) launch->global[0]);
}

/* 2 n x dy */
static void
vjp_of_n (GyreTensor        *y,
          GyreTensor *const *operands,
          const void        *attrs,
          GyreTensor        *dy,
          GyreTensor       **cts)
{
  vjp_right (y, operands, attrs, dy, cts);
  cts[0] = gyre_mul_scalar (cts[0], (double) gyre_tensor_n_elements (y));
}

/* A column of the result for two of x */
static void
launch_pairs (GyrePluginLaunch *launch,
              const void       *attrs)
{
  launch->dims = 1;
  launch->global[0] = (gsize) gyre_shape_n_elements (&launch->result) / 2;
  gyre_plugin_launch_add_int (launch, (gint64) launch->global[0]);
}

#define RESOURCE "/org/gyre/test/mistakes.cl"

static const GyrePluginPrim behind = {
  .name = "mistake-behind", .n_operands = 1, .split = GYRE_PLUGIN_SPLIT_ELEMENTS,
  .resource = RESOURCE, .kernel = "mistake_bounds", .infer = infer_like_x
};

static const GyrePluginPrim prims[] = {
  { .name = "mistake-square", .n_operands = 1, .split = GYRE_PLUGIN_SPLIT_ELEMENTS,
    .resource = RESOURCE, .kernel = "mistake_square", .infer = infer_like_x,
    .vjp = vjp_right },
  { .name = "mistake-width", .n_operands = 1, .split = GYRE_PLUGIN_SPLIT_NONE,
    .resource = RESOURCE, .kernel = "mistake_square", .infer = infer_wider,
    .vjp = vjp_right },
  { .name = "mistake-elements", .n_operands = 1, .split = GYRE_PLUGIN_SPLIT_ELEMENTS,
    .resource = RESOURCE, .kernel = "mistake_square", .infer = infer_wider,
    .vjp = vjp_right },
  { .name = "mistake-dtype", .n_operands = 1, .split = GYRE_PLUGIN_SPLIT_ELEMENTS,
    .resource = RESOURCE, .kernel = "mistake_square", .infer = infer_integer,
    .vjp = vjp_right },
  { .name = "mistake-end", .n_operands = 1, .split = GYRE_PLUGIN_SPLIT_NONE,
    .resource = RESOURCE, .kernel = "mistake_square", .infer = infer_like_x,
    .launch = launch_pairs, .vjp = vjp_right },
  { .name = "mistake-rule", .n_operands = 1, .split = GYRE_PLUGIN_SPLIT_ELEMENTS,
    .resource = RESOURCE, .kernel = "mistake_square", .infer = infer_like_x },
  { .name = "mistake-before", .n_operands = 1, .split = GYRE_PLUGIN_SPLIT_ELEMENTS,
    .resource = RESOURCE, .kernel = "mistake_before", .infer = infer_like_x,
    .vjp = vjp_right },
  { .name = "mistake-read", .n_operands = 1, .split = GYRE_PLUGIN_SPLIT_ELEMENTS,
    .resource = RESOURCE, .kernel = "mistake_read", .infer = infer_like_x,
    .vjp = vjp_right },
  { .name = "mistake-backward", .n_operands = 1, .split = GYRE_PLUGIN_SPLIT_ELEMENTS,
    .resource = RESOURCE, .kernel = "mistake_square", .infer = infer_like_x,
    .vjp = vjp_of_bounds },
  { .name = "mistake-race", .n_operands = 1, .split = GYRE_PLUGIN_SPLIT_ELEMENTS,
    .resource = RESOURCE, .kernel = "mistake_race", .infer = infer_like_x,
    .launch = launch_group, .vjp = vjp_right },
  { .name = "mistake-gradient", .n_operands = 1, .split = GYRE_PLUGIN_SPLIT_ELEMENTS,
    .resource = RESOURCE, .kernel = "mistake_square", .infer = infer_like_x,
    .vjp = vjp_wrong },
  { .name = "mistake-shape", .n_operands = 1, .split = GYRE_PLUGIN_SPLIT_ROWS, .rows = 1,
    .resource = RESOURCE, .kernel = "mistake_pairs", .infer = infer_like_x,
    .launch = launch_pairs, .vjp = vjp_right },
  { .name = "mistake-bounds", .n_operands = 1, .split = GYRE_PLUGIN_SPLIT_ELEMENTS,
    .resource = RESOURCE, .kernel = "mistake_bounds", .infer = infer_like_x,
    .vjp = vjp_right },
  { .name = "mistake-split", .n_operands = 1, .split = GYRE_PLUGIN_SPLIT_ELEMENTS,
    .resource = RESOURCE, .kernel = "mistake_split", .infer = infer_like_x,
    .vjp = vjp_of_n },
};

static GyreTensor *
test_mistake_apply (GyreLayer  *layer,
                    GyreScope  *scope,
                    GyreTensor *x)
{
  const char *name = gyre_layer_get_type_name (layer);

  for (gsize i = 0; i < G_N_ELEMENTS (prims); i++)
    if (g_str_equal (prims[i].name, name))
      return gyre_plugin_prim_apply (&prims[i], &x, NULL);

  return x;
}

static void
test_mistake_class_init (gpointer klass,
                         gpointer data)
{
  GYRE_LAYER_CLASS (klass)->apply = test_mistake_apply;
}

static void
plugin_init (GyrePlugin *plugin)
{
  const GTypeInfo info = {
    .class_size = sizeof (GyreLayerClass),
    .class_init = test_mistake_class_init,
    .instance_size = sizeof (TestMistake)
  };

  for (gsize i = 0; i < G_N_ELEMENTS (prims); i++)
    {
      g_autofree char *type = g_strdup_printf ("TestMistake%u", (guint) i);

      gyre_plugin_add_layer (plugin, prims[i].name, type, &info);
    }
}

GYRE_PLUGIN_DEFINE (test_mistakes, "1.0", "Apache-2.0", plugin_init)
