/* SPDX-License-Identifier: Apache-2.0 */
#include "collective/gyre-collective-object-private.h"

#include <string.h>

#include <gyre/gyre-error.h>

static const GyreCollectiveClass *const classes[] = {
  &gyre_collective_ring_class,
  &gyre_collective_direct_class,
  &gyre_collective_host_class,
  &gyre_collective_staged_class,
};

gboolean
gyre_devices_share_one_context (GyreDevice *const *devices,
                                guint              n)
{
  for (guint i = 1; i < n; i++)
    if (!gyre_devices_share_context (devices[0], devices[i]))
      return FALSE;

  return TRUE;
}

/* In one context nothing beats the direct way, and on the host nothing mapping; a copy of
 * a discrete device's whole bucket, there and back, costs more than whole chunks do. */
static const GyreCollectiveClass *
choose_class (const GyreCollective *self)
{
  const char *why_not;

  if (gyre_collective_direct_class.can (self, &why_not))
    return &gyre_collective_direct_class;
  if (self->one_context)
    return &gyre_collective_ring_class;
  for (guint i = 0; i < self->n; i++)
    if (!gyre_device_get_unified_memory (self->devices[i]))
      return &gyre_collective_staged_class;
  return &gyre_collective_host_class;
}

static const GyreCollectiveClass *
find_class (const char  *name,
            GError     **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (classes); i++)
    if (strcmp (classes[i]->name, name) == 0)
      return classes[i];

  g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
               "no all-reduce algorithm '%s' (of $GYRE_ALL_REDUCE, or asked for): there "
               "are ring, direct, host, staged and auto", name);
  return NULL;
}

static void
set_cannot_error (const GyreCollective  *self,
                  const char            *name,
                  const char            *why_not,
                  GError               **error)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; i < self->n; i++)
    g_string_append_printf (names, "%s%s (%s)", i > 0 ? ", " : "",
                            gyre_device_get_name (self->devices[i]),
                            gyre_device_get_platform (self->devices[i]));
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
               "all-reduce algorithm '%s' can't do these devices: %s: %s; take 'auto'",
               name, names->str, why_not);
}

gboolean
gyre_collective_set_class (GyreCollective  *self,
                           const char      *name,
                           GError         **error)
{
  const char *why_not = NULL;

  if (self->routes != NULL)
    {
      self->klass = &gyre_collective_routes_class;
      return TRUE;
    }
  if (name == NULL)
    name = g_getenv ("GYRE_ALL_REDUCE");
  if (name == NULL || *name == '\0' || strcmp (name, "auto") == 0)
    self->klass = choose_class (self);
  else if ((self->klass = find_class (name, error)) == NULL)
    return FALSE;

  if (self->klass->can (self, &why_not))
    return TRUE;
  set_cannot_error (self, self->klass->name, why_not, error);
  return FALSE;
}

gboolean
gyre_collective_can (GyreDevice *const *devices,
                     guint              n,
                     const char        *algorithm)
{
  GyreCollective self = {
    .n = n,
    .one_context = gyre_devices_share_one_context (devices, n),
  };
  const GyreCollectiveClass *klass = find_class (algorithm, NULL);
  const char *why_not;

  return klass != NULL && klass->can (&self, &why_not);
}
