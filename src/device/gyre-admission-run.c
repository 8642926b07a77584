/* SPDX-License-Identifier: Apache-2.0 */
#include "device/gyre-admission-private.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Between two looks at the helper, µs. */
#define LOOK_LEAST 500
#define LOOK_MOST 20000

typedef struct
{
  GPid     pid;
  int      output;
  int      status;    /* as waitpid gives it */
  gboolean killed;    /* its time was up */
} Helper;

static gboolean
start_helper (Helper                      *self,
              const GyreInventoryEntry    *entry,
              const GyreAdmissionOptions  *options,
              GError                     **error)
{
  g_autofree char *ordinal = g_strdup_printf ("%u", entry->ordinal);
  const char *argv[] = {
    options->helper, entry->info->platform, entry->info->name, ordinal, NULL
  };

  return g_spawn_async_with_pipes (NULL, (char **) argv, NULL,
                                   G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_CLOEXEC_PIPES |
                                     G_SPAWN_STDERR_TO_DEV_NULL,
                                   NULL, NULL, &self->pid, NULL, &self->output, NULL,
                                   error);
}

static void
wait_for_helper (Helper *self,
                 guint   limit)
{
  gint64 deadline = g_get_monotonic_time () + limit * G_TIME_SPAN_SECOND;
  gulong pause = LOOK_LEAST;

  while (waitpid (self->pid, &self->status, WNOHANG) == 0)
    {
      if (g_get_monotonic_time () >= deadline)
        {
          self->killed = TRUE;
          /* With what it started: it leads a group of its own. */
          kill (-self->pid, SIGKILL);
          kill (self->pid, SIGKILL);
          waitpid (self->pid, &self->status, 0);
          return;
        }
      g_usleep (pause);
      pause = MIN (pause * 2, LOOK_MOST);
    }
}

/* What it said: few words, which the pipe has kept. */
static char *
read_words (Helper *self)
{
  char words[1024] = { 0 };
  gssize n = read (self->output, words, sizeof words - 1);

  close (self->output);
  return g_strstrip (g_strndup (words, MAX (n, 0)));
}

static char *
describe_end (const Helper *self,
              const char   *words,
              guint         limit)
{
  if (self->killed)
    return g_strdup_printf ("hung in its self-test (killed after %u s)", limit);
  if (WIFSIGNALED (self->status))
    return g_strdup_printf ("crashed in its self-test (signal %d)",
                            WTERMSIG (self->status));
  if (strcmp (words, "ok") == 0 && WEXITSTATUS (self->status) == 0)
    return NULL;
  if (words[0] != '\0')
    return g_strdup_printf ("failed its self-test: %s", words);
  return g_strdup_printf ("failed its self-test (exit status %d)",
                          WEXITSTATUS (self->status));
}

void
gyre_admission_run (GyreInventoryEntry         *entry,
                    const GyreAdmissionOptions *options,
                    gboolean                   *keep)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *words = NULL;
  Helper helper = { 0 };
  char *reason;

  *keep = start_helper (&helper, entry, options, &error);
  if (*keep)
    {
      wait_for_helper (&helper, options->limit);
      words = read_words (&helper);
      reason = describe_end (&helper, words, options->limit);
    }
  else
    reason = g_strdup_printf ("its self-test could not be run: %s", error->message);

  g_free (entry->info->reason);
  entry->info->reason = reason;
  entry->verdict = reason == NULL ? GYRE_VERDICT_ADMITTED : GYRE_VERDICT_REFUSED;
}
