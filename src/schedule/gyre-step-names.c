/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/gyre-step-private.h"

#include <gyre/gyre-error.h>

/* A misspelt name would change where things lie, or what is reused, in silence. */

static char *
list_entries (GyreTree *args)
{
  GString *names = g_string_new (NULL);

  for (guint i = 0; i < gyre_tree_get_n (args); i++)
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "",
                            gyre_tree_get_nth_name (args, i));

  return g_string_free (names, FALSE);
}

static gboolean
check_name (GyreTree    *args,
            const char  *name,
            const char  *where,
            GError     **error)
{
  g_autofree char *entries = NULL;

  if (*name == '\0' || gyre_tree_lookup (args, name) != NULL)
    return TRUE;

  entries = list_entries (args);
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_TREE,
               "gyre_step_run: '%s' is named %s, and is no path in the arguments, which "
               "are: %s", name, where, entries);
  return FALSE;
}

/* Each name that the step was made with is of an argument. */
gboolean
gyre_step_info_check_names (GyreStepInfo  *self,
                            GyreTree      *args,
                            GError       **error)
{
  static const char *const where[] = {
    [GYRE_ARGS_SHARDED] = "in the shardings",
    [GYRE_ARGS_BROADCAST] = "as broadcast",
    [GYRE_ARGS_STACKED] = "as stacked",
    [GYRE_ARGS_RAGGED] = "as ragged",
  };

  for (guint i = 0; i < self->rules->len; i++)
    {
      const GyreArgsRule *rule = &g_array_index (self->rules, GyreArgsRule, i);

      if (!check_name (args, rule->prefix, where[rule->kind], error))
        return FALSE;
    }
  for (guint i = 0; self->donate[i] != NULL; i++)
    if (!check_name (args, self->donate[i], "as donated", error))
      return FALSE;

  return TRUE;
}
