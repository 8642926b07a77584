/* SPDX-License-Identifier: Apache-2.0 */
#include "nn/gyre-container-private.h"

#include "ir/gyre-graph-private.h"
#include "nn/gyre-scope-private.h"

/* repeat times=N ( … ): the layers inside, N times one after the other, each time with
 * parameters of their own: "repeat_0/0/dense_0/kernel", "repeat_0/1/dense_0/kernel". */
struct _GyreRepeat
{
  GyreContainer parent_instance;
  gint64        times;
};

G_DEFINE_FINAL_TYPE (GyreRepeat, gyre_repeat, GYRE_TYPE_CONTAINER)

static GyreTensor *
gyre_repeat_apply (GyreLayer  *layer,
                   GyreScope  *scope,
                   GyreTensor *x)
{
  GyreRepeat *self = GYRE_REPEAT (layer);

  for (gint64 i = 0; i < self->times; i++)
    {
      g_autofree char *name = g_strdup_printf ("%" G_GINT64_FORMAT, i);
      GyreScope *copy = gyre_scope_enter_part (scope, name);

      x = gyre_container_apply_chain (GYRE_CONTAINER (self), copy, x);
    }

  return x;
}

static void
gyre_repeat_class_init (GyreRepeatClass *klass)
{
  GyreLayerClass *layer_class = GYRE_LAYER_CLASS (klass);

  layer_class->apply = gyre_repeat_apply;
  gyre_layer_class_add_int (layer_class, "times", "How often",
                            G_STRUCT_OFFSET (GyreRepeat, times), 1, 10000, 1);
  gyre_layer_class_require (layer_class, "times");
}

static void
gyre_repeat_init (GyreRepeat *self)
{
}
