/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/gyre-step-private.h"

#include <gyre/gyre-error.h>

/* Entries of a pmap whose rows are cut by share: over all axes of the mesh ("x"), one
 * after the other, or over those that are named ("x=data", "x=data+model"); members along
 * the others see the same rows. */

static gboolean
split_entry (GyreStepInfo  *self,
             const char    *text,
             char         **prefix,
             char         **axes,
             GError       **error)
{
  g_auto (GStrv) parts = g_strsplit (text, "=", 2);

  *prefix = g_strdup (g_strstrip (parts[0]));
  *axes = parts[1] != NULL ? g_strdup (g_strstrip (parts[1]))
                           : gyre_step_join_axes (self->mesh);
  if (**axes != '\0' && strpbrk (*axes, "[]~") == NULL)
    return TRUE;

  g_set_error (error, GYRE_ERROR, GYRE_ERROR_SYNTAX,
               "gyre_step_pmap: ragged '%s' is not ENTRY or ENTRY=AXES, such as x=%s",
               text, gyre_mesh_get_axis_name (self->mesh, 0));
  return FALSE;
}

gboolean
gyre_step_info_add_ragged (GyreStepInfo  *self,
                           const char    *text,
                           GError       **error)
{
  g_autofree char *prefix = NULL;
  g_autofree char *axes = NULL;
  GyreSharding *sharding = NULL;

  if (split_entry (self, text, &prefix, &axes, error))
    sharding = gyre_sharding_new (self->mesh, axes, error);
  if (sharding == NULL)
    return FALSE;

  gyre_step_info_add_rule (self, prefix, GYRE_ARGS_RAGGED, sharding);
  return TRUE;
}

gboolean
gyre_step_cut_rows (GyreMesh         *mesh,
                    GyreSharding     *sharding,
                    const GyreShape  *shape,
                    gint64           *rows,
                    GError          **error)
{
  GyreMeshSpec abstract;
  GyreSpec spec;
  gint64 first;

  if (!gyre_sharding_resolve (sharding, shape, &spec, error))
    return FALSE;

  gyre_mesh_get_spec (mesh, &abstract);
  for (guint d = 0; d < gyre_mesh_get_n_devices (mesh); d++)
    gyre_spec_local_range (&spec, &abstract, shape, d, 0, &first, &rows[d]);
  return TRUE;
}

/* The member at the begin of the axis that d is on. */
static guint
find_first (const GyreMeshSpec *mesh,
            guint               d,
            guint               axis)
{
  guint stride = 1;

  for (guint a = axis + 1; a < mesh->n_axes; a++)
    stride *= mesh->axes[a].size;
  return d - gyre_mesh_spec_coord (mesh, d, axis) * stride;
}

static guint8
find_unlike (const GyreMeshSpec *mesh,
             const gint64       *rows)
{
  guint8 axes = 0;

  for (guint d = 0; d < gyre_mesh_spec_n_devices (mesh); d++)
    for (guint a = 0; a < mesh->n_axes; a++)
      if (rows[d] != rows[find_first (mesh, d, a)])
        axes |= (guint8) (1 << a);
  return axes;
}

guint8
gyre_step_info_find_ragged (GyreStepInfo *self,
                            GPtrArray    *arrays,
                            GPtrArray    *paths)
{
  g_autofree gint64 *rows = g_new0 (gint64, gyre_mesh_get_n_devices (self->mesh));
  GyreMeshSpec mesh;
  guint8 axes = 0;

  gyre_mesh_get_spec (self->mesh, &mesh);
  for (guint i = 0; i < arrays->len; i++)
    {
      const GyreArgsRule *rule =
          gyre_step_info_find (self, g_ptr_array_index (paths, i));
      GyreArray *array = g_ptr_array_index (arrays, i);

      if (rule->kind == GYRE_ARGS_RAGGED &&
          gyre_step_cut_rows (self->mesh, rule->sharding, &array->shape, rows, NULL))
        axes |= find_unlike (&mesh, rows);
    }
  return axes;
}
