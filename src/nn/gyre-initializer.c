/* SPDX-License-Identifier: Apache-2.0 */
#include "nn/gyre-init-private.h"

#include "nn/gyre-line-private.h"
#include "nn/gyre-property-private.h"
#include "nn/gyre-registry-private.h"

/**
 * GyreInitializer:
 *
 * How a parameter begins, by a name for model lines.  The object holds what the name's
 * parentheses say; the numbers come from the shape and the key alone.
 */
G_DEFINE_ABSTRACT_TYPE (GyreInitializer, gyre_initializer, G_TYPE_OBJECT)

static void
gyre_initializer_class_init (GyreInitializerClass *klass)
{
  gyre_property_class_init (G_OBJECT_CLASS (klass));
}

static void
gyre_initializer_init (GyreInitializer *self)
{
}

/* The initializers of the library: each is a row, with at most one property. */

typedef struct
{
  const char  *name;
  const char  *type_name;
  GyreInitKind kind;
  const char  *property;       /* NULL: none */
  const char  *blurb;
  double       value;          /* the property's default */
  gboolean     is_required;
} Row;

#define DEVIATION "stddev", "The deviation"

static const Row rows[] = {
  { "zeros", "GyreInitZeros", GYRE_INIT_ZEROS },
  { "ones", "GyreInitOnes", GYRE_INIT_ONES },
  { "constant", "GyreInitConstant", GYRE_INIT_CONSTANT, "value", "Every number", 0,
    TRUE },
  { "normal", "GyreInitNormal", GYRE_INIT_NORMAL, DEVIATION, 1e-2 },
  { "uniform", "GyreInitUniform", GYRE_INIT_UNIFORM, "scale", "Numbers are from 0 to it",
    1e-2 },
  { "truncated-normal", "GyreInitTruncatedNormal", GYRE_INIT_TRUNCATED_NORMAL, "stddev",
    "The deviation, before it is cut at two of it", 1e-2 },
  { "lecun-normal", "GyreInitLecunNormal", GYRE_INIT_LECUN_NORMAL },
  { "lecun-uniform", "GyreInitLecunUniform", GYRE_INIT_LECUN_UNIFORM },
  { "glorot-normal", "GyreInitGlorotNormal", GYRE_INIT_GLOROT_NORMAL },
  { "glorot-uniform", "GyreInitGlorotUniform", GYRE_INIT_GLOROT_UNIFORM },
  { "he-normal", "GyreInitHeNormal", GYRE_INIT_HE_NORMAL },
  { "he-uniform", "GyreInitHeUniform", GYRE_INIT_HE_UNIFORM },
  { "orthogonal", "GyreInitOrthogonal", GYRE_INIT_ORTHOGONAL, "scale",
    "The length of each column", 1 },
};

typedef struct
{
  GyreInitializer parent_instance;
  double          scale;
} Named;

static GQuark
row_quark (void)
{
  return g_quark_from_static_string ("gyre-initializer-row");
}

static gboolean
named_make (GyreInitializer  *self,
            const GyreShape  *shape,
            GyreKey           key,
            float            *numbers,
            GError          **error)
{
  const Row *row = g_type_get_qdata (G_OBJECT_TYPE (self), row_quark ());
  const GyreInit init = { row->kind, ((Named *) self)->scale, NULL };

  return gyre_init_fill (&init, shape, key, numbers, error);
}

static void
named_class_init (gpointer klass,
                  gpointer data)
{
  const Row *row = data;

  GYRE_INITIALIZER_CLASS (klass)->make = named_make;
  if (row->property == NULL)
    return;

  gyre_property_add_double (klass, row->property, row->blurb,
                            G_STRUCT_OFFSET (Named, scale), -G_MAXDOUBLE, G_MAXDOUBLE,
                            row->value);
  if (row->is_required)
    gyre_property_require (klass, row->property);
}

static void
ensure_types (void)
{
  static gsize done = 0;

  if (!g_once_init_enter (&done))
    return;

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const GTypeInfo info = {
        .class_size = sizeof (GyreInitializerClass),
        .class_init = named_class_init,
        .class_data = &rows[i],
        .instance_size = sizeof (Named)
      };
      GType type = g_type_register_static (GYRE_TYPE_INITIALIZER, rows[i].type_name,
                                           &info, 0);

      g_type_set_qdata (type, row_quark (), (gpointer) &rows[i]);
      gyre_registry_add (GYRE_TYPE_INITIALIZER, rows[i].name, type, NULL);
    }
  g_once_init_leave (&done, 1);
}

/**
 * gyre_initializer_parse:
 * @text: "he-normal", "normal(stddev=0.1)"
 * @error: %GYRE_ERROR_SYNTAX, %GYRE_ERROR_UNKNOWN or %GYRE_ERROR_INVALID
 *
 * Makes an initializer of a text, as it stands in a model line: kernel-init=he-normal.
 *
 * Returns: (transfer full): a new initializer, or %NULL
 */
GyreInitializer *
gyre_initializer_parse (const char  *text,
                        GError     **error)
{
  g_return_val_if_fail (text != NULL, NULL);

  ensure_types ();
  return (GyreInitializer *) gyre_line_make_call (text, GYRE_TYPE_INITIALIZER,
                                                  "initializer", error);
}

/**
 * gyre_initializer_to_string:
 * @self: an initializer
 *
 * Returns: (transfer full): a text that gyre_initializer_parse() makes the same of
 */
char *
gyre_initializer_to_string (GyreInitializer *self)
{
  g_return_val_if_fail (GYRE_IS_INITIALIZER (self), NULL);

  return gyre_line_print_call (G_OBJECT (self));
}

float *
gyre_initializer_make_numbers (GyreInitializer  *self,
                               const GyreShape  *shape,
                               GyreKey           key,
                               GError          **error)
{
  gsize n = (gsize) gyre_shape_n_elements (shape);
  g_autofree float *numbers = g_try_new0 (float, MAX (n, 1));

  if (numbers == NULL)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_MEMORY,
                   "no memory for a parameter of %" G_GSIZE_FORMAT " numbers", n);
      return NULL;
    }
  if (!GYRE_INITIALIZER_GET_CLASS (self)->make (self, shape, key, numbers, error))
    return NULL;

  return g_steal_pointer (&numbers);
}

/**
 * gyre_initializer_make: (skip)
 * @self: an initializer
 * @shape: of a parameter
 * @key: what it is drawn by
 * @error: %GYRE_ERROR_SHAPE where the shape is none for it
 *
 * Returns: (transfer full): the numbers that a parameter begins with, f32 of @shape
 */
GyreArray *
gyre_initializer_make (GyreInitializer  *self,
                       GyreShape         shape,
                       GyreKey           key,
                       GError          **error)
{
  g_autofree float *numbers = NULL;

  g_return_val_if_fail (GYRE_IS_INITIALIZER (self), NULL);

  numbers = gyre_initializer_make_numbers (self, &shape, key, error);
  return numbers != NULL ? gyre_array_new (GYRE_F32, shape, numbers) : NULL;
}

/**
 * gyre_initializer_type_find:
 * @name: a name in lines, such as "he-normal"
 * @error: %GYRE_ERROR_UNKNOWN, with the nearest name there is; %GYRE_ERROR_PLUGIN
 *
 * Returns: the type, whose plugin is loaded now if it is of one; 0 on error
 */
GType
gyre_initializer_type_find (const char  *name,
                            GError     **error)
{
  g_return_val_if_fail (name != NULL, 0);

  ensure_types ();
  return gyre_registry_find (GYRE_TYPE_INITIALIZER, "initializer", name, error);
}

/**
 * gyre_initializer_type_list:
 *
 * Returns: (transfer full): the names of all initializers, sorted
 */
char **
gyre_initializer_type_list (void)
{
  ensure_types ();
  return gyre_registry_list (GYRE_TYPE_INITIALIZER);
}
