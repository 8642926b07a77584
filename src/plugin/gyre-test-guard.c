/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/gyre-test-private.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>

/* This program and its arguments */
static GPtrArray *
make_command (const char *oclgrind,
              const char *log)
{
  GPtrArray *argv = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *own = NULL;
  gsize size = 0;

  g_ptr_array_add (argv, g_strdup (oclgrind));
  g_ptr_array_add (argv, g_strdup ("--data-races"));
  g_ptr_array_add (argv, g_strdup ("--log"));
  g_ptr_array_add (argv, g_strdup (log));
  g_ptr_array_add (argv, g_file_read_link ("/proc/self/exe", NULL));
  g_file_get_contents ("/proc/self/cmdline", &own, &size, NULL);
  for (gsize at = own != NULL ? strlen (own) + 1 : 0; at < size;
       at += strlen (own + at) + 1)
    g_ptr_array_add (argv, g_strdup (own + at));
  g_ptr_array_add (argv, NULL);

  return argv;
}

static gboolean
run_command (GPtrArray  *argv,
             guint       call,
             char      **said,
             int        *status,
             GError    **error)
{
  g_auto (GStrv) env = g_get_environ ();
  g_autofree char *number = g_strdup_printf ("%u", call);

  env = g_environ_setenv (env, GYRE_TEST_CALL, number, TRUE);
  /* No other driver beside it. */
  env = g_environ_setenv (env, "OCL_ICD_VENDORS", "/nowhere", FALSE);

  return g_spawn_sync (NULL, (char **) argv->pdata, env, G_SPAWN_STDOUT_TO_DEV_NULL, NULL,
                       NULL, NULL, said, status, error);
}

/* The first report, on one line */
static gboolean
read_log (const char  *log,
          GError     **error)
{
  g_autofree char *text = NULL;
  g_auto (GStrv) words = NULL;
  g_autofree char *line = NULL;
  g_autofree char *start = NULL;

  if (!g_file_get_contents (log, &text, NULL, NULL) || g_strstrip (text)[0] == '\0')
    return TRUE;

  start = g_strndup (text, 400);
  words = g_strsplit_set (start, " \t\n", -1);
  for (char **from = words, **to = words; *from != NULL; from++)
    if (**from != '\0')
      {
        char *word = *from;

        *from = *to;
        *to++ = word;
      }
  line = g_strstrip (g_strjoinv (" ", words));
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_DEVICE, "%s; Oclgrind says: %s",
               strstr (line, "data race") != NULL
                   ? "a data race in a kernel"
                   : "a kernel reads or writes out of bounds",
               line);

  return FALSE;
}

/* A test that could not be run there has not passed. */
static gboolean
check_end (int          status,
           const char  *said,
           GError     **error)
{
  if (WIFEXITED (status) && WEXITSTATUS (status) == 0)
    return TRUE;

  g_set_error (error, GYRE_ERROR, GYRE_ERROR_DEVICE,
               "it could not be run under Oclgrind%s: %s",
               WIFSIGNALED (status) ? ", where it crashed" : "",
               said != NULL && said[0] != '\0' ? said
                                               : "the program ended before, or does "
                                                 "other things than the first time");
  return FALSE;
}

gboolean
gyre_test_guard (const char  *line,
                 guint        call,
                 GError     **error)
{
  g_autofree char *oclgrind = g_find_program_in_path ("oclgrind");
  g_autofree char *log = NULL;
  g_autofree char *said = NULL;
  g_autoptr (GPtrArray) argv = NULL;
  int fd, status = 0;
  gboolean good;

  if (oclgrind == NULL)
    {
      g_message ("%s: accesses out of bounds aren't looked for: Oclgrind is not "
                 "installed", line);
      return TRUE;
    }

  fd = g_file_open_tmp ("gyre-test-XXXXXX", &log, error);
  if (fd < 0)
    return FALSE;

  g_close (fd, NULL);
  argv = make_command (oclgrind, log);
  good = run_command (argv, call, &said, &status, error) && read_log (log, error)
         && check_end (status, g_strchomp (said), error);
  g_unlink (log);

  return good;
}
