/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/gyre-step-private.h"

#include <stdarg.h>

#include <gyre/gyre-error.h>

#include "base/gyre-tree-private.h"

/* Runs that the caller may be ahead of the devices. */
#define AHEAD 2

struct _GyreStep
{
  GObject       parent_instance;

  GyreStepInfo *info;
  GHashTable   *compiled;         /* key → GyreCompiled */
  GyreCompiled *last;             /* that ran last */
  GyreTicket   *tickets[AHEAD];   /* of run t at t modulo AHEAD */
  guint64       n_runs;
};

G_DEFINE_TYPE (GyreStep, gyre_step, G_TYPE_OBJECT)

static void
gyre_step_finalize (GObject *object)
{
  GyreStep *self = GYRE_STEP (object);

  for (guint i = 0; i < AHEAD; i++)
    gyre_ticket_unref (self->tickets[i]);
  g_hash_table_unref (self->compiled);
  gyre_step_info_free (self->info);

  G_OBJECT_CLASS (gyre_step_parent_class)->finalize (object);
}

static void
gyre_step_class_init (GyreStepClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = gyre_step_finalize;
}

static void
gyre_step_init (GyreStep *self)
{
  self->compiled = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                          (GDestroyNotify) gyre_compiled_unref);
}

static GyreStepInfo *
info_new (GyreStepFunc    func,
          GyreMesh       *mesh,
          const char     *donate,
          gpointer        data,
          GDestroyNotify  destroy)
{
  GyreStepInfo *info = g_new0 (GyreStepInfo, 1);

  info->func = func;
  info->data = data;
  info->destroy = destroy;
  info->mesh = g_object_ref (mesh);
  info->rules = g_array_new (FALSE, TRUE, sizeof (GyreArgsRule));
  info->donate = g_strsplit (donate != NULL ? donate : "", ",", -1);
  for (guint i = 0; info->donate[i] != NULL; i++)
    g_strstrip (info->donate[i]);
  info->crews = gyre_crew_table_new ();

  return info;
}

static GyreStep *
step_new (GyreStepInfo *info)
{
  GyreStep *self = g_object_new (GYRE_TYPE_STEP, NULL);

  self->info = info;

  return self;
}

/**
 * gyre_step_jit:
 * @func: (scope notified) (closure data) (destroy destroy): the function, written as if
 * for one device @mesh: the devices
 * @shardings: (nullable): how the arguments lie, by entry or longer path:
 *   `"state=, batch=data"`, specs as in gyre_sharding_new (); what isn't named is
 *   replicated
 * @donate: (nullable): entries whose buffers the results at the same paths may take over,
 *   such as `"state"`: their arrays on devices can't be used again; those on the host are
 *   copied by each run, and can
 * @data: what @func is called with
 * @destroy: (nullable): frees @data
 * @error: return location for an error
 *
 * Compiles a function of global shapes: how it is spread over the mesh follows from the
 * shardings of the arguments.  Nothing is traced before the first run.
 *
 * Errors: %GYRE_ERROR_SYNTAX and %GYRE_ERROR_SHARDING for @shardings.
 *
 * Returns: (transfer full): the step, or %NULL
 */
GyreStep *
gyre_step_jit (GyreStepFunc     func,
               GyreMesh        *mesh,
               const char      *shardings,
               const char      *donate,
               gpointer         data,
               GDestroyNotify   destroy,
               GError         **error)
{
  GyreStepInfo *info;

  g_return_val_if_fail (func != NULL && GYRE_IS_MESH (mesh), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  info = info_new (func, mesh, donate, data, destroy);
  if (gyre_step_info_add_shardings (info, shardings, error))
    return step_new (info);

  gyre_step_info_free (info);
  return NULL;
}

/**
 * gyre_step_pmap:
 * @func: (scope notified) (closure data) (destroy destroy): the function of one device's
 *   share
 * @mesh: the devices: those of a machine, or a subset
 * @axis: the name of the mesh's axis, which collectives in @func name; of several:
 *   `"data+model"`
 * @broadcast: (nullable): comma-separated entries that every device sees whole
 * @ragged: (nullable): entries whose leading dimension is cut among the devices by
 *   share, over all axes of the mesh; `"x=data"` over that one, so that the members along
 *   others see the same rows
 * @donate: (nullable): entries whose buffers the results at the same paths may take over,
 *   as in gyre_step_jit()
 * @data: what @func is called with
 * @destroy: (nullable): frees @data
 * @error: return location for an error
 *
 * All other entries have a leading dimension of one a device, and so have the results.  A
 * result of unlike rows on the devices comes as rows of an entry do that are cut alike,
 * else one after the other.
 *
 * Errors: %GYRE_ERROR_SHARDING where @axis doesn't name the axes of the mesh, or @ragged
 * others than those.
 *
 * Returns: (transfer full): the step, or %NULL
 */
GyreStep *
gyre_step_pmap (GyreStepFunc     func,
                GyreMesh        *mesh,
                const char      *axis,
                const char      *broadcast,
                const char      *ragged,
                const char      *donate,
                gpointer         data,
                GDestroyNotify   destroy,
                GError         **error)
{
  g_autofree char *axes = NULL;
  GyreStepInfo *info;

  g_return_val_if_fail (func != NULL && GYRE_IS_MESH (mesh) && axis != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  info = info_new (func, mesh, donate, data, destroy);
  info->manual = TRUE;
  axes = gyre_step_join_axes (mesh);
  if (!g_str_equal (axis, axes))
    {
      g_autofree char *text = gyre_mesh_to_string (mesh);

      g_set_error (error, GYRE_ERROR, GYRE_ERROR_SHARDING,
                   "gyre_step_pmap: '%s' does not name the axes of the mesh, which is "
                   "%s: say '%s'", axis, text, axes);
    }
  else if (gyre_step_info_add_kinds (info, broadcast, GYRE_ARGS_BROADCAST, error)
           && gyre_step_info_add_kinds (info, ragged, GYRE_ARGS_RAGGED, error)
           && gyre_step_info_add_stacked (info, error))
    return step_new (info);

  gyre_step_info_free (info);
  return NULL;
}

/* The leaves, which must be arrays. */
static GPtrArray *
list_arrays (GyreTree   *args,
             GPtrArray **paths,
             GError    **error)
{
  g_autoptr (GPtrArray) leaves = gyre_tree_flatten (args, paths);
  g_autoptr (GPtrArray) arrays = g_ptr_array_new ();

  for (guint i = 0; i < leaves->len; i++)
    {
      GyreTree *leaf = g_ptr_array_index (leaves, i);

      if (gyre_tree_get_kind (leaf) != GYRE_TREE_ARRAY)
        {
          g_autofree char *text = gyre_tree_describe (leaf);

          g_set_error (error, GYRE_ERROR, GYRE_ERROR_TREE,
                       "gyre_step_run: argument %s is %s, not an array",
                       (char *) g_ptr_array_index (*paths, i), text);
          return NULL;
        }
      g_ptr_array_add (arrays, gyre_tree_as_array (leaf));
    }

  return g_steal_pointer (&arrays);
}

static GyreCompiled *
get_compiled (GyreStep   *self,
              GyreTree   *args,
              GPtrArray  *arrays,
              GPtrArray  *paths,
              GError    **error)
{
  g_autofree char *key = gyre_step_info_make_key (self->info, arrays, paths);
  GyreCompiled *compiled = g_hash_table_lookup (self->compiled, key);

  if (compiled == NULL)
    {
      if (gyre_step_info_check_names (self->info, args, error))
        compiled = gyre_compiled_new (self->info, args, arrays, paths, error);
      if (compiled != NULL)
        g_hash_table_insert (self->compiled, g_steal_pointer (&key), compiled);
    }
  else if (!gyre_compiled_update (compiled, error))
    return NULL;

  return compiled;
}

static GyreTree *
make_tree (GyreCompiled  *compiled,
           GPtrArray     *results,
           GError       **error)
{
  g_autoptr (GPtrArray) leaves = g_ptr_array_new_with_free_func (
    (GDestroyNotify) gyre_tree_unref);

  for (guint i = 0; i < results->len; i++)
    g_ptr_array_add (leaves, gyre_tree_new_array (g_ptr_array_index (results, i)));

  return gyre_trace_unflatten (g_ptr_array_index (compiled->traces, 0), leaves, error);
}

/* Waits for the run before the last; an error of the last that is known by now ends it
 * too. */
static gboolean
wait_before (GyreStep  *self,
             GError   **error)
{
  GyreTicket *before = self->tickets[self->n_runs % AHEAD];
  GyreTicket *last = self->tickets[(self->n_runs + AHEAD - 1) % AHEAD];

  if (before != NULL && !gyre_ticket_wait (before, error))
    return FALSE;

  return last == NULL || !gyre_ticket_is_done (last) || gyre_ticket_wait (last, error);
}

/**
 * gyre_step_run_tree:
 * @self: a step
 * @args: a dictionary of arguments, whose leaves are arrays
 * @error: return location for an error
 *
 * Runs the step.  Returns as soon as it is handed to the devices: it waits for the run
 * before the last and for nothing else.  The first run with arguments of these shapes
 * traces and compiles.  Donated arrays can't be used again.  One thread at a time.
 *
 * Errors: those of the traced function, %GYRE_ERROR_SHAPE and %GYRE_ERROR_SHARDING for
 * arguments that don't fit, %GYRE_ERROR_DONATED, %GYRE_ERROR_MEMORY, %GYRE_ERROR_BUILD;
 * %GYRE_ERROR_DEVICE for a run of before, which names it and the device.
 *
 * Returns: (transfer full): the results, or %NULL
 */
GyreTree *
gyre_step_run_tree (GyreStep  *self,
                    GyreTree  *args,
                    GError   **error)
{
  g_autoptr (GPtrArray) paths = NULL;
  g_autoptr (GPtrArray) arrays = NULL;
  g_autoptr (GPtrArray) results = NULL;
  GyreTicket *ticket = NULL;
  GyreCompiled *compiled;

  g_return_val_if_fail (GYRE_IS_STEP (self) && args != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  arrays = list_arrays (args, &paths, error);
  if (arrays == NULL || !wait_before (self, error))
    return NULL;

  compiled = get_compiled (self, args, arrays, paths, error);
  if (compiled == NULL)
    return NULL;

  results = gyre_run_start (compiled, arrays, paths, self->n_runs, &ticket, error);
  if (results == NULL)
    return NULL;

  gyre_ticket_unref (self->tickets[self->n_runs % AHEAD]);
  self->tickets[self->n_runs++ % AHEAD] = ticket;
  self->last = compiled;

  return make_tree (compiled, results, error);
}

/**
 * gyre_step_run: (skip)
 * @self: a step
 * @error: return location for an error
 * @...: the arguments, by GYRE_TREE_ENTRY(), GYRE_ARRAY_ENTRY(), GYRE_NODE_ENTRY() and
 *   their kin, as for gyre_tree_build(); then %NULL
 *
 * gyre_step_run_tree () of a dictionary of these.
 *
 * Returns: (transfer full): the results, or %NULL
 */
GyreTree *
gyre_step_run (GyreStep  *self,
               GError   **error,
               ...)
{
  g_autoptr (GyreTree) args = gyre_tree_new_dict ();
  va_list list;

  va_start (list, error);
  gyre_tree_set_entries (args, va_arg (list, const char *), list);
  va_end (list);

  return gyre_step_run_tree (self, args, error);
}

/**
 * gyre_step_wait:
 * @self: a step
 * @error: return location for an error
 *
 * Waits until all runs are done.
 *
 * Errors: that of the first run that failed among the last two.
 *
 * Returns: whether they went well
 */
gboolean
gyre_step_wait (GyreStep  *self,
                GError   **error)
{
  g_return_val_if_fail (GYRE_IS_STEP (self), FALSE);

  for (guint i = 0; i < AHEAD; i++)
    {
      GyreTicket *ticket = self->tickets[(self->n_runs + i) % AHEAD];

      if (ticket != NULL && !gyre_ticket_wait (ticket, error))
        return FALSE;
    }

  return TRUE;
}

/**
 * gyre_step_describe:
 * @self: a step that has run
 * @what: `"graph"`: what was traced, simplified; `"program"`: spread over the mesh and
 *   fused; `"schedule"`: the commands in the order in which they are enqueued, with
 * device,
 *   kernel, values and bytes
 *
 * Of the shapes that ran last.  Where devices of a pmap see unlike shapes, graph and
 * program are those of each, after a line of the devices.
 *
 * Returns: (transfer full) (nullable): text, or %NULL where nothing ran or @what is none
 * of
 *   these
 */
char *
gyre_step_describe (GyreStep   *self,
                    const char *what)
{
  g_return_val_if_fail (GYRE_IS_STEP (self) && what != NULL, NULL);

  if (self->last == NULL)
    return NULL;
  if (g_str_equal (what, "graph") || g_str_equal (what, "program"))
    return gyre_compiled_describe (self->last, g_str_equal (what, "program"));
  if (g_str_equal (what, "schedule"))
    return gyre_commands_to_string (self->last->schedule);

  return NULL;
}

/**
 * gyre_step_get_n_traces:
 * @self: a step
 *
 * Returns: how often the function was traced
 */
guint
gyre_step_get_n_traces (GyreStep *self)
{
  g_return_val_if_fail (GYRE_IS_STEP (self), 0);

  return self->info->n_traces;
}
