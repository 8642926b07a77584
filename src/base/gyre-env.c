/* SPDX-License-Identifier: Apache-2.0 */
#include "base/gyre-env-private.h"

#include "base/gyre-text-private.h"

#define N_WORDS 3

/* words: all that a variable may be; none: an integer from min to max. */
typedef struct
{
  const char *name;
  const char *words[N_WORDS];
  gint64      min, max;
} Variable;

static const Variable variables[] = {
  { "GYRE_CACHE", { "on", "off" }, 0, 0 },
  { "GYRE_DEBUG", { "hazards" }, 0, 0 },
  { "GYRE_DEVICE_TIMEOUT", { NULL }, 0, 1000000 },
  { "GYRE_FUSE", { "0", "1" }, 0, 0 },
  { "GYRE_STEP_SYNC", { "0", "1" }, 0, 0 },
};

static const Variable *
find_variable (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (variables); i++)
    if (g_str_equal (variables[i].name, name))
      return &variables[i];
  g_return_val_if_reached (NULL);
}

static gboolean
is_word (const Variable *variable,
         const char     *value)
{
  for (guint i = 0; i < N_WORDS && variable->words[i] != NULL; i++)
    if (g_str_equal (variable->words[i], value))
      return TRUE;
  return FALSE;
}

gboolean
gyre_env_is (const char *name,
             const char *value)
{
  const Variable *variable = find_variable (name);

  g_return_val_if_fail (variable != NULL && is_word (variable, value), FALSE);
  return g_strcmp0 (g_getenv (name), value) == 0;
}

gint64
gyre_env_get_number (const char *name,
                     gint64      otherwise)
{
  const Variable *variable = find_variable (name);
  const char *text = g_getenv (name);
  gint64 value;

  g_return_val_if_fail (variable != NULL, otherwise);
  if (text != NULL &&
      gyre_text_parse_int (text, variable->min, variable->max, &value, NULL))
    return value;
  return otherwise;
}

char *
gyre_env_complain (const char *name,
                   const char *value)
{
  const Variable *variable = find_variable (name);
  g_autofree char *words = NULL;
  gint64 number;

  g_return_val_if_fail (variable != NULL, NULL);
  if (value == NULL || *value == '\0' || is_word (variable, value))
    return NULL;
  if (variable->words[0] == NULL)
    {
      if (gyre_text_parse_int (value, variable->min, variable->max, &number, NULL))
        return NULL;
      words = g_strdup_printf ("a whole number from %" G_GINT64_FORMAT " to %"
                               G_GINT64_FORMAT, variable->min, variable->max);
    }
  else
    words = g_strjoin (" or ", variable->words[0], variable->words[1], NULL);
  return g_strdup_printf ("%s=%s has no meaning: it may be %s; it is ignored",
                          name, value, words);
}

void
gyre_env_check (void)
{
  static gsize checked;

  if (!g_once_init_enter (&checked))
    return;
  for (gsize i = 0; i < G_N_ELEMENTS (variables); i++)
    {
      const char *name = variables[i].name;
      g_autofree char *text = gyre_env_complain (name, g_getenv (name));

      if (text != NULL)
        g_warning ("%s", text);
    }
  g_once_init_leave (&checked, 1);
}
