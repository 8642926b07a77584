/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/gyre-run-private.h"

#include "device/gyre-executor-private.h"

static GyreRun *
run_new (GyreCompiled *compiled,
         guint64       number)
{
  GyreRun *self = g_new0 (GyreRun, 1);

  self->compiled = gyre_compiled_ref (compiled);
  self->number = number;
  self->n_devices = self->n_left = gyre_mesh_get_n_devices (compiled->mesh);
  self->ticket = gyre_ticket_new (self->n_devices);
  self->slots = g_new0 (GyreBuffer **, self->n_devices);
  for (guint d = 0; d < self->n_devices; d++)
    self->slots[d] = g_new0 (GyreBuffer *, compiled->n_inputs + compiled->n_outputs + 1);
  self->stores = g_ptr_array_new_with_free_func ((GDestroyNotify) gyre_store_unref);
  self->arrays = g_ptr_array_new_with_free_func ((GDestroyNotify) gyre_array_unref);
  self->copies = g_array_new (FALSE, FALSE, sizeof (GyreRunCopy));
  self->uploads = g_array_new (FALSE, FALSE, sizeof (GyreRunUpload));
  self->smalls = g_array_new (FALSE, FALSE, sizeof (GyreRunSmall));

  return self;
}

/* Takes the store for this run. */
static GyreStore *
keep (GyreRun   *self,
      GyreStore *store)
{
  if (store != NULL)
    g_ptr_array_add (self->stores, store);

  return store;
}

static GyreStore *
take (GyreRun  *self,
      guint     device,
      gsize     size,
      GError  **error)
{
  return keep (self, gyre_pool_take (gyre_mesh_get_pool (self->compiled->mesh),
                                     gyre_mesh_get_device (self->compiled->mesh, device),
                                     size, error));
}

/* What is made anew in each run: as many buffers as there are runs at a time, beforehand,
 * so that how far the caller gets ahead makes no difference. */
static gboolean
reserve (GyreRun   *self,
         GyrePort  *port,
         GError   **error)
{
  for (guint d = 0; !port->reserved && d < self->n_devices; d++)
    if (!gyre_pool_reserve (gyre_mesh_get_pool (self->compiled->mesh),
                            gyre_mesh_get_device (self->compiled->mesh, d),
                            (gsize) gyre_block_n (&port->layout->blocks[d])
                              * gyre_dtype_size (port->dtype), error))
      return FALSE;

  port->reserved = TRUE;
  return TRUE;
}

static void
add_copy (GyreRun   *self,
          guint      device,
          GyreStore *from,
          GyreStore *to,
          gsize      size)
{
  GyreRunCopy copy = { gyre_mesh_get_device (self->compiled->mesh, device),
                       gyre_store_ref (from), gyre_store_ref (to), size };

  g_array_append_val (self->copies, copy);
}

/* --- inputs --- */

typedef struct
{
  GyreRun    *run;
  GPtrArray  *arrays;       /* as they were given */
  GyreStore **stores;       /* [n_inputs * n_devices]: where each input is */
} Inputs;

/* The array lies as the step wants it, on its devices. */
static gboolean
fits (const GyrePort *port,
      GyreMesh       *mesh,
      GyreArray      *array)
{
  return gyre_array_is_on (array, mesh) &&
         (array->layout == port->layout ||
          gyre_layout_equal (array->layout, port->layout));
}

static gboolean
is_given_twice (const Inputs *self,
                guint         i)
{
  for (guint k = 0; k < self->arrays->len; k++)
    if (k != i &&
        g_ptr_array_index (self->arrays, k) == g_ptr_array_index (self->arrays, i))
      return TRUE;

  return FALSE;
}

/* An array that still has its numbers in a home gets memory of its own. */
static gboolean
evacuate (Inputs     *self,
          guint       d,
          GyreStore  *home,
          GError    **error)
{
  GyreArray *array = home->array;
  GyreStore *store = take (self->run, d, gyre_array_block_size (array, d), error);

  if (store == NULL)
    return FALSE;

  add_copy (self->run, d, home, store, gyre_array_block_size (array, d));
  gyre_array_set_store (array, d, store);
  return TRUE;
}

/* Puts the array where the run may write over it; FALSE is an error. */
static gboolean
settle (Inputs     *self,
        guint       i,
        guint       d,
        GyreArray  *array,
        GyreStore **store,
        GError    **error)
{
  const GyrePort *port = &self->run->compiled->inputs[i];
  GyreStore *home = gyre_commands_get_home (self->run->compiled->schedule, d, i, error);
  GyreStore *old = *store;

  if (home == old && gyre_store_is_single (old) && port->donated &&
      !is_given_twice (self, i))
    return TRUE;
  if (home != NULL && g_atomic_int_get (&home->n_arrays) > 0
      && !evacuate (self, d, home, error))
    return FALSE;
  if (home == NULL && gyre_store_is_single (old) && !is_given_twice (self, i))
    return TRUE;

  *store = home != NULL ? keep (self->run, gyre_store_ref (home))
                        : take (self->run, d, gyre_array_block_size (array, d), error);
  if (*store == NULL)
    return FALSE;

  self->run->acquires |= home != NULL;
  if (home != old)
    add_copy (self->run, d, old, *store, gyre_array_block_size (array, d));
  return TRUE;
}

/* An array that is on the devices, under the lock. */
static gboolean
use_blocks (Inputs     *self,
            guint       i,
            GyreArray  *array,
            GError    **error)
{
  GyreRun *run = self->run;
  gboolean overwritten = run->compiled->inputs[i].overwritten;

  for (guint d = 0; d < run->n_devices; d++)
    {
      GyreStore *store = keep (run, gyre_store_ref (array->stores[d]));

      if (overwritten && !settle (self, i, d, array, &store, error))
        return FALSE;
      self->stores[i * run->n_devices + d] = store;
    }

  return TRUE;
}

/* Where the bytes of the host go: a home, or any memory. */
static GyreStore *
find_target (Inputs  *self,
             guint    i,
             guint    d,
             gsize    size,
             GError **error)
{
  GError *local = NULL;
  GyreStore *home = gyre_commands_get_home (self->run->compiled->schedule, d, i, &local);

  if (local != NULL)
    {
      g_propagate_error (error, local);
      return NULL;
    }
  if (home == NULL)
    return take (self->run, d, size, error);

  self->run->acquires = TRUE;
  if (g_atomic_int_get (&home->n_arrays) > 0 && !evacuate (self, d, home, error))
    return NULL;

  return keep (self->run, gyre_store_ref (home));
}

static gboolean
use_bytes (Inputs     *self,
           guint       i,
           GyreArray  *array,
           GError    **error)
{
  GyreRun *run = self->run;
  GyrePort *port = &run->compiled->inputs[i];
  gsize size = gyre_dtype_size (port->dtype);

  if (!port->donated && !reserve (run, port, error))
    return FALSE;
  for (guint d = 0; d < run->n_devices; d++)
    {
      const GyreBlock *block = &port->layout->blocks[d];
      GyreStore *store =
          find_target (self, i, d, (gsize) gyre_block_n (block) * size, error);
      GyreRunUpload upload = { gyre_mesh_get_device (run->compiled->mesh, d) };

      if (store == NULL)
        return FALSE;
      self->stores[i * run->n_devices + d] = store;
      upload.store = gyre_store_ref (store);
      upload.bytes = gyre_block_slice (block, &port->shape, size, array->bytes);
      g_array_append_val (run->uploads, upload);
    }

  return TRUE;
}

static gboolean
use_input (Inputs  *self,
           guint    i,
           GError **error)
{
  GyreCompiled *compiled = self->run->compiled;
  GyreArray *array = g_ptr_array_index (self->arrays, i);
  const GyrePort *port = &compiled->inputs[i];
  g_autoptr (GyreArray) moved = NULL;
  gboolean good;

  if (!fits (port, compiled->mesh, array) && array->bytes == NULL)
    {
      moved =
          gyre_array_put (array, port->sharding, gyre_layout_ref (port->layout), error);
      if (moved == NULL)
        return FALSE;
      array = moved;
    }

  g_ptr_array_add (self->run->arrays, gyre_array_ref (array));
  gyre_array_lock ();
  good = array->layout != NULL ? use_blocks (self, i, array, error)
                               : use_bytes (self, i, array, error);
  gyre_array_unlock ();

  for (guint d = 0; good && d < self->run->n_devices; d++)
    self->run->slots[d][i] = self->stores[i * self->run->n_devices + d]->buffer;
  return good;
}

static gboolean
use_inputs (Inputs     *self,
            GPtrArray  *paths,
            GError    **error)
{
  for (guint i = 0; i < self->arrays->len; i++)
    if (!gyre_array_check (g_ptr_array_index (self->arrays, i), "gyre_step_run", error)
        || !use_input (self, i, error))
      {
        g_prefix_error (error, "argument %s: ", (char *) g_ptr_array_index (paths, i));
        return FALSE;
      }

  return TRUE;
}

/* --- outputs --- */

static GyreStore *
find_result (Inputs     *self,
             GPtrArray  *results,
             guint       o,
             guint       d,
             GError    **error)
{
  GyreRun *run = self->run;
  GyrePort *port = &run->compiled->outputs[o];
  GyreStore *store;

  switch (port->result.kind)
    {
    case GYRE_RESULT_INPUT:
      return self->stores[port->result.index * run->n_devices + d];
    case GYRE_RESULT_OUTPUT:
      return ((GyreArray *) g_ptr_array_index (results, port->result.index))->stores[d];
    case GYRE_RESULT_FRESH:
      break;
    }

  if (!reserve (run, port, error))
    return NULL;
  store = take (run, d, (gsize) gyre_block_n (&port->layout->blocks[d])
                        * gyre_dtype_size (port->dtype), error);
  if (store != NULL)
    run->slots[d][run->compiled->n_inputs + o] = store->buffer;
  return store;
}

static void
add_small (GyreRun   *self,
           GyreArray *array)
{
  for (guint d = 0; d < self->n_devices; d++)
    if (gyre_block_n (&array->layout->blocks[d]) == 1)
      {
        GyreRunSmall small = { gyre_mesh_get_device (self->compiled->mesh, d),
                               array->stores[d]->buffer, array,
                               gyre_dtype_size (array->dtype) };

        array->has_small = TRUE;
        g_array_append_val (self->smalls, small);
        return;
      }
}

static GyreArray *
make_result (Inputs     *self,
             GPtrArray  *results,
             guint       o,
             GError    **error)
{
  GyreRun *run = self->run;
  const GyrePort *port = &run->compiled->outputs[o];
  g_autoptr (GyreArray) array = gyre_array_new_sharded (port->dtype, port->shape,
                                                        port->sharding,
                                                        gyre_layout_ref (port->layout));

  for (guint d = 0; d < run->n_devices; d++)
    {
      GyreStore *store = find_result (self, results, o, d, error);

      if (store == NULL)
        return NULL;
      gyre_array_set_store (array, d, store);
    }

  array->ticket = gyre_ticket_ref (run->ticket);
  if (port->small)
    {
      add_small (run, array);
      g_ptr_array_add (run->arrays, gyre_array_ref (array));
    }

  return g_steal_pointer (&array);
}

/* The donated ones give up their memory first: then the results alone have it. */
static void
take_donated (Inputs *self)
{
  GyreCompiled *compiled = self->run->compiled;

  for (guint i = 0; i < compiled->n_inputs; i++)
    {
      GyreArray *array = g_ptr_array_index (self->arrays, i);

      if (compiled->inputs[i].donated && array->layout != NULL)
        gyre_array_set_donated (array);
    }
}

static GPtrArray *
make_results (Inputs  *self,
              GError **error)
{
  guint n = self->run->compiled->n_outputs;
  g_autoptr (GPtrArray) results = g_ptr_array_new_with_free_func (
    (GDestroyNotify) gyre_array_unref);

  for (guint o = 0; o < n; o++)
    {
      GyreArray *array = make_result (self, results, o, error);

      if (array == NULL)
        return NULL;
      g_ptr_array_add (results, array);
    }

  return g_steal_pointer (&results);
}

GPtrArray *
gyre_run_start (GyreCompiled  *compiled,
                GPtrArray     *arrays,
                GPtrArray     *paths,
                guint64        number,
                GyreTicket   **ticket,
                GError       **error)
{
  g_autoptr (GyreRun) run = run_new (compiled, number);
  Inputs inputs = { run, arrays };
  GPtrArray *results = NULL;

  inputs.stores = g_new0 (GyreStore *, compiled->n_inputs * run->n_devices + 1);
  if (use_inputs (&inputs, paths, error))
    results = make_results (&inputs, error);
  if (results != NULL)
    {
      take_donated (&inputs);
      *ticket = gyre_ticket_ref (run->ticket);
      gyre_executor_post (gyre_run_job, g_steal_pointer (&run));
    }
  g_free (inputs.stores);

  return results;
}
