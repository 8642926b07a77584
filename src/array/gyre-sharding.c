/* SPDX-License-Identifier: Apache-2.0 */
#include "array/gyre-sharding-private.h"

#include <gyre/gyre-error.h>

struct _GyreSharding
{
  gatomicrefcount ref_count;
  GyreMesh       *mesh;
  char           *text;
  gboolean        stacked;
  int             rank;                   /* dimensions that the text names */
  guint8          axes[GYRE_MAX_RANK];
  guint8          partial;                /* whose members have summands */
};

G_DEFINE_BOXED_TYPE (GyreSharding, gyre_sharding, gyre_sharding_ref, gyre_sharding_unref)

/* "data+model" of one dimension, as a mask that joins those seen before. */
/* "dimension 1", or what follows ~ */
static char *
describe_place (int dim)
{
  return dim < 0 ? g_strdup ("the summands") : g_strdup_printf ("dimension %d", dim);
}

/* What is wrong with an axis at a dimension; dim -1: among the summands */
static gboolean
refuse_axis (GyreSharding  *self,
             const char    *name,
             int            axis,
             int            dim,
             GError       **error)
{
  g_autofree char *mesh = gyre_mesh_to_string (self->mesh), *place = describe_place (dim);
  int earlier = 0;

  while (axis >= 0 && earlier < self->rank && !(self->axes[earlier] & 1 << axis))
    earlier++;

  if (*name == '\0')
    g_set_error (error, GYRE_ERROR, GYRE_ERROR_SHARDING,
                 "mesh %s, sharding '%s': %s: the name of an axis is missing beside '+'",
                 mesh, self->text, place);
  else if (axis < 0)
    g_set_error (error, GYRE_ERROR, GYRE_ERROR_SHARDING,
                 "mesh %s, sharding '%s': %s: axis '%s' is not of the mesh", mesh,
                 self->text, place, name);
  else if (earlier == self->rank || earlier == dim)
    g_set_error (error, GYRE_ERROR, GYRE_ERROR_SHARDING,
                 "mesh %s, sharding '%s': %s: axis '%s' stands twice", mesh, self->text,
                 place, name);
  else
    g_set_error (error, GYRE_ERROR, GYRE_ERROR_SHARDING,
                 "mesh %s, sharding '%s': %s: axis '%s' splits dimension %d already, and "
                 "can split one only",
                 mesh, self->text, place, name, earlier);

  return FALSE;
}

/* dim -1: what follows ~ */
static gboolean
parse_dim (GyreSharding  *self,
           const char    *text,
           int            dim,
           guint8        *seen,
           GError       **error)
{
  guint8 *mask = dim < 0 ? &self->partial : &self->axes[dim];
  g_auto (GStrv) names = g_strsplit (text, "+", -1);

  for (guint i = 0; names[i] != NULL; i++)
    {
      const char *name = g_strstrip (names[i]);
      int axis = gyre_mesh_find_axis (self->mesh, name);

      if (*name == '\0' && names[1] == NULL)
        continue;
      if (axis < 0 || *seen & 1 << axis)
        return refuse_axis (self, name, axis, dim, error);
      *mask |= (guint8) (1 << axis);
      *seen |= (guint8) (1 << axis);
    }

  return TRUE;
}

/* What stands before "~data", or in the brackets of "[data]". */
static char *
inner_text (GyreSharding *self)
{
  gsize length = strlen (self->text);

  self->stacked = length >= 2 && self->text[0] == '[' && self->text[length - 1] == ']';
  return self->stacked ? g_strndup (self->text + 1, length - 2)
                       : g_strndup (self->text, strcspn (self->text, "~"));
}

static gboolean
parse (GyreSharding  *self,
       GError       **error)
{
  g_autofree char *inner = inner_text (self);
  g_auto (GStrv) dims = g_strsplit (inner, ",", -1);
  const char *sum = strchr (self->text, '~');
  guint8 seen = 0;

  self->rank = (int) g_strv_length (dims);

  if (self->rank > GYRE_MAX_RANK || (self->stacked && self->rank != 1))
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_SHARDING,
                   "sharding '%s' names %d dimensions, not at most %d", self->text,
                   self->rank, self->stacked ? 1 : GYRE_MAX_RANK);
      return FALSE;
    }

  for (int i = 0; i < self->rank; i++)
    if (!parse_dim (self, dims[i], i, &seen, error))
      return FALSE;

  return sum == NULL || self->stacked ||
         parse_dim (self, sum + 1, -1, &seen, error);
}

/**
 * gyre_sharding_new:
 * @mesh: a mesh
 * @spec: which mesh axes split which dimension: `""` replicated, `"data"` dimension 0,
 *   `",model"` dimension 1, `"data+model"` dimension 0 over both, `"[data]"` stacked: one
 *   copy a device, with a leading device dimension; `"~data"` in summands: the array is
 *   the sum of what the members of the axis have, which is added up where it is needed
 * @error: return location for an error
 *
 * Errors: %GYRE_ERROR_SHARDING for an axis that the mesh hasn't, or that stands twice.
 *
 * Returns: (transfer full): the sharding, or %NULL
 */
GyreSharding *
gyre_sharding_new (GyreMesh    *mesh,
                   const char  *spec,
                   GError     **error)
{
  g_autoptr (GyreSharding) self = NULL;

  g_return_val_if_fail (GYRE_IS_MESH (mesh), NULL);
  g_return_val_if_fail (spec != NULL, NULL);

  self = g_new0 (GyreSharding, 1);
  g_atomic_ref_count_init (&self->ref_count);
  self->mesh = g_object_ref (mesh);
  self->text = g_strstrip (g_strdup (spec));

  if (!parse (self, error))
    return NULL;

  return g_steal_pointer (&self);
}

/**
 * gyre_sharding_ref:
 * @self: a sharding
 *
 * Returns: (transfer full): @self
 */
GyreSharding *
gyre_sharding_ref (GyreSharding *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

/**
 * gyre_sharding_unref:
 * @self: (nullable) (transfer full): a sharding
 *
 * Gives up a reference.
 */
void
gyre_sharding_unref (GyreSharding *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->ref_count))
    return;

  g_object_unref (self->mesh);
  g_free (self->text);
  g_free (self);
}

/**
 * gyre_sharding_get_mesh:
 * @self: a sharding
 *
 * Returns: (transfer none): its mesh
 */
GyreMesh *
gyre_sharding_get_mesh (GyreSharding *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->mesh;
}

/**
 * gyre_sharding_to_string:
 * @self: a sharding
 *
 * Returns: (transfer full): its partition spec
 */
char *
gyre_sharding_to_string (GyreSharding *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return g_strdup (self->text);
}

gboolean
gyre_sharding_is_stacked (GyreSharding *self)
{
  return self->stacked;
}

/* The names of a dimension's axes. */
static char *
describe_axes (GyreSharding *self,
               int           dim)
{
  GString *text = g_string_new (NULL);

  for (guint a = 0; a < gyre_mesh_get_n_axes (self->mesh); a++)
    if (self->axes[dim] & 1 << a)
      g_string_append_printf (text, "%s%s", text->len > 0 ? "+" : "",
                              gyre_mesh_get_axis_name (self->mesh, a));

  return g_string_free (text, FALSE);
}

static gboolean
check_shape (GyreSharding     *self,
             const GyreShape  *shape,
             GError          **error)
{
  guint n = gyre_mesh_get_n_devices (self->mesh);
  int needed = 0;

  for (int i = 0; i < self->rank; i++)
    if (self->axes[i] != 0)
      needed = i + 1;

  if (shape->rank < needed)
    {
      g_autofree char *text = gyre_shape_to_string (shape);
      g_autofree char *axes = describe_axes (self, needed - 1);

      g_set_error (error, GYRE_ERROR, GYRE_ERROR_SHARDING,
                   "sharding '%s' splits dimension %d over axis '%s', and the array is "
                   "%s, of %d dimension%s", self->text, needed - 1, axes, text,
                   shape->rank, shape->rank == 1 ? "" : "s");
      return FALSE;
    }

  if (self->stacked && shape->dims[0] != (gint64) n)
    {
      g_autofree char *text = gyre_shape_to_string (shape);

      g_set_error (error, GYRE_ERROR, GYRE_ERROR_SHARDING,
                   "sharding '%s' needs a leading dimension of %u, one a device, and the "
                   "array is %s: gyre_replicate () and gyre_shard_batch () make it, and "
                   "an argument that has none is to be named as broadcast", self->text, n,
                   text);
      return FALSE;
    }

  return TRUE;
}

gboolean
gyre_sharding_resolve (GyreSharding     *self,
                       const GyreShape  *shape,
                       GyreSpec         *spec,
                       GError          **error)
{
  if (!check_shape (self, shape, error))
    return FALSE;

  *spec = GYRE_SPEC_REPLICATED;
  for (int i = 0; i < MIN (self->rank, shape->rank); i++)
    {
      spec->axes[i] = self->axes[i];
      spec->base[i] = self->axes[i] != 0 ? shape->dims[i] : 0;
    }
  spec->partial = self->partial;

  return TRUE;
}

gboolean
gyre_sharding_check_dtype (GyreSharding  *self,
                           GyreDtype      dtype,
                           GError       **error)
{
  if (self->partial == 0 || dtype == GYRE_F32 || dtype == GYRE_I32 || dtype == GYRE_U32)
    return TRUE;

  g_set_error (
      error, GYRE_ERROR, GYRE_ERROR_SHARDING,
      "sharding '%s' is of summands, which f32, i32 and u32 can be, and the array "
      "is %s",
      self->text, gyre_dtype_name (dtype));
  return FALSE;
}

/* How many members along the axes of a dimension get a part. */
static gint64
count_parts (GyreSharding *self,
             int           dim)
{
  gint64 n = 1;

  for (guint a = 0; a < gyre_mesh_get_n_axes (self->mesh); a++)
    if (self->axes[dim] & 1 << a)
      {
        const double *weights = gyre_mesh_get_shares (self->mesh, a);
        gint64 members = 0;

        for (guint i = 0; i < gyre_mesh_get_axis_size (self->mesh, a); i++)
          members += weights == NULL || weights[i] > 0;
        n *= members;
      }

  return n;
}

gboolean
gyre_sharding_check_parts (GyreSharding     *self,
                           const GyreShape  *shape,
                           GError          **error)
{
  for (int i = 0; !self->stacked && i < MIN (self->rank, shape->rank); i++)
    if (self->axes[i] != 0 && shape->dims[i] > 0 &&
        count_parts (self, i) > shape->dims[i])
      {
        g_autofree char *text = gyre_shape_to_string (shape);
        g_autofree char *axes = describe_axes (self, i);

        g_set_error (error, GYRE_ERROR, GYRE_ERROR_SHARDING,
                     "sharding '%s' splits dimension %d over axis '%s' in %d parts, and "
                     "the array is %s: there must be a row for each", self->text, i, axes,
                     (int) count_parts (self, i), text);
        return FALSE;
      }

  return TRUE;
}
