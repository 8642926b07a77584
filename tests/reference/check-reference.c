/* SPDX-License-Identifier: Apache-2.0 */
#include "reference.h"

#include <locale.h>
#include <stdio.h>

#include "device/gyre-drivers-private.h"

static const ReferenceKind kinds[] = {
  { "prng", reference_check_prng },
  { "seed_mlp", reference_check_seed_mlp },
  { "seed_trainstate", reference_check_seed_trainstate },
  { "optimizers", reference_check_optimizers },
  { "layers", reference_check_layers },
  { "training", reference_check_training },
};

static gboolean
parse (Reference *self,
       int       *argc,
       char    ***argv,
       GError   **error)
{
  const GOptionEntry entries[] = {
    { "devices", 0, 0, G_OPTION_ARG_STRING, &self->devices,
      "Devices; default $GYRE_DEVICES, or pocl", "STRING" },
    { "only", 0, 0, G_OPTION_ARG_STRING, &self->only,
      "Cases whose name matches, such as 'layers/dense.*'", "GLOB" },
    { "oracle", 0, 0, G_OPTION_ARG_NONE, &self->oracle,
      "Use the interpreter in double, not devices", NULL },
    { "training", 0, 0, G_OPTION_ARG_NONE, &self->training,
      "Whole training runs too: minutes", NULL },
    { "tolerance-factor", 0, 0, G_OPTION_ARG_DOUBLE, &self->factor,
      "What each bound is multiplied by; default 1", "F" },
    G_OPTION_ENTRY_NULL,
  };
  g_autoptr (GOptionContext) context = g_option_context_new ("FOLDER");

  g_option_context_set_summary (context, "Checks reference numbers, a line a case.");
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, argc, argv, error))
    return FALSE;
  if (!(self->factor >= 0))
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
                   "--tolerance-factor=%g: it takes a number from 0", self->factor);
      return FALSE;
    }
  if (*argc == 2 && g_file_test ((*argv)[1], G_FILE_TEST_IS_DIR))
    return TRUE;

  g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
               *argc == 2 ? "%s is no folder" : "give one folder of reference numbers",
               (*argv)[*argc - 1]);
  return FALSE;
}

/* In the build tree this program finds what is beside it. */
static void
set_environment (void)
{
  g_setenv ("GYRE_PLUGIN_PATH", BUILT_PLUGINS, FALSE);
  g_setenv ("GYRE_LIBEXEC", BUILT_LIBEXEC, FALSE);
  gyre_drivers_set_environment ();
  setlocale (LC_ALL, "");
}

static char *
choose_devices (char *given)
{
  const char *variable = g_getenv ("GYRE_DEVICES");

  return given != NULL ? given : g_strdup (variable != NULL ? variable : "pocl");
}

int
main (int    argc,
      char **argv)
{
  Reference self = { .factor = 1 };
  g_autoptr (GError) error = NULL;

  set_environment ();
  if (!parse (&self, &argc, &argv, &error))
    {
      g_printerr ("check-reference: %s\n", error->message);
      return 2;
    }

  self.folder = argv[1];
  self.devices = choose_devices (self.devices);
  self.opened = g_hash_table_new_full (NULL, NULL, NULL,
                                       (GDestroyNotify) g_ptr_array_unref);
  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    kinds[i].check (&self);
  g_hash_table_unref (self.opened);

  if (self.n_ok + self.n_failed + self.n_skipped == 0)
    reference_fail (&self, self.folder, "there is no case to check");
  printf ("%u ok, %u failed, %u skipped\n", self.n_ok, self.n_failed, self.n_skipped);
  g_free (self.devices);
  g_free (self.only);

  return self.n_failed > 0 ? 1 : 0;
}
