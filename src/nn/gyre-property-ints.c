/* SPDX-License-Identifier: Apache-2.0 */
#include "nn/gyre-property-private.h"

#include "base/gyre-text-private.h"

#include <gyre/gyre-error.h>
#include <gyre/gyre-layer.h>

#include <string.h>

/* Properties that are a few integers, "3,3", or one of some words: text that is checked
 * where it enters. */

typedef struct
{
  guint              n_max;
  gint64             minimum;
  gint64             maximum;
  const char *const *words;
} Ints;

static GQuark
ints_quark (void)
{
  return g_quark_from_static_string ("gyre-property-ints");
}

static const Ints *
get_ints (GParamSpec *pspec)
{
  return g_param_spec_get_qdata (pspec, ints_quark ());
}

void
gyre_property_add_ints (GObjectClass      *klass,
                        const char        *name,
                        const char        *blurb,
                        gsize              offset,
                        guint              n_max,
                        gint64             minimum,
                        gint64             maximum,
                        const char *const *words,
                        const char        *value)
{
  Ints *ints = g_new (Ints, 1);

  gyre_property_add_string (klass, name, blurb, offset, value);
  *ints = (Ints){ n_max, minimum, maximum, words };
  g_param_spec_set_qdata_full (g_object_class_find_property (klass, name), ints_quark (),
                               ints, g_free);
}

gboolean
gyre_property_is_ints (GParamSpec *pspec)
{
  return get_ints (pspec) != NULL;
}

char *
gyre_property_describe_ints (GParamSpec *pspec)
{
  const Ints *ints = get_ints (pspec);
  GString *text = g_string_new (NULL);

  for (guint i = 0; ints->words != NULL && ints->words[i] != NULL; i++)
    g_string_append_printf (text, "%s, ", ints->words[i]);
  if (text->len > 0)
    g_string_append (text, "or ");
  g_string_append_printf (text,
                          "1 to %u integers from %" G_GINT64_FORMAT
                          " to %" G_GINT64_FORMAT " with commas between",
                          ints->n_max, ints->minimum, ints->maximum);

  return g_string_free (text, FALSE);
}

static gboolean
is_word (const Ints *ints,
         const char *text)
{
  for (guint i = 0; ints->words != NULL && ints->words[i] != NULL; i++)
    if (g_ascii_strcasecmp (ints->words[i], text) == 0)
      return TRUE;

  return FALSE;
}

gboolean
gyre_property_check_ints (GParamSpec  *pspec,
                          const char  *text,
                          GError     **error)
{
  const Ints *ints = get_ints (pspec);
  g_auto (GStrv) parts = NULL;
  guint n;

  if (is_word (ints, text))
    return TRUE;

  parts = g_strsplit (text, ",", -1);
  n = g_strv_length (parts);
  if (n < 1 || n > ints->n_max)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID, "\"%s\" is %u numbers", text,
                   n);
      return FALSE;
    }

  for (guint i = 0; i < n; i++)
    {
      gint64 number;

      if (!gyre_text_parse_int (g_strstrip (parts[i]), ints->minimum, ints->maximum,
                                &number, error))
        return FALSE;
    }
  return TRUE;
}

/**
 * gyre_layer_parse_ints:
 * @text: (nullable): the value of a property that gyre_layer_class_add_ints() made
 * @values: (out caller-allocates) (array length=n_max): its integers
 * @n_max: how many @values has room for
 *
 * Reads "3,3". For a layer's apply: one of the property's words is for the layer to know.
 *
 * Returns: how many there are; 0 where the text is no list of integers, or too long a one
 */
guint
gyre_layer_parse_ints (const char *text,
                       gint64     *values,
                       guint       n_max)
{
  g_auto (GStrv) parts = g_strsplit (text != NULL ? text : "", ",", -1);
  guint n = g_strv_length (parts);

  if (n > n_max)
    return 0;

  for (guint i = 0; i < n; i++)
    if (!gyre_text_parse_int (g_strstrip (parts[i]), G_MININT32, G_MAXINT32, &values[i],
                              NULL))
      return 0;

  return n;
}
