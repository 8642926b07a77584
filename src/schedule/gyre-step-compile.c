/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/gyre-step-private.h"

#include <gyre/gyre-error.h>

#include "autodiff/gyre-autodiff-private.h"
#include "fuse/gyre-fuse-private.h"
#include "ir/gyre-simplify-private.h"
#include "partition/gyre-partition-private.h"
#include "prims/gyre-collective-private.h"

/* Takes one set of arguments down the road: trace, simplify, partition, fuse,
 * schedule. */
typedef struct
{
  GyreStepInfo *info;
  GyreTree     *args;
  GPtrArray    *arrays;
  GPtrArray    *paths;
  GyreCompiled *compiled;
  GyreProgram **by_device;
  GyreAval    **avals;      /* by variant */
  guint8        ragged;     /* axes whose members have unlike rows */
} Compiler;

static GyreAval *
make_avals (Compiler  *self,
            guint      device,
            GError   **error)
{
  g_autofree GyreAval *avals = g_new0 (GyreAval, self->arrays->len + 1);

  for (guint i = 0; i < self->arrays->len; i++)
    if (!gyre_step_info_get_aval (self->info, g_ptr_array_index (self->arrays, i),
                                  g_ptr_array_index (self->paths, i), device, &avals[i],
                                  error))
      return NULL;

  return g_steal_pointer (&avals);
}

static GyreTrace *
trace (Compiler        *self,
       const GyreAval  *avals,
       GError         **error)
{
  g_autoptr (GyreTrace) result = gyre_trace_new ();
  GyreMeshSpec mesh;

  gyre_mesh_get_spec (self->info->mesh, &mesh);
  for (guint a = 0; a < mesh.n_axes; a++)
    gyre_trace_add_axis (result, mesh.axes[a].name, mesh.axes[a].size, self->info->manual,
                         (self->ragged & 1 << a) != 0);
  self->info->n_traces++;
  if (!gyre_trace_run (result, self->info->func, self->info->data, self->args, avals,
                       error))
    return NULL;

  return g_steal_pointer (&result);
}

/* The paths of the outputs of a trace, which are those of the results that are
 * tensors. */
static GPtrArray *
list_output_paths (const GyreTrace *trace)
{
  GPtrArray *paths = g_ptr_array_new ();

  for (guint i = 0; i < trace->result_leaves->len; i++)
    if (gyre_tree_get_kind (g_ptr_array_index (trace->result_leaves, i)) ==
        GYRE_TREE_TENSOR)
      g_ptr_array_add (paths, g_ptr_array_index (trace->result_paths, i));

  return paths;
}

static gboolean
same_type (const GyreTensor *a,
           const GyreTensor *b)
{
  return a->dtype == b->dtype && gyre_shape_equal (&a->shape, &b->shape);
}

/* A result at the path of a donated argument takes it over. */
static int *
find_donors (Compiler        *self,
             const GyreTrace *trace,
             const GyreGraph *graph)
{
  g_autoptr (GPtrArray) outputs = list_output_paths (trace);
  int *donors = g_new (int, outputs->len + 1);

  for (guint o = 0; o < outputs->len; o++)
    {
      const char *path = g_ptr_array_index (outputs, o);

      donors[o] = -1;
      for (guint i = 0; i < self->paths->len; i++)
        if (g_str_equal (path, g_ptr_array_index (self->paths, i))
            && gyre_step_info_is_donated (self->info, path)
            && same_type (g_ptr_array_index (graph->outputs, o),
                          g_ptr_array_index (graph->inputs, i)))
          donors[o] = (int) i;
    }

  return donors;
}

/* An axis of one device splits nothing, and has no summands. */
static void
drop_single_axes (GyreMesh *mesh,
                  GyreSpec *spec)
{
  for (guint a = 0; a < gyre_mesh_get_n_axes (mesh); a++)
    if (gyre_mesh_get_axis_size (mesh, a) == 1)
      {
        spec->partial &= (guint8) ~(1 << a);
        for (int i = 0; i < GYRE_MAX_RANK; i++)
          spec->axes[i] &= (guint8) ~(1 << a);
      }

  for (int i = 0; i < GYRE_MAX_RANK; i++)
    if (spec->axes[i] == 0)
      spec->base[i] = 0;
}

static GyreSpec *
make_input_specs (Compiler  *self,
                  GError   **error)
{
  g_autofree GyreSpec *specs = g_new0 (GyreSpec, self->arrays->len + 1);

  for (guint i = 0; !self->info->manual && i < self->arrays->len; i++)
    {
      GyreArray *array = g_ptr_array_index (self->arrays, i);
      const char *path = g_ptr_array_index (self->paths, i);

      if (!gyre_sharding_resolve (gyre_step_info_find (self->info, path)->sharding,
                                  &array->shape, &specs[i], error))
        return NULL;
    }

  for (guint i = 0; i < self->arrays->len; i++)
    drop_single_axes (self->info->mesh, &specs[i]);
  return g_steal_pointer (&specs);
}

static GyreProgram *
make_program (Compiler         *self,
              const GyreTrace  *trace,
              const GyreGraph  *graph,
              GError          **error)
{
  g_autofree GyreSpec *specs = make_input_specs (self, error);
  g_autofree int *donors = find_donors (self, trace, graph);
  g_autoptr (GyreProgram) program = NULL;
  GyreMeshSpec mesh;

  if (specs == NULL)
    return NULL;

  gyre_mesh_get_spec (self->info->mesh, &mesh);
  for (guint a = 0; a < mesh.n_axes; a++)
    mesh.axes[a].manual = self->info->manual;
  program = gyre_partition (graph, &mesh, specs, donors, error);
  if (program == NULL)
    return NULL;

  return gyre_fuse (program, error);
}

/* Members with shares of other sizes are traced apart: their results must be called
 * alike. */
static gboolean
gives_the_same (const GyreTrace  *first,
                const GyreTrace  *other,
                GError          **error)
{
  g_autoptr (GPtrArray) a = list_output_paths (first);
  g_autoptr (GPtrArray) b = list_output_paths (other);

  for (guint i = 0; i < MAX (a->len, b->len); i++)
    {
      const char *path_a = i < a->len ? g_ptr_array_index (a, i) : "none";
      const char *path_b = i < b->len ? g_ptr_array_index (b, i) : "none";

      if (!g_str_equal (path_a, path_b))
        {
          g_set_error (error, GYRE_ERROR, GYRE_ERROR_TREE,
                       "the function gives other results for a share of another size: "
                       "result %u is \"%s\" of one member and \"%s\" of another: it has "
                       "to return a tree of the same structure for any number of rows",
                       i, path_a, path_b);
          return FALSE;
        }
    }

  return TRUE;
}

/* Where members run programs of their own, a result that is an argument, or another
 * result, of one need not be that of the others: a copy is what all of them can give. */
static void
copy_shared_outputs (GyreGraph *graph)
{
  for (guint i = 0; i < graph->outputs->len; i++)
    {
      GyreTensor *output = g_ptr_array_index (graph->outputs, i), *root = output;
      gboolean shared = FALSE;

      while (root->prim->flags & GYRE_PRIM_VIEW)
        root = root->operands[0];
      for (guint j = 0; j < i; j++)
        shared |= g_ptr_array_index (graph->outputs, j) == output;
      if (shared || root != output || root->prim == &gyre_prim_input)
        graph->outputs->pdata[i] =
            gyre_graph_emit (graph, &gyre_prim_identity, &output, 1, NULL);
    }
}

/* Devices that see the same shapes share a program. */
static gboolean
add_variant (Compiler  *self,
             GyreAval  *avals,
             GError   **error)
{
  GyreCompiled *compiled = self->compiled;
  GyreTrace *traced = trace (self, avals, error);
  GyreProgram *program;
  GyreGraph *graph;

  if (traced == NULL)
    return FALSE;
  g_ptr_array_add (compiled->traces, traced);
  if (!gives_the_same (g_ptr_array_index (compiled->traces, 0), traced, error))
    return FALSE;

  graph = gyre_graph_simplify (traced->graph);
  if (self->ragged != 0)
    copy_shared_outputs (graph);
  gyre_collectives_number (graph);
  g_ptr_array_add (compiled->graphs, graph);

  program = make_program (self, traced, graph, error);
  if (program == NULL)
    return FALSE;
  g_ptr_array_add (compiled->programs, program);

  return TRUE;
}

static gboolean
find_program (Compiler  *self,
              guint      device,
              GError   **error)
{
  g_autofree GyreAval *avals = make_avals (self, device, error);
  guint n = self->compiled->programs->len;

  if (avals == NULL)
    return FALSE;

  for (guint v = 0; v < n; v++)
    if (memcmp (self->avals[v], avals, sizeof (GyreAval) * self->arrays->len) == 0)
      {
        self->by_device[device] = g_ptr_array_index (self->compiled->programs, v);
        self->compiled->variants[device] = v;
        return TRUE;
      }

  if (!add_variant (self, avals, error))
    return FALSE;
  self->avals[n] = g_steal_pointer (&avals);
  self->by_device[device] = g_ptr_array_index (self->compiled->programs, n);
  self->compiled->variants[device] = n;
  return TRUE;
}

static gboolean
compile (Compiler  *self,
         GError   **error)
{
  guint n = gyre_mesh_get_n_devices (self->info->mesh);

  for (guint d = 0; d < n; d++)
    if (!find_program (self, d, error))
      return FALSE;

  self->compiled->schedule = gyre_commands_new (self->info->mesh, self->by_device,
                                                self->info->crews, error);
  if (self->compiled->schedule == NULL)
    return FALSE;

  gyre_compiled_make_ports (self->compiled, self->info, self->arrays, self->paths);
  return gyre_compiled_set_layouts (self->compiled, error);
}

static GyreCompiled *
compiled_alloc (GyreMesh *mesh)
{
  GyreCompiled *self = g_new0 (GyreCompiled, 1);

  g_atomic_ref_count_init (&self->ref_count);
  self->mesh = g_object_ref (mesh);
  self->variants = g_new0 (guint, gyre_mesh_get_n_devices (mesh));
  self->traces = g_ptr_array_new_with_free_func ((GDestroyNotify) gyre_trace_free);
  self->graphs = g_ptr_array_new_with_free_func ((GDestroyNotify) gyre_graph_free);
  self->programs = g_ptr_array_new_with_free_func ((GDestroyNotify) gyre_program_free);

  return self;
}

GyreCompiled *
gyre_compiled_new (GyreStepInfo  *info,
                   GyreTree      *args,
                   GPtrArray     *arrays,
                   GPtrArray     *paths,
                   GError       **error)
{
  guint n = gyre_mesh_get_n_devices (info->mesh);
  g_autoptr (GyreCompiled) compiled = compiled_alloc (info->mesh);
  Compiler self = { info, args, arrays, paths, compiled };
  gboolean good;

  self.by_device = g_new0 (GyreProgram *, n);
  self.avals = g_new0 (GyreAval *, n + 1);
  self.ragged = gyre_step_info_find_ragged (info, arrays, paths);
  good = compile (&self, error);
  g_strfreev ((char **) self.avals);
  g_free (self.by_device);

  return good ? g_steal_pointer (&compiled) : NULL;
}

GyreCompiled *
gyre_compiled_ref (GyreCompiled *self)
{
  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

void
gyre_compiled_unref (GyreCompiled *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->ref_count))
    return;

  gyre_compiled_clear_ports (self);
  gyre_commands_free (self->schedule);
  g_ptr_array_unref (self->programs);
  g_ptr_array_unref (self->graphs);
  g_ptr_array_unref (self->traces);
  g_object_unref (self->mesh);
  g_free (self->variants);
  g_free (self->name);
  g_free (self);
}

static void
append_devices (const GyreCompiled *self,
                guint               variant,
                GString            *text)
{
  const char *before = "devices ";

  for (guint d = 0; d < gyre_mesh_get_n_devices (self->mesh); d++)
    if (self->variants[d] == variant)
      {
        g_string_append_printf (text, "%s%u", before, d);
        before = ", ";
      }
  g_string_append (text, ":\n");
}

char *
gyre_compiled_describe (GyreCompiled *self,
                        gboolean      programs)
{
  GString *text = g_string_new (NULL);

  for (guint v = 0; v < self->programs->len; v++)
    {
      g_autofree char *one =
          programs ? gyre_program_to_string (g_ptr_array_index (self->programs, v))
                   : gyre_graph_to_string (g_ptr_array_index (self->graphs, v));

      if (self->programs->len > 1)
        append_devices (self, v, text);
      g_string_append (text, one);
    }

  return g_string_free (text, FALSE);
}

gboolean
gyre_compiled_update (GyreCompiled  *self,
                      GError       **error)
{
  if (self->version == gyre_mesh_get_version (self->mesh))
    return TRUE;

  return gyre_commands_update (self->schedule, error)
         && gyre_compiled_set_layouts (self, error);
}
