/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/gyre-spec-private.h"

#include <math.h>
#include <string.h>

/* Fractions of a share that differ by less are equal: weights are measured numbers, and
 * rounding must not decide who gets a row. */
#define TIE 1e-9

guint
gyre_mesh_spec_n_devices (const GyreMeshSpec *self)
{
  guint n = 1;

  for (guint a = 0; a < self->n_axes; a++)
    n *= self->axes[a].size;

  return n;
}

guint
gyre_mesh_spec_coord (const GyreMeshSpec *self,
                      guint               device,
                      guint               axis)
{
  g_return_val_if_fail (axis < self->n_axes, 0);

  for (guint a = self->n_axes - 1; a > axis; a--)
    device /= self->axes[a].size;

  return device % self->axes[axis].size;
}

gboolean
gyre_spec_equal (const GyreSpec *a,
                 const GyreSpec *b)
{
  return a->partial == b->partial && a->flat == b->flat
         && memcmp (a->axes, b->axes, sizeof a->axes) == 0
         && memcmp (a->base, b->base, sizeof a->base) == 0;
}

gboolean
gyre_spec_is_replicated (const GyreSpec *self)
{
  return gyre_spec_split_axes (self) == 0 && self->partial == 0;
}

guint8
gyre_spec_split_axes (const GyreSpec *self)
{
  guint8 mask = self->flat;

  for (int i = 0; i < GYRE_MAX_RANK; i++)
    mask |= self->axes[i];

  return mask;
}

static void
append_axes (GString            *out,
             const GyreMeshSpec *mesh,
             guint8              mask)
{
  const char *separator = "";

  if (mask == 0)
    g_string_append_c (out, '-');

  for (guint a = 0; a < mesh->n_axes; a++)
    if (mask & 1 << a)
      {
        g_string_append_printf (out, "%s%s", separator, mesh->axes[a].name);
        separator = "+";
      }
}

static void
append_dims (GString            *out,
             const GyreSpec     *self,
             const GyreMeshSpec *mesh,
             int                 rank)
{
  g_string_append_c (out, '[');
  for (int i = 0; i < rank; i++)
    {
      g_string_append (out, i > 0 ? "," : "");
      append_axes (out, mesh, self->axes[i]);
      if (self->axes[i] != 0)
        g_string_append_printf (out, ":%" G_GINT64_FORMAT, self->base[i]);
    }
  g_string_append_c (out, ']');
}

/* "[data:256,-]": dimension 0 is cut where 256 is, over the axis data; then
 * " partial=data" and " flat=data".  Replicated values are "[-,-]". */
char *
gyre_spec_to_string (const GyreSpec     *self,
                     const GyreMeshSpec *mesh,
                     int                 rank)
{
  GString *out = g_string_new (NULL);

  append_dims (out, self, mesh, rank);
  if (self->flat != 0)
    {
      g_string_append (out, " flat=");
      append_axes (out, mesh, self->flat);
    }
  if (self->partial != 0)
    {
      g_string_append (out, " partial=");
      append_axes (out, mesh, self->partial);
    }

  return g_string_free (out, FALSE);
}

static double
total_weight (guint         n,
              const double *weights)
{
  double total = 0;

  for (guint i = 0; weights != NULL && i < n; i++)
    {
      g_return_val_if_fail (weights[i] >= 0 && isfinite (weights[i]), 0);
      total += weights[i];
    }

  return total;
}

/* The member that has the most left over; the lowest of equals. */
static guint
find_largest_remainder (guint         n,
                        const double *remainders)
{
  guint best = 0;

  for (guint i = 1; i < n; i++)
    if (remainders[i] > remainders[best] + TIE)
      best = i;

  return best;
}

void
gyre_shares_cut (gint64        extent,
                 guint         n,
                 const double *weights,
                 gint64       *bounds)
{
  double total = total_weight (n, weights);
  g_autofree double *remainders = g_new (double, n + 1);
  gint64 left = extent;

  g_return_if_fail (extent >= 0 && n > 0);

  /* bounds[i + 1] holds the count of member i until the last loop. */
  for (guint i = 0; i < n; i++)
    {
      double quota = (total > 0 ? extent * weights[i] / total : (double) extent / n);

      bounds[i + 1] = (gint64) floor (quota + TIE);
      remainders[i] = quota - (double) bounds[i + 1];
      left -= bounds[i + 1];
    }

  for (; left > 0; left--)
    {
      guint i = find_largest_remainder (n, remainders);

      bounds[i + 1]++;
      remainders[i] -= 1;
    }

  bounds[0] = 0;
  for (guint i = 0; i < n; i++)
    bounds[i + 1] += bounds[i];
}

/* Axes nest in their order in the mesh: each cuts what the one before left. */
void
gyre_spec_local_range (const GyreSpec     *self,
                       const GyreMeshSpec *mesh,
                       const GyreShape    *global,
                       guint               device,
                       int                 dim,
                       gint64             *first,
                       gint64             *count)
{
  gint64 base =
      self->axes[dim] != 0 && self->base[dim] > 0 ? self->base[dim] : global->dims[dim];
  gint64 scale = base > 0 ? global->dims[dim] / base : 1;
  gint64 from = 0, extent = base;

  for (guint a = 0; a < mesh->n_axes; a++)
    if (self->axes[dim] & 1 << a)
      {
        g_autofree gint64 *bounds = g_new (gint64, mesh->axes[a].size + 1);
        guint coord = gyre_mesh_spec_coord (mesh, device, a);

        gyre_shares_cut (extent, mesh->axes[a].size, mesh->weights[a], bounds);
        from += bounds[coord];
        extent = bounds[coord + 1] - bounds[coord];
      }

  *first = from * scale;
  *count = extent * scale;
}

void
gyre_spec_local_shape (const GyreSpec     *self,
                       const GyreMeshSpec *mesh,
                       const GyreShape    *global,
                       guint               device,
                       GyreShape          *local,
                       gint64             *offsets)
{
  GyreShape shape = *global;

  for (int i = 0; i < global->rank; i++)
    {
      gint64 first, count;

      gyre_spec_local_range (self, mesh, global, device, i, &first, &count);
      shape.dims[i] = count;
      if (offsets != NULL)
        offsets[i] = first;
    }

  *local = shape;
}
