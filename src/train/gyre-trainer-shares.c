/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-trainer-private.h"

#include <string.h>

#include "base/gyre-text-private.h"

/* Shares are measured on the model's own step.  Each device runs it alone on a whole
 * batch and on a quarter of one, which tells its cost per step from its cost per sample.
 * Then, from the fastest on, each device is tried in the mesh with shares that would end
 * all at the same time, and stays if the step is faster with it: that counts what no
 * model of one device knows, such as two platforms on the same cores. */

#define WARM_UP  2
#define REPEATS  5
#define WORTH_IT 0.97   /* of the time without it */

typedef struct
{
  GyreDevice *device;
  guint       index;      /* as opened */
  double      per_step;   /* seconds */
  double      per_row;
  gboolean    failed;
} Cost;

/* --- fixed shares --- */

/* Shares go through their text in the log, so that a plan that is read back is the
 * same. */
static double
as_logged (double share)
{
  g_autofree char *text = gyre_float_to_string (share);

  return g_ascii_strtod (text, NULL);
}

static gboolean
set_shares (GyreRunPlan *plan, const double *weights, GError **error)
{
  double sum = 0.0;

  for (guint i = 0; i < plan->n_devices; i++)
    sum += weights[i];
  if (!(sum > 0.0 && sum <= G_MAXFLOAT))
    {
      g_set_error_literal (error, GYRE_ERROR, GYRE_ERROR_INVALID,
                           sum > 0.0
                               ? "the shares add up to more than a float holds"
                               : "the shares are all 0: at least one device must work");
      return FALSE;
    }
  for (guint i = 0; i < plan->n_devices; i++)
    plan->shares[i] = as_logged (weights[i] / sum);
  return TRUE;
}

static void
use_all (GyreTrainer *self)
{
  GyreRunPlan *plan = &self->plan;

  plan->n_opened  = self->devices->len;
  plan->n_devices = plan->n_opened;
  plan->used      = g_new (gboolean, plan->n_opened);
  plan->shares    = g_new (double, plan->n_opened);
  for (guint i = 0; i < plan->n_opened; i++)
    {
      plan->used[i]   = TRUE;
      plan->shares[i] = as_logged (1.0 / plan->n_opened);
    }
}

static gboolean
parse_shares (GyreTrainer *self, const char *text, GError **error)
{
  g_auto (GStrv)      parts   = g_strsplit (text, ":", -1);
  guint               n       = g_strv_length (parts);
  g_autofree double  *weights = g_new0 (double, n + 1);

  if (n != self->plan.n_devices)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
                   "--shares %s: %u shares for %u devices; give one a device, or 'equal'",
                   text, n, self->plan.n_devices);
      return FALSE;
    }
  for (guint i = 0; i < n; i++)
    if (!gyre_text_parse_double (parts[i], &weights[i], error) || weights[i] < 0.0)
      {
        if (error && !*error)
          g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
                       "'%s' is below 0", parts[i]);
        g_prefix_error (error, "--shares %s: ", text);
        return FALSE;
      }
  if (set_shares (&self->plan, weights, error))
    return TRUE;
  g_prefix_error (error, "--shares %s: ", text);
  return FALSE;
}

/* Shares from the device string ("pocl=0.25"); devices without share what is left. */
static gboolean
take_device_shares (GyreTrainer *self, gboolean *found, GError **error)
{
  guint              n       = self->devices->len;
  g_autofree double *weights = g_new0 (double, n);
  double             fixed   = 0.0;
  guint              n_free  = 0;
  char               text[G_ASCII_DTOSTR_BUF_SIZE];

  for (guint i = 0; i < n; i++)
    {
      weights[i] = gyre_device_get_share (g_ptr_array_index (self->devices, i));
      if (weights[i] >= 0.0)
        fixed += weights[i];
      else
        n_free++;
    }
  *found = n_free < n;
  if (!*found)
    return TRUE;
  if (fixed > 1.0 + 1e-9)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
                   "the shares in the device string add up to %s; all together are 1 at "
                   "most", g_ascii_formatd (text, sizeof text, "%g", fixed));
      return FALSE;
    }
  for (guint i = 0; i < n; i++)
    if (weights[i] < 0.0)
      weights[i] = (1.0 - fixed) / n_free;
  return set_shares (&self->plan, weights, error);
}

/* One device opened several times, or its halves: there is nothing to measure. */
static gboolean
all_alike (GPtrArray *devices)
{
  GyreDevice *first = g_ptr_array_index (devices, 0);

  for (guint i = 1; i < devices->len; i++)
    {
      GyreDevice *device = g_ptr_array_index (devices, i);

      if (g_strcmp0 (gyre_device_get_name (first), gyre_device_get_name (device)) != 0 ||
          g_strcmp0 (gyre_device_get_platform (first),
                     gyre_device_get_platform (device)) != 0)
        return FALSE;
    }
  return TRUE;
}

/* --- measuring --- */

/* The first rows of a batch. */
static GyreTree *
head_of_batch (GyreTree *batch, gint64 rows)
{
  static const char *const names[] = { "image", "label" };
  GyreTree                *head    = gyre_tree_new_dict ();

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    {
      GyreArray            *array = gyre_tree_get_array (batch, names[i]);
      GyreShape             shape = gyre_array_get_shape (array);
      g_autoptr (GBytes)    bytes = gyre_array_get (array, NULL);
      g_autoptr (GyreArray) part  = NULL;

      shape.dims[0] = MIN (shape.dims[0], rows);
      part = gyre_array_new (gyre_array_get_dtype (array), shape,
                             g_bytes_get_data (bytes, NULL));
      gyre_tree_set_array (head, names[i], part);
    }
  return head;
}

/* The median time of a step in seconds, on a state that is thrown away. */
static gboolean
time_step (GyreTrainer     *self,
           GyreMesh        *mesh,
           GyreStep        *step,
           GyreTree        *batch,
           GyreTrainState **state,
           double          *seconds,
           GError         **error)
{
  double times[REPEATS];

  for (int i = 0; i < WARM_UP + REPEATS; i++)
    {
      gint64               start   = g_get_monotonic_time ();
      g_autoptr (GyreTree) results =
          gyre_trainer_call_step (self, step, mesh, GYRE_MODE_JIT, state, batch, error);

      if (!results || !gyre_step_wait (step, error))
        return FALSE;
      if (i >= WARM_UP)
        times[i - WARM_UP] = (double) (g_get_monotonic_time () - start) / 1e6;
    }
  for (int i = 1; i < REPEATS; i++)
    for (int j = i; j > 0 && times[j] < times[j - 1]; j--)
      {
        double swap = times[j];

        times[j]     = times[j - 1];
        times[j - 1] = swap;
      }
  *seconds = times[REPEATS / 2];
  return TRUE;
}

static gboolean
measure_device (GyreTrainer *self, GyreTree *batch, Cost *cost, GError **error)
{
  g_autoptr (GPtrArray)      alone   = g_ptr_array_new ();
  g_autoptr (GyreMesh)       mesh    = NULL;
  g_autoptr (GyreStep)       step    = NULL;
  g_autoptr (GyreTrainState) state   = g_object_ref (self->state);
  gint64 rows = gyre_array_get_shape (gyre_tree_get_array (batch, "label")).dims[0];
  gint64                     quarter = MAX (1, rows / 4);
  g_autoptr (GyreTree)       part    = head_of_batch (batch, quarter);
  double                     whole, little;

  g_ptr_array_add (alone, cost->device);
  if (!(mesh = gyre_mesh_new ("data=*", alone, error)) ||
      !(step = gyre_trainer_make_step (self, mesh, GYRE_MODE_JIT, error)) ||
      !time_step (self, mesh, step, batch, &state, &whole, error) ||
      !time_step (self, mesh, step, part, &state, &little, error))
    return FALSE;
  cost->per_row  = rows > quarter ? MAX ((whole - little) / (double) (rows - quarter),
                                         whole / (double) rows * 0.05)
                                  : whole / (double) rows;
  cost->per_step = MAX (whole - cost->per_row * (double) rows, 0.0);
  return TRUE;
}

static double
time_alone (const Cost *cost, gint64 rows)
{
  return cost->failed ? G_MAXDOUBLE : cost->per_step + cost->per_row * (double) rows;
}

/* Shares by which all would end at one time: T - per_step over per_row; a device whose
 * cost per step alone is above T gets none. */
static void
balance (const Cost *const *costs, guint n, gint64 rows, double *shares)
{
  double low = 0.0, high = time_alone (costs[0], rows);

  for (int i = 0; i < 60; i++)
    {
      double middle = (low + high) / 2.0;
      double served = 0.0;

      for (guint j = 0; j < n; j++)
        served += MAX (0.0, (middle - costs[j]->per_step) / costs[j]->per_row);
      if (served < (double) rows)
        low = middle;
      else
        high = middle;
    }
  for (guint j = 0; j < n; j++)
    shares[j] = MAX (0.0, (high - costs[j]->per_step) / costs[j]->per_row);
}

static gboolean
measure_mesh (GyreTrainer        *self,
              const Cost *const  *costs,
              guint               n,
              const double       *shares,
              GyreTree           *batch,
              double             *seconds,
              GError            **error)
{
  g_autoptr (GPtrArray)      members = g_ptr_array_new ();
  g_autoptr (GyreMesh)       mesh    = NULL;
  g_autoptr (GyreStep)       step    = NULL;
  g_autoptr (GyreTrainState) state   = g_object_ref (self->state);

  for (guint i = 0; i < n; i++)
    g_ptr_array_add (members, costs[i]->device);
  return (mesh = gyre_mesh_new ("data=*", members, error)) &&
         gyre_mesh_set_shares (mesh, "data", shares, error) &&
         (step = gyre_trainer_make_step (self, mesh, GYRE_MODE_JIT, error)) &&
         time_step (self, mesh, step, batch, &state, seconds, error);
}

static void
measure_all (GyreTrainer *self, GyreTree *batch, Cost *costs)
{
  for (guint i = 0; i < self->devices->len; i++)
    {
      g_autoptr (GError) error = NULL;

      costs[i].device = g_ptr_array_index (self->devices, i);
      costs[i].index  = i;
      if (measure_device (self, batch, &costs[i], &error))
        continue;
      costs[i].failed = TRUE;
      gyre_trainer_note (self, "benched: %s can't run the step: %s",
                         gyre_device_get_name (costs[i].device), error->message);
    }
}

static void
sort_by_time (const Cost **order, guint n, gint64 rows)
{
  for (guint i = 1; i < n; i++)
    for (guint j = i;
         j > 0 && time_alone (order[j], rows) < time_alone (order[j - 1], rows); j--)
      {
        const Cost *swap = order[j];

        order[j]     = order[j - 1];
        order[j - 1] = swap;
      }
}

static void
bench (GyreTrainer *self, const Cost *cost, double with, double without)
{
  gyre_trainer_note (self,
                     "benched: %s (%s): a step takes %.2f ms with it, %.2f ms without",
                     gyre_device_get_name (cost->device),
                     gyre_device_get_platform (cost->device), with * 1e3, without * 1e3);
}

/* Tries the devices from the fastest on; chosen holds those that stay, with their
 * shares. */
static guint
choose (GyreTrainer  *self,
        const Cost  **order,
        guint         n,
        gint64        rows,
        GyreTree     *batch,
        const Cost  **chosen,
        double       *shares)
{
  guint              n_chosen = 1;
  double             best     = time_alone (order[0], rows);
  g_autofree double *trial    = g_new0 (double, n);

  chosen[0] = order[0];
  shares[0] = 1.0;
  for (guint i = 1; i < n && !order[i]->failed; i++)
    {
      g_autoptr (GError) error   = NULL;
      double             seconds = time_alone (order[i], rows);

      chosen[n_chosen] = order[i];
      balance (chosen, n_chosen + 1, rows, trial);
      /* a share below one row in fifty is not worth trying */
      if (trial[n_chosen] * 50.0 < (double) rows)
        gyre_trainer_note (self, "benched: %s (%s): alone a step takes it %.2f ms, the "
                           "fastest %.2f ms", gyre_device_get_name (order[i]->device),
                           gyre_device_get_platform (order[i]->device), seconds * 1e3,
                           time_alone (order[0], rows) * 1e3);
      else if (!measure_mesh (self, chosen, n_chosen + 1, trial, batch, &seconds, &error))
        gyre_trainer_note (self, "benched: %s: %s",
                           gyre_device_get_name (order[i]->device), error->message);
      else if (seconds > best * WORTH_IT)
        bench (self, order[i], seconds, best);
      else
        {
          best = seconds;
          n_chosen++;
          memcpy (shares, trial, sizeof (double) * n_chosen);
        }
    }
  return n_chosen;
}

static gboolean
keep_chosen (GyreTrainer        *self,
             const Cost *const  *chosen,
             const double       *shares,
             guint               n,
             GError            **error)
{
  g_autofree double *weights = g_new0 (double, self->devices->len);
  guint              member  = 0;

  self->plan.n_devices = n;
  for (guint i = 0; i < self->devices->len; i++)
    {
      self->plan.used[i] = FALSE;
      for (guint j = 0; j < n; j++)
        if (chosen[j]->index == i)
          {
            self->plan.used[i] = TRUE;
            weights[member++]  = shares[j];
          }
    }
  return set_shares (&self->plan, weights, error);
}

static gboolean
measure_shares (GyreTrainer *self, GError **error)
{
  guint                n      = self->devices->len;
  g_autofree Cost     *costs  = g_new0 (Cost, n);
  g_autofree const Cost **order  = g_new0 (const Cost *, n);
  g_autofree const Cost **chosen = g_new0 (const Cost *, n + 1);
  g_autofree double   *shares = g_new0 (double, n);
  g_autoptr (GyreTree) batch  = gyre_loader_next (self->train);
  gint64 rows = gyre_array_get_shape (gyre_tree_get_array (batch, "label")).dims[0];

  measure_all (self, batch, costs);
  gyre_loader_rewind (self->train);
  for (guint i = 0; i < n; i++)
    order[i] = &costs[i];
  sort_by_time (order, n, rows);
  if (order[0]->failed)
    {
      /* say why by running it where the mesh is made */
      return TRUE;
    }
  n = choose (self, order, n, rows, batch, chosen, shares);
  return keep_chosen (self, chosen, shares, n, error);
}

gboolean
gyre_trainer_plan (GyreTrainer  *self,
                   GError      **error)
{
  const char *shares = self->config.shares;
  gboolean    found  = FALSE;

  if (self->config.plan)
    return gyre_run_plan_read (&self->plan, self->config.plan, self->devices, error);
  use_all (self);
  if (shares && g_str_equal (shares, "equal"))
    return TRUE;
  if (shares)
    return parse_shares (self, shares, error);
  if (!take_device_shares (self, &found, error))
    return FALSE;
  if (!found && gyre_trainer_take_kept_plan (self))
    return TRUE;
  if (found || self->config.evaluate || all_alike (self->devices))
    return TRUE;
  return measure_shares (self, error);
}
