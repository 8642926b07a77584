/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-plugin.h>

/* One of each kind that a plugin may add. */

#define TEST_TYPE_TWICE (test_twice_get_type ())
G_DECLARE_FINAL_TYPE (TestTwice, test_twice, TEST, TWICE, GyreLayer)

struct _TestTwice
{
  GyreLayer parent_instance;
};

GYRE_DEFINE_LAYER (TestTwice, test_twice)

static gboolean
infer (GyreTensor *const  *operands,
       const void         *attrs,
       GyreDtype          *dtype,
       GyreShape          *shape,
       GError            **error)
{
  *dtype = GYRE_F32;
  *shape = gyre_tensor_get_shape (operands[0]);
  return TRUE;
}

static void
vjp (GyreTensor        *y,
     GyreTensor *const *operands,
     const void        *attrs,
     GyreTensor        *dy,
     GyreTensor       **cts)
{
  cts[0] = gyre_mul_scalar (dy, 2);
}

static const GyrePluginPrim twice_prim = {
  .name = "test-twice", .n_operands = 1, .split = GYRE_PLUGIN_SPLIT_ELEMENTS,
  .resource = "/org/gyre/test/kinds.cl", .kernel = "kinds_twice", .infer = infer,
  .vjp = vjp
};

static GyreTensor *
test_twice_apply (GyreLayer  *layer,
                  GyreScope  *scope,
                  GyreTensor *x)
{
  return gyre_plugin_prim_apply (&twice_prim, &x, NULL);
}

static void
test_twice_class_init (TestTwiceClass *klass)
{
  GYRE_LAYER_CLASS (klass)->apply = test_twice_apply;
}

static void
test_twice_init (TestTwice *self)
{
}

#define TEST_TYPE_PLAIN (test_plain_get_type ())
G_DECLARE_FINAL_TYPE (TestPlain, test_plain, TEST, PLAIN, GyreOptimizer)

struct _TestPlain
{
  GyreOptimizer parent_instance;
  double        rate;
  GyreSchedule *schedule;
};

GYRE_DEFINE_OPTIMIZER (TestPlain, test_plain)

static GyreTree *
test_plain_init_state (GyreOptimizer *self,
                       GyreTree      *params)
{
  return gyre_optimizer_new_state (params, TRUE, NULL);
}

/* -rate g */
static GyreTree *
step (const char       *path,
      GyreTree *const  *leaves,
      guint             n_trees,
      gpointer          data,
      GError          **error)
{
  return gyre_tree_new_tensor (
      gyre_neg (gyre_mul (gyre_tree_as_tensor (leaves[0]), data)));
}

static GyreTree *
test_plain_update (GyreOptimizer  *self,
                   GyreTree       *grads,
                   GyreTree       *state,
                   GyreTree       *params,
                   GyreTree      **state_out)
{
  GyreTensor *count = gyre_tree_get_tensor (state, "count");
  GyreTensor *next = gyre_add (count, gyre_constant (GYRE_I32, 1));

  *state_out = gyre_tree_build (GYRE_TENSOR_ENTRY ("count", next), NULL);
  return gyre_tree_map (&grads, 1, step, gyre_optimizer_get_rate (self, count), NULL);
}

static void
test_plain_class_init (TestPlainClass *klass)
{
  GYRE_OPTIMIZER_CLASS (klass)->init = test_plain_init_state;
  GYRE_OPTIMIZER_CLASS (klass)->update = test_plain_update;
  gyre_optimizer_class_add_rate (GYRE_OPTIMIZER_CLASS (klass),
                                 G_STRUCT_OFFSET (TestPlain, rate),
                                 G_STRUCT_OFFSET (TestPlain, schedule), 0.5);
}

static void
test_plain_init (TestPlain *self)
{
}

#define TEST_TYPE_STAIRS (test_stairs_get_type ())
G_DECLARE_FINAL_TYPE (TestStairs, test_stairs, TEST, STAIRS, GyreSchedule)

struct _TestStairs
{
  GyreSchedule parent_instance;
  double       height;
};

GYRE_DEFINE_SCHEDULE (TestStairs, test_stairs)

/* height · count */
static GyreTensor *
test_stairs_value (GyreSchedule *schedule,
                   GyreTensor   *count)
{
  return gyre_mul_scalar (count, TEST_STAIRS (schedule)->height);
}

static void
test_stairs_class_init (TestStairsClass *klass)
{
  GYRE_SCHEDULE_CLASS (klass)->value = test_stairs_value;
  gyre_property_add_double (G_OBJECT_CLASS (klass), "height", "Of a step",
                            G_STRUCT_OFFSET (TestStairs, height), 0, 10, 1);
}

static void
test_stairs_init (TestStairs *self)
{
}

#define TEST_TYPE_COUNTING (test_counting_get_type ())
G_DECLARE_FINAL_TYPE (TestCounting, test_counting, TEST, COUNTING, GyreInitializer)

struct _TestCounting
{
  GyreInitializer parent_instance;
  double          start;
};

GYRE_DEFINE_INITIALIZER (TestCounting, test_counting)

/* start, start + 1, … */
static gboolean
test_counting_make (GyreInitializer  *self,
                    const GyreShape  *shape,
                    GyreKey           key,
                    float            *numbers,
                    GError          **error)
{
  for (gint64 i = 0; i < gyre_shape_n_elements (shape); i++)
    numbers[i] = (float) (TEST_COUNTING (self)->start + (double) i);

  return TRUE;
}

static void
test_counting_class_init (TestCountingClass *klass)
{
  GYRE_INITIALIZER_CLASS (klass)->make = test_counting_make;
  gyre_property_add_double (G_OBJECT_CLASS (klass), "start", "The first",
                            G_STRUCT_OFFSET (TestCounting, start), -10, 10, 0);
}

static void
test_counting_init (TestCounting *self)
{
}

#define TEST_TYPE_ABSOLUTE (test_absolute_get_type ())
G_DECLARE_FINAL_TYPE (TestAbsolute, test_absolute, TEST, ABSOLUTE, GyreLoss)

struct _TestAbsolute
{
  GyreLoss parent_instance;
};

GYRE_DEFINE_LOSS (TestAbsolute, test_absolute)

static GyreTensor *
test_absolute_terms (GyreLoss   *self,
                     GyreTensor *prediction,
                     GyreTensor *target)
{
  return gyre_abs (gyre_sub (prediction, target));
}

static void
test_absolute_class_init (TestAbsoluteClass *klass)
{
  GYRE_LOSS_CLASS (klass)->terms = test_absolute_terms;
}

static void
test_absolute_init (TestAbsolute *self)
{
}

#define TEST_TYPE_CHESS (test_chess_get_type ())
G_DECLARE_FINAL_TYPE (TestChess, test_chess, TEST, CHESS, GyreDataFormat)

struct _TestChess
{
  GyreDataFormat parent_instance;
  gint64         n;
};

GYRE_DEFINE_DATA_FORMAT (TestChess, test_chess)

/* Files whose name ends so */
static gboolean
test_chess_probe (GyreDataFormat *self,
                  const char     *path)
{
  return g_str_has_suffix (path, ".chess");
}

/* n images of 2 by 2, black or white, whose label is the colour */
static GyreTree *
test_chess_read (GyreDataFormat  *format,
                 const char      *path,
                 GError         **error)
{
  gint64 n = TEST_CHESS (format)->n;
  g_autofree guint8 *pixels = g_new (guint8, n * 4);
  g_autofree guint8 *colours = g_new (guint8, n);
  g_autoptr (GyreArray) image = NULL;
  g_autoptr (GyreArray) label = NULL;

  for (gint64 i = 0; i < 4 * n; i++)
    {
      colours[i / 4] = i / 4 % 2;
      pixels[i] = i / 4 % 2 != 0 ? 200 : 0;
    }
  image = gyre_array_new (GYRE_U8, GYRE_SHAPE (n, 2, 2), pixels);
  label = gyre_array_new (GYRE_U8, GYRE_SHAPE (n), colours);

  return gyre_tree_build (GYRE_ARRAY_ENTRY ("image", image),
                          GYRE_ARRAY_ENTRY ("label", label),
                          GYRE_ARRAY_ENTRY ("test_image", image),
                          GYRE_ARRAY_ENTRY ("test_label", label), NULL);
}

static void
test_chess_class_init (TestChessClass *klass)
{
  GYRE_DATA_FORMAT_CLASS (klass)->probe = test_chess_probe;
  GYRE_DATA_FORMAT_CLASS (klass)->read = test_chess_read;
  gyre_property_add_int (G_OBJECT_CLASS (klass), "n", "How many images",
                         G_STRUCT_OFFSET (TestChess, n), 2, 1000, 8);
}

static void
test_chess_init (TestChess *self)
{
}

static void
plugin_init (GyrePlugin *plugin)
{
  test_twice_add (plugin, "test-twice");
  gyre_plugin_add_prim (plugin, &twice_prim);
  test_plain_add (plugin, "test-plain");
  test_stairs_add (plugin, "test-stairs");
  test_counting_add (plugin, "test-counting");
  test_absolute_add (plugin, "test-absolute");
  test_chess_add (plugin, "test-chess");
}

GYRE_PLUGIN_DEFINE (test_kinds, "2.0", "Apache-2.0", plugin_init, "the tests of Gyre")
