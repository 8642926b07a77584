/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "data/gyre-dataset-private.h"
#include "nn/gyre-line-private.h"
#include "nn/gyre-property-private.h"
#include "nn/gyre-registry-private.h"

/**
 * GyreDataFormat:
 *
 * A way in which labelled images lie in files, by the name that `--data NAME:PATH` gives
 * it.  The object holds what the name's parentheses say, `points(classes=3):FILE`.
 */
G_DEFINE_ABSTRACT_TYPE (GyreDataFormat, gyre_data_format, G_TYPE_OBJECT)

static void
gyre_data_format_class_init (GyreDataFormatClass *klass)
{
  gyre_property_class_init (G_OBJECT_CLASS (klass));
}

static void
gyre_data_format_init (GyreDataFormat *self)
{
  (void) self;
}

/* The formats of the library: each is a row. */
static const GyreDatasetFormat rows[] = {
  { "fashion-mnist", "GyreFormatFashionMnist", "fashion-mnist", NULL,
    gyre_dataset_read_fashion },
  { "digits", "GyreFormatDigits", "digits", NULL, gyre_dataset_read_digits },
  { "idx", "GyreFormatIdx", "idx:FOLDER", gyre_dataset_probe_idx, gyre_dataset_read_idx },
  { "cifar10", "GyreFormatCifar10", "cifar10:FOLDER", gyre_dataset_probe_cifar10,
    gyre_dataset_read_cifar10 },
  { "safetensors", "GyreFormatSafetensors", "safetensors:FILE",
    gyre_dataset_probe_safetensors, gyre_dataset_read_safetensors },
};

static gboolean
row_probe (GyreDataFormat *self, const char *path)
{
  const GyreDatasetFormat *row = GYRE_DATA_FORMAT_GET_CLASS (self)->row;

  return row->probe && row->probe (path);
}

static void
row_class_init (gpointer klass, gpointer data)
{
  GyreDataFormatClass     *format_class = klass;
  const GyreDatasetFormat *row          = data;

  format_class->row           = row;
  format_class->probe         = row_probe;
  format_class->takes_no_path = row->probe == NULL;
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
        .class_size = sizeof (GyreDataFormatClass), .class_init = row_class_init,
        .class_data = &rows[i], .instance_size = sizeof (GyreDataFormat),
      };
      GType type = g_type_register_static (GYRE_TYPE_DATA_FORMAT, rows[i].type_name,
                                           &info, 0);

      gyre_registry_add (GYRE_TYPE_DATA_FORMAT, rows[i].name, type, NULL);
    }
  g_once_init_leave (&done, 1);
}

/**
 * gyre_data_format_type_find:
 * @name: a name in `--data`, such as "idx"
 * @error: %GYRE_ERROR_UNKNOWN, with the nearest name there is; %GYRE_ERROR_PLUGIN
 *
 * Returns: the type, whose plugin is loaded now if it is of one; 0 on error
 */
GType
gyre_data_format_type_find (const char  *name,
                            GError     **error)
{
  g_return_val_if_fail (name != NULL, 0);
  ensure_types ();
  return gyre_registry_find (GYRE_TYPE_DATA_FORMAT, "data format", name, error);
}

/**
 * gyre_data_format_type_list:
 *
 * Returns: (transfer full): the names of all data formats, sorted
 */
char **
gyre_data_format_type_list (void)
{
  ensure_types ();
  return gyre_registry_list (GYRE_TYPE_DATA_FORMAT);
}

static gboolean
is_known (const char *name)
{
  g_auto (GStrv) names = gyre_data_format_type_list ();

  return g_strv_contains ((const char *const *) names, name);
}

/* How a format is written: those of the library say it, the others by rule. */
static char *
describe (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    if (g_str_equal (rows[i].name, name))
      return g_strdup (rows[i].help);
  return g_strconcat (name, ":PATH", NULL);
}

static gboolean
fail_unknown (const char *spec, GError **error)
{
  g_auto (GStrv)      names = gyre_data_format_type_list ();
  g_autoptr (GString) known = g_string_new (NULL);

  for (char **name = names; *name; name++)
    {
      g_autofree char *help = describe (*name);

      g_string_append_printf (known, "%s%s", known->len ? ", " : "", help);
    }
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_UNKNOWN, "no dataset '%s'%s; known are %s",
               spec, g_file_test (spec, G_FILE_TEST_EXISTS)
                         ? ": it is there, but no format knows it; say which, as "
                           "'idx:FOLDER' does" : "", known->str);
  return FALSE;
}

static gboolean
read_arrays (GyreDataFormat       *self,
             const char           *path,
             GyreDatasetContents  *contents,
             GError              **error)
{
  GyreDataFormatClass *klass  = GYRE_DATA_FORMAT_GET_CLASS (self);
  g_autoptr (GyreTree) arrays = klass->read (self, path, error);

  if (!arrays && error && !*error)
    g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE, "%s: it can't be read",
                 contents->name);
  return arrays && gyre_dataset_take_arrays (contents, arrays, contents->name, error);
}

static gboolean
read_format (GyreDataFormat       *self,
             const char           *path,
             GyreDatasetContents  *contents,
             GError              **error)
{
  GyreDataFormatClass     *klass = GYRE_DATA_FORMAT_GET_CLASS (self);
  const GyreDatasetFormat *row   = klass->row;
  g_autofree char         *call  = NULL;

  if (row)
    return row->read (path, contents, error);
  call           = gyre_line_print_call (G_OBJECT (self));
  contents->name = path ? g_strconcat (call, ":", path, NULL) : g_strdup (call);
  return read_arrays (self, path, contents, error);
}

/* spec: "NAME:PATH" or "NAME(PROPERTY=VALUE,…):PATH", of which length is the part before
 * the colon. */
static gboolean
read_call (const char           *spec,
           gsize                 length,
           GyreDatasetContents  *contents,
           GError              **error)
{
  g_autofree char *call = g_strndup (spec, length);
  g_autofree char *name = g_strndup (spec, strcspn (call, "("));
  const char      *path = spec[length] == ':' && spec[length + 1] ? spec + length + 1
                                                                  : NULL;
  g_autofree char *help = describe (name);
  g_autoptr (GyreDataFormat) format =
      (GyreDataFormat *) gyre_line_make_call (call, GYRE_TYPE_DATA_FORMAT, "data format",
                                              error);

  if (!format)
    {
      g_prefix_error (error, "dataset '%s': ", spec);
      return FALSE;
    }
  if ((path != NULL) == !GYRE_DATA_FORMAT_GET_CLASS (format)->takes_no_path)
    return read_format (format, path, contents, error);
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_SYNTAX, "dataset '%s': it is written %s",
               spec, help);
  return FALSE;
}

/* The part before the colon; one in parentheses is none. */
static gsize
measure_call (const char *spec)
{
  gsize length = strcspn (spec, ":(");

  if (spec[length] == '(')
    length += strcspn (spec + length, ")");
  return length + strcspn (spec + length, ":");
}

static gboolean
has_probed (const char *name, const char *path)
{
  GType                      type = gyre_data_format_type_find (name, NULL);
  g_autoptr (GyreDataFormat) format = NULL;
  GyreDataFormatClass       *klass;

  if (type == 0)
    return FALSE;
  format = g_object_new (type, NULL);
  klass  = GYRE_DATA_FORMAT_GET_CLASS (format);
  return klass->probe && !klass->takes_no_path && klass->probe (format, path);
}

/* The first that knows it: those of the library, then those of plugins by name. */
static char *
probe (const char *path)
{
  g_auto (GStrv) names = NULL;

  ensure_types ();
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    if (has_probed (rows[i].name, path))
      return g_strdup (rows[i].name);
  names = gyre_data_format_type_list ();
  for (char **name = names; *name; name++)
    if (has_probed (*name, path))
      return g_strdup (*name);
  return NULL;
}

gboolean
gyre_data_format_read (const char           *spec,
                       GyreDatasetContents  *contents,
                       GError              **error)
{
  gsize            length = measure_call (spec);
  g_autofree char *name   = g_strndup (spec, MIN (length, strcspn (spec, "(")));
  g_autofree char *found  = NULL;
  g_autofree char *whole  = NULL;

  if (is_known (name))
    return read_call (spec, length, contents, error);
  if (g_file_test (spec, G_FILE_TEST_EXISTS) && (found = probe (spec)))
    {
      whole = g_strconcat (found, ":", spec, NULL);
      return read_call (whole, strlen (found), contents, error);
    }
  return fail_unknown (spec, error);
}
