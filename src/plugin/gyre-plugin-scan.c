/* SPDX-License-Identifier: Apache-2.0 */

/* gyre-plugin-scan FILE: loads a module in a process of its own and prints what it has,
 * or why it can't be used, as a key file.  A module that crashes, hangs, prints, ends the
 * program or leaves others running takes only that process with it. */

#include <gyre/gyre-plugin.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long a module may take; GYRE_PLUGIN_SCAN_SECONDS gives it another time. */
#define SECONDS 20

/* What was said in RESULT, and then the end. */
static void
say (FILE       *result,
     const char *text)
{
  fputs (text, result);
  fflush (result);
}

static char *
make_error (const char *message)
{
  g_autoptr (GKeyFile) keys = g_key_file_new ();

  g_key_file_set_string (keys, "plugin", "error", message);
  return g_key_file_to_data (keys, NULL, NULL);
}

/* The process that loads the module: it has nothing of the caller's. */
static void
load (const char *path,
      FILE       *result)
{
  const struct rlimit none = { 0, 0 };
  int nowhere = open ("/dev/null", O_RDWR);
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;

  setpgid (0, 0);
  setrlimit (RLIMIT_CORE, &none);
  for (int fd = 0; fd < 3; fd++)
    dup2 (nowhere, fd);

  text = gyre_plugin_describe (path, &error);
  if (text == NULL)
    text = make_error (error->message);
  say (result, text);
}

static guint
get_seconds (void)
{
  const char *given = g_getenv ("GYRE_PLUGIN_SCAN_SECONDS");

  return given != NULL && atoi (given) > 0 ? (guint) atoi (given) : SECONDS;
}

/* FALSE: it did not end in time. */
static gboolean
wait_for (pid_t  child,
          int   *status)
{
  const gint64 end = g_get_monotonic_time () + get_seconds () * G_USEC_PER_SEC;
  gint64 left;
  sigset_t child_ends;

  sigemptyset (&child_ends);
  sigaddset (&child_ends, SIGCHLD);
  while (waitpid (child, status, WNOHANG) == 0)
    {
      struct timespec time;

      left = end - g_get_monotonic_time ();
      if (left <= 0)
        return FALSE;
      time = (struct timespec){ left / G_USEC_PER_SEC, left % G_USEC_PER_SEC * 1000 };
      sigtimedwait (&child_ends, NULL, &time);
    }

  return TRUE;
}

static char *
read_result (FILE *result)
{
  GString *text = g_string_new (NULL);
  char part[4096];
  gsize n;

  rewind (result);
  while ((n = fread (part, 1, sizeof part, result)) > 0)
    g_string_append_len (text, part, (gssize) n);

  return g_string_free (text, FALSE);
}

static void
print_end (int   status,
           char *text)
{
  g_autofree char *why = NULL;
  g_autofree char *error = NULL;

  if (WIFSIGNALED (status))
    why = g_strdup_printf ("it crashed while it was loaded (%s)",
                           g_strsignal (WTERMSIG (status)));
  else if (text[0] == '\0')
    why = g_strdup ("it ended the program that loaded it");

  error = why != NULL ? make_error (why) : NULL;
  g_print ("%s", error != NULL ? error : text);
}

static void
watch (pid_t  child,
       FILE  *result)
{
  int status = 0;
  gboolean ended = wait_for (child, &status);
  g_autofree char *text = NULL;

  kill (-child, SIGKILL);
  if (ended)
    {
      text = read_result (result);
      print_end (status, text);
      return;
    }

  waitpid (child, &status, 0);
  g_print (
      "[plugin]\nhung=true\nerror=it hung while it was loaded (%u seconds): it isn't "
      "looked at again before the file changes\n",
      get_seconds ());
}

int
main (int    argc,
      char **argv)
{
  FILE *result = tmpfile ();
  sigset_t child_ends;
  pid_t child;

  if (argc != 2 || result == NULL)
    {
      g_printerr (argc != 2 ? "usage: gyre-plugin-scan FILE\n"
                            : "no file can be made in the folder of temporary files\n");
      return 2;
    }

  sigemptyset (&child_ends);
  sigaddset (&child_ends, SIGCHLD);
  sigprocmask (SIG_BLOCK, &child_ends, NULL);
  child = fork ();
  if (child < 0)
    {
      g_printerr ("%s\n", g_strerror (errno));
      return 2;
    }
  if (child == 0)
    {
      sigprocmask (SIG_UNBLOCK, &child_ends, NULL);
      load (argv[1], result);
      return 0;
    }

  watch (child, result);
  return 0;
}
