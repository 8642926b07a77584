/* SPDX-License-Identifier: Apache-2.0 */
#include "device/gyre-executor-private.h"

#include <sched.h>
#include <stdlib.h>

#include "base/gyre-env-private.h"
#include "device/gyre-circle-private.h"

/* Between two looks at an event: first the core is yielded, then the thread sleeps,
 * a little longer each time.  A new job wakes it at once. */
#define YIELDS 40
#define SLEEP_LEAST 10  /* µs */
#define SLEEP_MOST 200  /* µs */

/* How long a device may take for one pending, seconds, unless the environment tells. */
#define LIMIT 600

/* How long exit () waits for devices that don't answer. */
#define EXIT_LIMIT (10 * G_TIME_SPAN_SECOND)

typedef struct
{
  GyreJobFunc func;
  gpointer    data;
} Job;

typedef struct
{
  cl_event        *events;     /* kept and grown from use to use */
  guint            n;
  guint            capacity;
  guint            n_done;
  cl_int           status;
  gboolean         flushed;
  gint64           since;      /* when it became the oldest; 0: not yet */
  GyrePendingFunc  done;
  gpointer         data;
} Pending;

static struct
{
  GMutex     lock;
  GCond      work;      /* something for the thread to do */
  GCond      progress;  /* something done */
  GThread   *thread;
  gboolean   busy;      /* a job or a done function runs */
  gboolean   quit;
  gboolean   closed;    /* the process is exiting */
  guint      n_unflushed;
  gint64     limit;     /* µs; 0: none */
  GyreCircle jobs;
  GyreCircle pendings;
} self = {
  .jobs = { .size = sizeof (Job) },
  .pendings = { .size = sizeof (Pending) },
};

/* Watching events. */

static void
flush_queue_of (cl_event          event,
                cl_command_queue *last)
{
  cl_command_queue queue = NULL;

  if (clGetEventInfo (event, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, NULL)
        == CL_SUCCESS &&
      queue != NULL && queue != *last)
    {
      /* If it fails, the event's own status tells. */
      clFlush (queue);
      *last = queue;
    }
}

/* Called and returns with the lock held; lets go of it in between.  The slot is safe:
 * only this thread takes slots away, but they may move when others add. */
static void
flush_new_pendings (void)
{
  for (guint i = 0; self.n_unflushed > 0 && i < self.pendings.n; i++)
    {
      Pending *pending = gyre_circle_at (&self.pendings, i);
      cl_event *events = pending->events;
      guint n = pending->n;
      cl_command_queue last = NULL;

      if (pending->flushed)
        continue;
      pending->flushed = TRUE;
      self.n_unflushed--;
      g_mutex_unlock (&self.lock);
      for (guint e = 0; e < n; e++)
        flush_queue_of (events[e], &last);
      g_mutex_lock (&self.lock);
    }
}

/* CL_COMPLETE, an error, or something positive: not yet. */
static cl_int
look_at (cl_event event)
{
  cl_int status = CL_QUEUED;
  cl_int asked = clGetEventInfo (event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                 sizeof status, &status, NULL);

  return asked == CL_SUCCESS ? status : asked;
}

cl_int
gyre_executor_wait_event (cl_event event)
{
  gint64 start = g_get_monotonic_time ();
  cl_int status;

  g_return_val_if_fail (gyre_executor_is_current (), CL_INVALID_OPERATION);

  while ((status = look_at (event)) > CL_COMPLETE)
    {
      if (self.limit > 0 && g_get_monotonic_time () - start > self.limit)
        return GYRE_CL_NO_ANSWER;
      sched_yield ();
    }
  return status;
}

static cl_int
look_at_events (const cl_event *events,
                guint           n,
                guint          *n_done)
{
  for (; *n_done < n; ++*n_done)
    {
      cl_int status = look_at (events[*n_done]);

      if (status != CL_COMPLETE)
        return status;
    }
  return CL_COMPLETE;
}

/* The events of what failed may be a dead device's: they are leaked. */
static void
release_events (const cl_event *events,
                guint           n,
                cl_int          status)
{
  for (guint i = 0; status == CL_COMPLETE && i < n; i++)
    clReleaseEvent (events[i]);
}

/* The time since the oldest pending is the oldest counts, each time it is looked at in
 * vain. */
static gboolean
is_overdue (Pending *pending)
{
  gint64 now = g_get_monotonic_time ();

  if (pending->since == 0)
    pending->since = now;
  return self.limit > 0 && now - pending->since > self.limit;
}

/* Called and returns with the lock held.  TRUE if the oldest pending is done. */
static gboolean
try_oldest (void)
{
  Pending *pending = gyre_circle_at (&self.pendings, 0);
  cl_event *events = pending->events;
  guint n = pending->n;
  guint n_done = pending->n_done;
  GyrePendingFunc done = pending->done;
  gpointer data = pending->data;
  cl_int status;

  g_mutex_unlock (&self.lock);
  status = look_at_events (events, n, &n_done);
  g_mutex_lock (&self.lock);
  pending = gyre_circle_at (&self.pendings, 0);   /* others may have made it move */
  pending->n_done = n_done;
  if (status > CL_COMPLETE && !is_overdue (pending))
    return FALSE;
  if (status > CL_COMPLETE)
    status = GYRE_CL_NO_ANSWER;

  self.busy = TRUE;
  g_mutex_unlock (&self.lock);
  release_events (events, n, status);
  if (done != NULL)
    done (status, data);
  g_mutex_lock (&self.lock);
  gyre_circle_pop (&self.pendings);
  self.busy = FALSE;
  g_cond_broadcast (&self.progress);
  return TRUE;
}

/* The thread. */

static void
run_job (void)
{
  Job job = *(Job *) gyre_circle_at (&self.jobs, 0);

  gyre_circle_pop (&self.jobs);
  self.busy = TRUE;
  g_mutex_unlock (&self.lock);
  job.func (job.data);
  g_mutex_lock (&self.lock);
  self.busy = FALSE;
  g_cond_broadcast (&self.progress);
}

static void
rest (guint n_looks)
{
  gint64 sleep;

  if (n_looks < YIELDS)
    {
      g_mutex_unlock (&self.lock);
      sched_yield ();
      g_mutex_lock (&self.lock);
      return;
    }
  sleep = MIN (SLEEP_LEAST + (n_looks - YIELDS) * 5, SLEEP_MOST);
  g_cond_wait_until (&self.work, &self.lock, g_get_monotonic_time () + sleep);
}

static gpointer
run_executor (gpointer unused)
{
  guint n_looks = 0;

  g_mutex_lock (&self.lock);
  for (;;)
    {
      flush_new_pendings ();
      if (self.jobs.n > 0)
        {
          run_job ();
          n_looks = 0;
        }
      else if (self.pendings.n > 0)
        {
          if (try_oldest ())
            n_looks = 0;
          else if (self.jobs.n == 0 && self.n_unflushed == 0)
            rest (n_looks++);
        }
      else if (self.quit)
        break;
      else
        g_cond_wait (&self.work, &self.lock);
    }
  g_atomic_pointer_set (&self.thread, NULL);
  g_cond_broadcast (&self.progress);
  g_mutex_unlock (&self.lock);
  return NULL;
}

static gint64
read_limit (void)
{
  return gyre_env_get_number ("GYRE_DEVICE_TIMEOUT", LIMIT) * G_TIME_SPAN_SECOND;
}

/* With the lock held.  FALSE: the process exits, and nothing runs any more. */
static gboolean
start_or_wake (void)
{
  if (self.closed)
    return FALSE;
  if (self.thread == NULL)
    {
      self.quit = FALSE;
      self.limit = read_limit ();
      g_atomic_pointer_set (&self.thread,
                            g_thread_new ("gyre-executor", run_executor, NULL));
    }
  g_cond_signal (&self.work);
  return TRUE;
}

gboolean
gyre_executor_is_current (void)
{
  /* Read without the lock: on the executor thread itself it can't change. */
  return g_atomic_pointer_get (&self.thread) == g_thread_self ();
}

void
gyre_executor_post (GyreJobFunc func,
                    gpointer    data)
{
  g_mutex_lock (&self.lock);
  if (start_or_wake ())
    {
      Job *job = gyre_circle_push (&self.jobs);

      job->func = func;
      job->data = data;
    }
  g_mutex_unlock (&self.lock);
}

typedef struct
{
  GyreJobFunc func;
  gpointer    data;
  gboolean    returned;
} Call;

static void
run_call (gpointer data)
{
  Call *call = data;

  call->func (call->data);
  g_mutex_lock (&self.lock);
  call->returned = TRUE;
  g_mutex_unlock (&self.lock);
}

void
gyre_executor_call (GyreJobFunc func,
                    gpointer    data)
{
  Call call = { func, data, FALSE };

  if (gyre_executor_is_current ())
    {
      func (data);
      return;
    }
  gyre_executor_post (run_call, &call);
  g_mutex_lock (&self.lock);
  while (!call.returned && !self.closed)
    g_cond_wait (&self.progress, &self.lock);
  g_mutex_unlock (&self.lock);
}

static void
fill_pending (Pending        *pending,
              const cl_event *events,
              guint           n)
{
  if (n > pending->capacity)
    {
      pending->events = g_renew (cl_event, pending->events, n);
      pending->capacity = n;
    }
  pending->n = 0;
  for (guint i = 0; i < n; i++)
    if (events[i] != NULL)
      pending->events[pending->n++] = events[i];
  pending->n_done = 0;
  pending->flushed = FALSE;
  pending->since = 0;
}

void
gyre_executor_add_pending (cl_event        *events,
                           guint            n,
                           GyrePendingFunc  done,
                           gpointer         data)
{
  g_mutex_lock (&self.lock);
  if (start_or_wake ())
    {
      Pending *pending = gyre_circle_push (&self.pendings);

      fill_pending (pending, events, n);
      pending->done = done;
      pending->data = data;
      self.n_unflushed++;
    }
  g_mutex_unlock (&self.lock);
}

void
gyre_executor_drain (void)
{
  g_return_if_fail (!gyre_executor_is_current ());

  g_mutex_lock (&self.lock);
  while (!self.closed && (self.jobs.n > 0 || self.pendings.n > 0 || self.busy))
    g_cond_wait (&self.progress, &self.lock);
  g_mutex_unlock (&self.lock);
}

/* Lets the thread finish what it has, and joins it, if that is done by the deadline. */
static void
stop (gint64 deadline)
{
  GThread *thread;
  gboolean mine, gone = FALSE;

  g_mutex_lock (&self.lock);
  thread = self.thread;
  mine = thread != NULL && !self.quit;   /* one joins */
  self.quit = TRUE;
  g_cond_signal (&self.work);
  while (thread != NULL && !(gone = self.thread != thread))
    if (!g_cond_wait_until (&self.progress, &self.lock, deadline))
      break;
  g_mutex_unlock (&self.lock);

  if (mine && gone)
    g_thread_join (thread);
}

void
gyre_executor_shutdown (void)
{
  g_return_if_fail (!gyre_executor_is_current ());

  stop (g_get_monotonic_time () + G_TIME_SPAN_DAY);
}

static void
stop_at_exit (void)
{
  if (gyre_executor_is_current ())
    return;

  stop (g_get_monotonic_time () + EXIT_LIMIT);
  g_mutex_lock (&self.lock);
  self.closed = TRUE;
  g_cond_broadcast (&self.progress);
  g_mutex_unlock (&self.lock);
}

void
gyre_executor_watch_exit (void)
{
  atexit (stop_at_exit);
}
