/* SPDX-License-Identifier: Apache-2.0 */

/* gyre-admit PLATFORM DEVICE ORDINAL
 *
 * Opens one device alone, the ORDINAL-th (from 0) of these names, and compares it with
 * the host.  It says "ok", or in one line what was wrong.  It may crash or hang in the
 * driver: libgyre, which starts it, survives that. */
#include <gio/gio.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <gyre/gyre-error.h>

#include "device/gyre-admit-private.h"

static gboolean
is_wanted (cl_platform_id   platform,
           cl_device_id     id,
           char           **argv)
{
  g_autofree char *platform_name =
    gyre_cl_get_platform_string (platform, CL_PLATFORM_NAME);
  g_autofree char *name = gyre_cl_get_device_string (id, CL_DEVICE_NAME);

  return strcmp (platform_name, argv[1]) == 0 && strcmp (name, argv[2]) == 0;
}

static cl_device_id
find_device (char   **argv,
             GError **error)
{
  int ordinal = atoi (argv[3]);
  cl_platform_id platforms[64];
  cl_uint n_platforms = 0;

  clGetPlatformIDs (G_N_ELEMENTS (platforms), platforms, &n_platforms);
  for (cl_uint p = 0; p < MIN (n_platforms, G_N_ELEMENTS (platforms)); p++)
    {
      cl_device_id ids[64];
      cl_uint n = 0;

      clGetDeviceIDs (platforms[p], CL_DEVICE_TYPE_ALL, G_N_ELEMENTS (ids), ids, &n);
      for (cl_uint i = 0; i < MIN (n, G_N_ELEMENTS (ids)); i++)
        if (is_wanted (platforms[p], ids[i], argv) && ordinal-- == 0)
          return ids[i];
    }
  g_set_error_literal (error, GYRE_ERROR, GYRE_ERROR_NO_DEVICE,
                       "the helper does not find it");
  return NULL;
}

static gboolean
build (GyreBench  *bench,
       GError    **error)
{
  g_autoptr (GBytes) source = g_resources_lookup_data ("/org/gyre/cl/admit.cl",
                                                       G_RESOURCE_LOOKUP_FLAGS_NONE,
                                                       error);
  g_autofree char *options = g_strdup_printf ("-DTILE=%" G_GSIZE_FORMAT, bench->tile);
  const char *text;
  gsize size;
  cl_int status;

  if (source == NULL)
    return FALSE;
  text = g_bytes_get_data (source, &size);
  bench->program = clCreateProgramWithSource (bench->context, 1, &text, &size, &status);
  return gyre_cl_check (status, error, "clCreateProgramWithSource") &&
         gyre_cl_check (clBuildProgram (bench->program, 1, &bench->id, options, NULL,
                                        NULL),
                        error, "clBuildProgram");
}

static gboolean
set_up (GyreBench  *bench,
        char      **argv,
        GError    **error)
{
  gsize most;
  cl_int status;

  bench->id = find_device (argv, error);
  if (bench->id == NULL)
    return FALSE;
  most = gyre_cl_get_device_number (bench->id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  for (bench->group = 1; bench->group < 64 && bench->group * 2 <= most;)
    bench->group *= 2;
  for (bench->tile = 1; bench->tile < 8 && 4 * bench->tile * bench->tile <= most;)
    bench->tile *= 2;
  bench->context = clCreateContext (NULL, 1, &bench->id, NULL, NULL, &status);
  if (!gyre_cl_check (status, error, "clCreateContext"))
    return FALSE;
  bench->queue = clCreateCommandQueue (bench->context, bench->id, 0, &status);
  return gyre_cl_check (status, error, "clCreateCommandQueue");
}

/* A device without a compiler is given programs that were built ahead: what can be
 * tested without a kernel is. */
static gboolean
run_tests (GyreBench  *bench,
           GError    **error)
{
  if (!gyre_admit_test_transfer (bench, error))
    return FALSE;
  if (!gyre_cl_get_device_number (bench->id, CL_DEVICE_COMPILER_AVAILABLE))
    return TRUE;

  return build (bench, error) && gyre_admit_test_vector (bench, error) &&
         gyre_admit_test_reduce (bench, error) && gyre_admit_test_matmul (bench, error);
}

/* Drivers may write to what they believe is a terminal; the verdict goes elsewhere. */
static int
set_verdict_apart (void)
{
  int apart = dup (STDOUT_FILENO);

  if (freopen ("/dev/null", "w", stdout) == NULL)
    close (STDOUT_FILENO);
  return apart;
}

int
main (int    argc,
      char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *words = NULL;
  GyreBench bench = { 0 };
  int verdict;

  if (argc != 4)
    {
      fprintf (stderr, "usage: gyre-admit PLATFORM DEVICE ORDINAL\n");
      return 2;
    }
  prctl (PR_SET_PDEATHSIG, SIGKILL);
  setpgid (0, 0);
  verdict = set_verdict_apart ();
  if (set_up (&bench, argv, &error) && run_tests (&bench, &error))
    words = g_strdup ("ok\n");
  else
    words = g_strdelimit (g_strdup (error->message), "\n", ' ');

  /* Without the exit handlers of drivers, which have their own faults. */
  _exit (write (verdict, words, strlen (words)) > 0 && error == NULL ? 0 : 1);
}
