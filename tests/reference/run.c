/* SPDX-License-Identifier: Apache-2.0 */
#include "reference.h"

#include <string.h>

struct _ReferenceStep
{
  ReferenceProgram program;
  GyreStep        *step;      /* NULL: interpreted */
};

guint
reference_layout_n (const char *layout)
{
  guint n = 1;

  for (const char *at = strchr (layout, '='); at != NULL; at = strchr (at + 1, '='))
    n *= (guint) g_ascii_strtoull (at + 1, NULL, 10);

  return n;
}

static GPtrArray *
first_devices (GPtrArray *devices,
               guint      n)
{
  GPtrArray *first = g_ptr_array_new_with_free_func (g_object_unref);

  for (guint i = 0; i < n; i++)
    g_ptr_array_add (first, g_object_ref (g_ptr_array_index (devices, i)));

  return first;
}

/* n of the devices given; where there are fewer the first entry is opened n times. */
static GPtrArray *
open_devices (Reference  *self,
              guint       n,
              GError    **error)
{
  g_autoptr (GPtrArray) devices = gyre_devices_open (self->devices, error);
  g_autofree char *base = g_strndup (self->devices, strcspn (self->devices, ",*/="));
  g_autofree char *spec = g_strdup_printf ("%s*%u", base, n);

  if (devices == NULL || n == 0)
    return g_steal_pointer (&devices);
  if (devices->len >= n)
    return first_devices (devices, n);

  return gyre_devices_open (spec, error);
}

/* Devices are opened once for each number of them. */
static GPtrArray *
get_devices (Reference  *self,
             guint       n,
             GError    **error)
{
  GPtrArray *devices = g_hash_table_lookup (self->opened, GUINT_TO_POINTER (n));

  if (devices != NULL)
    return devices;

  devices = open_devices (self, n, error);
  if (devices != NULL)
    g_hash_table_insert (self->opened, GUINT_TO_POINTER (n), devices);

  return devices;
}

static GyreStep *
make_step (Reference               *self,
           const ReferenceProgram  *program,
           GError                 **error)
{
  const char *layout = program->layout != NULL ? program->layout : "data=*";
  guint n = program->layout != NULL ? reference_layout_n (program->layout) : 0;
  GPtrArray *devices = get_devices (self, n, error);
  g_autoptr (GyreMesh) mesh = NULL;

  if (devices == NULL || (mesh = gyre_mesh_new (layout, devices, error)) == NULL)
    return NULL;
  if (program->manual)
    return gyre_step_pmap (program->func, mesh, gyre_mesh_get_axis_name (mesh, 0), NULL,
                           NULL, program->donate, program->data, NULL, error);

  return gyre_step_jit (program->func, mesh, program->shardings, program->donate,
                        program->data, NULL, error);
}

/* What the program points at has to live as long as the step. */
ReferenceStep *
reference_step_new (Reference               *self,
                    const ReferenceProgram  *program,
                    GError                 **error)
{
  g_autoptr (GyreStep) step = NULL;
  ReferenceStep *result;

  if (!self->oracle && (step = make_step (self, program, error)) == NULL)
    return NULL;

  result = g_new0 (ReferenceStep, 1);
  result->program = *program;
  result->step = g_steal_pointer (&step);

  return result;
}

void
reference_step_free (ReferenceStep *self)
{
  if (self == NULL)
    return;

  g_clear_object (&self->step);
  g_free (self);
}

GyreTree *
reference_step_run (ReferenceStep  *self,
                    GyreTree       *args,
                    GError        **error)
{
  if (self->step == NULL)
    return reference_interpret (&self->program, args, error);

  return gyre_step_run_tree (self->step, args, error);
}
