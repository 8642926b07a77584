/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/gyre-step-private.h"

#include <gyre/gyre-error.h>

void
gyre_step_info_add_rule (GyreStepInfo *self,
                         const char   *prefix,
                         GyreArgsKind  kind,
                         GyreSharding *sharding)
{
  GyreArgsRule rule = { g_strdup (prefix), kind, sharding };

  g_array_append_val (self->rules, rule);
}

static gboolean
add_sharding (GyreStepInfo  *self,
              const char    *prefix,
              const char    *spec,
              GError       **error)
{
  GyreSharding *sharding = gyre_sharding_new (self->mesh, spec, error);

  if (sharding == NULL)
    {
      g_prefix_error (error, "%s: ", prefix);
      return FALSE;
    }

  if (gyre_sharding_is_stacked (sharding))
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_SHARDING,
                   "gyre_step_jit: entry %s has the stacked sharding '%s', which is for "
                   "gyre_step_pmap () alone", prefix, spec);
      gyre_sharding_unref (sharding);
      return FALSE;
    }

  gyre_step_info_add_rule (self, prefix, GYRE_ARGS_SHARDED, sharding);
  return TRUE;
}

/* "state=, w=data,model, batch=data": a part without '=' goes on with the spec before. */
gboolean
gyre_step_info_add_shardings (GyreStepInfo  *self,
                              const char    *shardings,
                              GError       **error)
{
  g_auto (GStrv) parts = g_strsplit (shardings != NULL ? shardings : "", ",", -1);
  g_autoptr (GString) spec = g_string_new (NULL);
  const char *prefix = NULL;

  for (guint i = 0; parts[i] != NULL; i++)
    {
      char *equal = strchr (parts[i], '=');

      if (equal == NULL && prefix == NULL && *g_strstrip (parts[i]) != '\0')
        {
          g_set_error (error, GYRE_ERROR, GYRE_ERROR_SYNTAX,
                       "shardings '%s': '%s' is not ENTRY=SPEC, such as batch=data",
                       shardings, parts[i]);
          return FALSE;
        }
      if (equal == NULL)
        {
          g_string_append_printf (spec, ",%s", parts[i]);
          continue;
        }

      if (prefix != NULL && !add_sharding (self, prefix, spec->str, error))
        return FALSE;
      *equal = '\0';
      prefix = g_strstrip (parts[i]);
      g_string_assign (spec, equal + 1);
    }

  return (prefix == NULL || add_sharding (self, prefix, spec->str, error))
         && add_sharding (self, "", "", error);
}

/* "data+model": all axes of the mesh, which a pmap is over. */
char *
gyre_step_join_axes (GyreMesh *mesh)
{
  GString *names = g_string_new (NULL);

  for (guint a = 0; a < gyre_mesh_get_n_axes (mesh); a++)
    g_string_append_printf (names, "%s%s", a > 0 ? "+" : "",
                            gyre_mesh_get_axis_name (mesh, a));

  return g_string_free (names, FALSE);
}

static gboolean
add_broadcast (GyreStepInfo  *self,
               const char    *prefix,
               GError       **error)
{
  GyreSharding *sharding = gyre_sharding_new (self->mesh, "", error);

  if (sharding == NULL)
    return FALSE;

  gyre_step_info_add_rule (self, prefix, GYRE_ARGS_BROADCAST, sharding);
  return TRUE;
}

gboolean
gyre_step_info_add_kinds (GyreStepInfo  *self,
                          const char    *names,
                          GyreArgsKind   kind,
                          GError       **error)
{
  g_auto (GStrv) parts = g_strsplit (names != NULL ? names : "", ",", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    if (*g_strstrip (parts[i]) != '\0' &&
        !(kind == GYRE_ARGS_RAGGED ? gyre_step_info_add_ragged (self, parts[i], error)
                                   : add_broadcast (self, parts[i], error)))
      return FALSE;

  return TRUE;
}

/* All other entries of a pmap are stacked. */
gboolean
gyre_step_info_add_stacked (GyreStepInfo  *self,
                            GError       **error)
{
  g_autofree char *axes = gyre_step_join_axes (self->mesh);
  g_autofree char *spec = g_strdup_printf ("[%s]", axes);
  GyreSharding *sharding = gyre_sharding_new (self->mesh, spec, error);

  if (sharding == NULL)
    return FALSE;

  gyre_step_info_add_rule (self, "", GYRE_ARGS_STACKED, sharding);
  return TRUE;
}

static gboolean
has_prefix (const char *path,
            const char *prefix)
{
  gsize length = strlen (prefix);

  return length == 0 || (strncmp (path, prefix, length) == 0
                         && (path[length] == '\0' || path[length] == '/'));
}

/* The longest prefix. */
const GyreArgsRule *
gyre_step_info_find (GyreStepInfo *self,
                     const char   *path)
{
  const GyreArgsRule *best = NULL;

  for (guint i = 0; i < self->rules->len; i++)
    {
      const GyreArgsRule *rule = &g_array_index (self->rules, GyreArgsRule, i);

      if (has_prefix (path, rule->prefix)
          && (best == NULL || strlen (rule->prefix) > strlen (best->prefix)))
        best = rule;
    }

  return best;
}

gboolean
gyre_step_info_is_donated (GyreStepInfo *self,
                           const char   *path)
{
  for (guint i = 0; self->donate[i] != NULL; i++)
    if (*self->donate[i] != '\0' && has_prefix (path, self->donate[i]))
      return TRUE;

  return FALSE;
}

void
gyre_step_info_free (GyreStepInfo *self)
{
  if (self == NULL)
    return;

  for (guint i = 0; i < self->rules->len; i++)
    {
      GyreArgsRule *rule = &g_array_index (self->rules, GyreArgsRule, i);

      g_free (rule->prefix);
      gyre_sharding_unref (rule->sharding);
    }
  g_array_unref (self->rules);
  g_strfreev (self->donate);
  gyre_crew_table_unref (self->crews);
  if (self->destroy != NULL)
    self->destroy (self->data);
  g_object_unref (self->mesh);
  g_free (self);
}

static void
append_rows (GyreStepInfo       *self,
             const GyreArgsRule *rule,
             GyreArray          *array,
             GString            *key)
{
  guint n = gyre_mesh_get_n_devices (self->mesh);
  g_autofree gint64 *rows = g_new (gint64, n);

  if (!gyre_step_cut_rows (self->mesh, rule->sharding, &array->shape, rows, NULL))
    return;   /* which is found when it is traced */
  for (guint d = 0; d < n; d++)
    g_string_append_printf (key, ":%" G_GINT64_FORMAT, rows[d]);
}

/* In jit form shares don't matter: one program has sizes as arguments. */
char *
gyre_step_info_make_key (GyreStepInfo *self,
                         GPtrArray    *arrays,
                         GPtrArray    *paths)
{
  GString *key = g_string_new (NULL);

  for (guint i = 0; i < arrays->len; i++)
    {
      GyreArray *array = g_ptr_array_index (arrays, i);
      const char *path = g_ptr_array_index (paths, i);
      const GyreArgsRule *rule = gyre_step_info_find (self, path);

      g_string_append_printf (key, "%s %d[", path, (int) array->dtype);
      for (int k = 0; k < array->shape.rank; k++)
        g_string_append_printf (key, "%" G_GINT64_FORMAT ",", array->shape.dims[k]);
      if (rule->kind == GYRE_ARGS_RAGGED)
        append_rows (self, rule, array, key);
      g_string_append_c (key, ']');
    }

  return g_string_free (key, FALSE);
}

static void
drop_leading (GyreShape *shape)
{
  shape->rank--;
  memmove (shape->dims, shape->dims + 1, sizeof shape->dims[0] * (gsize) shape->rank);
  shape->dims[shape->rank] = 0;
}

gboolean
gyre_step_info_get_aval (GyreStepInfo  *self,
                         GyreArray     *array,
                         const char    *path,
                         guint          device,
                         GyreAval      *aval,
                         GError       **error)
{
  const GyreArgsRule *rule = gyre_step_info_find (self, path);
  g_autofree gint64 *rows = g_new (gint64, gyre_mesh_get_n_devices (self->mesh));
  GyreSpec spec;

  aval->dtype = array->dtype;
  aval->shape = array->shape;
  if (!gyre_sharding_check_dtype (rule->sharding, array->dtype, error) ||
      !gyre_sharding_resolve (rule->sharding, &array->shape, &spec, error))
    {
      g_prefix_error (error, "argument %s: ", path);
      return FALSE;
    }

  if (rule->kind == GYRE_ARGS_STACKED)
    drop_leading (&aval->shape);
  else if (rule->kind == GYRE_ARGS_RAGGED &&
           gyre_step_cut_rows (self->mesh, rule->sharding, &array->shape, rows, NULL))
    aval->shape.dims[0] = rows[device];

  return TRUE;
}
