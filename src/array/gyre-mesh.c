/* SPDX-License-Identifier: Apache-2.0 */
#include "array/gyre-mesh-private.h"

#include <gyre/gyre-error.h>

#include <math.h>

struct _GyreMesh
{
  GObject    parent_instance;

  GPtrArray *devices;
  GyrePool  *pool;
  guint      n_axes;
  GyreAxis   axes[GYRE_MAX_AXES];
  double    *weights[GYRE_MAX_AXES];
  guint      version;
};

G_DEFINE_TYPE (GyreMesh, gyre_mesh, G_TYPE_OBJECT)

static void
gyre_mesh_finalize (GObject *object)
{
  GyreMesh *self = GYRE_MESH (object);

  gyre_pool_unref (self->pool);
  g_clear_pointer (&self->devices, g_ptr_array_unref);
  for (guint a = 0; a < GYRE_MAX_AXES; a++)
    g_free (self->weights[a]);

  G_OBJECT_CLASS (gyre_mesh_parent_class)->finalize (object);
}

static void
gyre_mesh_class_init (GyreMeshClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = gyre_mesh_finalize;
}

static void
gyre_mesh_init (GyreMesh *self)
{
  self->pool = gyre_pool_new ();
}

/* Shares that device strings fix ("pocl=0.25") hold on a mesh of one axis. */
static void
take_device_shares (GyreMesh *self)
{
  g_autofree double *weights = g_new (double, self->devices->len);
  guint n_fixed = 0;
  double rest = 1;

  for (guint i = 0; i < self->devices->len; i++)
    {
      weights[i] = gyre_device_get_share (g_ptr_array_index (self->devices, i));
      if (weights[i] > 0)
        n_fixed++, rest -= weights[i];
    }

  if (n_fixed == 0 || self->n_axes != 1)
    return;

  for (guint i = 0; i < self->devices->len; i++)
    if (!(weights[i] > 0))
      weights[i] = MAX (rest, 0) / (self->devices->len - n_fixed);
  self->weights[0] = g_steal_pointer (&weights);
}

/**
 * gyre_mesh_new:
 * @layout: the axes, row-major: `"data=*"`, `"data=2,model=2"`; one size may be `*`
 * @devices: (nullable) (element-type GyreDevice): the devices, or %NULL for those of
 *   `GYRE_DEVICES`, or all
 * @error: return location for an error
 *
 * Lays devices out on named axes.  Shares that the device strings fix are the shares of
 * the mesh if it has one axis.
 *
 * Errors: %GYRE_ERROR_SYNTAX for a layout that can't be read, %GYRE_ERROR_SHARDING for
 * one that doesn't fit the number of devices, and those of gyre_devices_open ().
 *
 * Returns: (transfer full): the mesh, or %NULL
 */
GyreMesh *
gyre_mesh_new (const char  *layout,
               GPtrArray   *devices,
               GError     **error)
{
  g_autoptr (GPtrArray) opened = NULL;
  GyreAxis axes[GYRE_MAX_AXES] = { 0 };
  GyreMesh *self;
  guint n_axes;

  g_return_val_if_fail (layout != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  opened = devices != NULL ? g_ptr_array_ref (devices) : gyre_devices_open (NULL, error);
  if (opened == NULL
      || !gyre_mesh_parse_layout (layout, opened->len, &n_axes, axes, error))
    return NULL;

  self = g_object_new (GYRE_TYPE_MESH, NULL);
  self->devices = g_ptr_array_new_with_free_func (g_object_unref);
  for (guint i = 0; i < opened->len; i++)
    g_ptr_array_add (self->devices, g_object_ref (g_ptr_array_index (opened, i)));
  self->n_axes = n_axes;
  memcpy (self->axes, axes, sizeof axes);
  take_device_shares (self);

  return self;
}

/**
 * gyre_mesh_open:
 * @layout: the axes, as for gyre_mesh_new()
 * @devices: (nullable): a device string, as for gyre_devices_open()
 * @error: return location for an error
 *
 * Opens devices and lays them out: gyre_devices_open() and gyre_mesh_new() in one call.
 *
 * Errors: those of both.
 *
 * Returns: (transfer full): the mesh, or %NULL
 */
GyreMesh *
gyre_mesh_open (const char  *layout,
                const char  *devices,
                GError     **error)
{
  g_autoptr (GPtrArray) opened = NULL;

  g_return_val_if_fail (layout != NULL, NULL);

  opened = gyre_devices_open (devices, error);

  return opened != NULL ? gyre_mesh_new (layout, opened, error) : NULL;
}

/**
 * gyre_mesh_get_n_devices:
 * @self: a mesh
 *
 * Returns: the number of its devices, the product of the sizes of its axes
 */
guint
gyre_mesh_get_n_devices (GyreMesh *self)
{
  g_return_val_if_fail (GYRE_IS_MESH (self), 0);

  return self->devices->len;
}

/**
 * gyre_mesh_get_device:
 * @self: a mesh
 * @i: which, row-major along the axes
 *
 * Returns: (transfer none): the device
 */
GyreDevice *
gyre_mesh_get_device (GyreMesh *self,
                      guint     i)
{
  g_return_val_if_fail (GYRE_IS_MESH (self), NULL);
  g_return_val_if_fail (i < self->devices->len, NULL);

  return g_ptr_array_index (self->devices, i);
}

/**
 * gyre_mesh_get_n_axes:
 * @self: a mesh
 *
 * Returns: the number of its axes
 */
guint
gyre_mesh_get_n_axes (GyreMesh *self)
{
  g_return_val_if_fail (GYRE_IS_MESH (self), 0);

  return self->n_axes;
}

/**
 * gyre_mesh_get_axis_name:
 * @self: a mesh
 * @axis: which axis
 *
 * Returns: (transfer none): its name
 */
const char *
gyre_mesh_get_axis_name (GyreMesh *self,
                         guint     axis)
{
  g_return_val_if_fail (GYRE_IS_MESH (self), NULL);
  g_return_val_if_fail (axis < self->n_axes, NULL);

  return self->axes[axis].name;
}

/**
 * gyre_mesh_get_axis_size:
 * @self: a mesh
 * @axis: which axis
 *
 * Returns: the number of devices along it
 */
guint
gyre_mesh_get_axis_size (GyreMesh *self,
                         guint     axis)
{
  g_return_val_if_fail (GYRE_IS_MESH (self), 0);
  g_return_val_if_fail (axis < self->n_axes, 0);

  return self->axes[axis].size;
}

int
gyre_mesh_find_axis (GyreMesh   *self,
                     const char *name)
{
  for (guint a = 0; a < self->n_axes; a++)
    if (g_str_equal (self->axes[a].name, name))
      return (int) a;

  return -1;
}

static gboolean
check_weights (const GyreAxis  *axis,
               const double    *weights,
               GError         **error)
{
  double total = 0;

  for (guint i = 0; i < axis->size; i++)
    {
      if (!isfinite (weights[i]) || weights[i] < 0)
        {
          g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
                       "gyre_mesh_set_shares: share %u of axis %s is %g, not 0 or more",
                       i, axis->name, weights[i]);
          return FALSE;
        }
      total += weights[i];
    }

  if (total > 0)
    return TRUE;

  g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
               "gyre_mesh_set_shares: all %u shares of axis %s are 0; one must be more",
               axis->size, axis->name);
  return FALSE;
}

/**
 * gyre_mesh_set_shares:
 * @self: a mesh
 * @axis: the axis' name
 * @weights: (nullable): one weight a member of the axis, each 0 or more and not all 0;
 *   %NULL: equal ones
 * @error: return location for an error
 *
 * Sets how a dimension that the axis splits is cut.  A step sees it at its next run:
 * nothing is traced or compiled.  Not while a step of this mesh is being called.
 *
 * Errors: %GYRE_ERROR_UNKNOWN for another axis, %GYRE_ERROR_INVALID for a weight.
 *
 * Returns: whether the shares were set
 */
gboolean
gyre_mesh_set_shares (GyreMesh      *self,
                      const char    *axis,
                      const double  *weights,
                      GError       **error)
{
  int a;

  g_return_val_if_fail (GYRE_IS_MESH (self), FALSE);
  g_return_val_if_fail (axis != NULL, FALSE);

  a = gyre_mesh_find_axis (self, axis);
  if (a < 0)
    {
      g_autofree char *text = gyre_mesh_to_string (self);

      g_set_error (error, GYRE_ERROR, GYRE_ERROR_UNKNOWN,
                   "gyre_mesh_set_shares: no axis %s in mesh %s", axis, text);
      return FALSE;
    }

  if (weights != NULL && !check_weights (&self->axes[a], weights, error))
    return FALSE;

  g_free (self->weights[a]);
  self->weights[a] = g_memdup2 (weights, self->axes[a].size * sizeof (double));
  self->version++;

  return TRUE;
}

/**
 * gyre_mesh_get_shares:
 * @self: a mesh
 * @axis: which axis
 *
 * Returns: (transfer none) (nullable): the weights, or %NULL where they are equal
 */
const double *
gyre_mesh_get_shares (GyreMesh *self,
                      guint     axis)
{
  g_return_val_if_fail (GYRE_IS_MESH (self), NULL);
  g_return_val_if_fail (axis < self->n_axes, NULL);

  return self->weights[axis];
}

/**
 * gyre_mesh_cut:
 * @self: a mesh
 * @axis: which axis
 * @extent: a number of rows
 * @bounds: (out caller-allocates) (array): the axis' size + 1 boundaries
 *
 * Cuts rows among the members of an axis by their shares: largest remainder, ties to the
 * lower rank.  Member i has [bounds[i], bounds[i + 1]).
 */
void
gyre_mesh_cut (GyreMesh *self,
               guint     axis,
               gint64    extent,
               gint64   *bounds)
{
  g_return_if_fail (GYRE_IS_MESH (self));
  g_return_if_fail (axis < self->n_axes);

  gyre_shares_cut (extent, self->axes[axis].size, self->weights[axis], bounds);
}

/**
 * gyre_mesh_to_string:
 * @self: a mesh
 *
 * Returns: (transfer full): its layout, such as `"data=2,model=2"`
 */
char *
gyre_mesh_to_string (GyreMesh *self)
{
  GString *out;

  g_return_val_if_fail (GYRE_IS_MESH (self), NULL);

  out = g_string_new (NULL);
  for (guint a = 0; a < self->n_axes; a++)
    g_string_append_printf (out, "%s%s=%u", a > 0 ? "," : "", self->axes[a].name,
                            self->axes[a].size);

  return g_string_free (out, FALSE);
}

void
gyre_mesh_get_spec (GyreMesh     *self,
                    GyreMeshSpec *spec)
{
  spec->n_axes = self->n_axes;
  memcpy (spec->axes, self->axes, sizeof self->axes);
  memcpy (spec->weights, self->weights, sizeof self->weights);
}

guint
gyre_mesh_get_version (GyreMesh *self)
{
  return self->version;
}

GyrePool *
gyre_mesh_get_pool (GyreMesh *self)
{
  return self->pool;
}
