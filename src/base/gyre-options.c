/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-options.h>

#include <locale.h>

#include <gyre/gyre-error.h>

#define EXIT_STATUS_FAILED  1
#define EXIT_STATUS_OPTIONS 2

/**
 * gyre_options_new_group: (skip)
 * @self: options with the program's defaults; they have to outlive the parsing
 *
 * The options `--devices`, `--seed` and, where @self has a layout, `--mesh`, and those of
 * @self's own entries, for a program that parses its command line itself. Strings that
 * the command line sets are newly allocated.
 *
 * Returns: (transfer full): the group, for g_option_context_add_group() or
 *   g_option_context_set_main_group()
 */
GOptionGroup *
gyre_options_new_group (GyreOptions *self)
{
  GOptionGroup *group;
  GOptionEntry entries[] = {
    { "devices", 0, 0, G_OPTION_ARG_STRING, NULL,
      "Where to run, such as all, gpu or pocl*4; see \"gyre devices\"", "DEVICES" },
    { "seed", 0, 0, G_OPTION_ARG_INT64, NULL, "Of all random numbers", "S" },
    { "mesh", 0, 0, G_OPTION_ARG_STRING, NULL, "Axes of the devices, such as dp=2,tp=2",
      "MESH" },
    { NULL }
  };

  g_return_val_if_fail (self != NULL, NULL);

  entries[0].arg_data = &self->devices;
  entries[1].arg_data = &self->seed;
  entries[2].arg_data = &self->mesh;
  if (self->mesh == NULL)
    entries[2] = (GOptionEntry) { NULL };
  group = g_option_group_new ("gyre", "Gyre options:", "Show Gyre's options", NULL, NULL);
  g_option_group_add_entries (group, entries);
  if (self->entries != NULL)
    g_option_group_add_entries (group, self->entries);

  return group;
}

static gboolean
parse (GyreOptions *self,
       int          argc,
       char       **argv,
       GError     **error)
{
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);

  g_option_context_set_main_group (context, gyre_options_new_group (self));
  if (!g_option_context_parse (context, &argc, &argv, error))
    return FALSE;
  if (argc < 2)
    return TRUE;

  g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
               "%s: not an option; --help lists them", argv[1]);
  return FALSE;
}

/* What the command line set in the place of a default. */
static void
free_string (const char *text,
             const char *before)
{
  if (text != before)
    g_free ((char *) text);
}

/**
 * gyre_options_run: (skip)
 * @self: options with the program's defaults
 * @argc: from main()
 * @argv: from main()
 * @func: what the program does
 *
 * A whole main(): parses the command line and calls @func. An error of either is printed
 * on one line, after the program's name. Strings of @self hold until @func returns.
 *
 * Returns: an exit status: 0, or 2 for an option or its value, or 1 for an error of @func
 */
int
gyre_options_run (GyreOptions     *self,
                  int              argc,
                  char           **argv,
                  GyreProgramFunc  func)
{
  g_autoptr (GError) error = NULL;
  GyreOptions before;
  int status = 0;

  g_return_val_if_fail (self != NULL && argv != NULL && func != NULL,
                        EXIT_STATUS_FAILED);

  before = *self;
  setlocale (LC_CTYPE, "");   /* for messages; numbers stay as they are */
  if (!parse (self, argc, argv, &error))
    status = EXIT_STATUS_OPTIONS;
  else if (!func (self, &error))
    status = EXIT_STATUS_FAILED;

  if (status != 0)
    g_printerr ("%s: %s\n", g_get_prgname (),
                error != NULL ? error->message : "failed, and didn't say why");
  free_string (self->devices, before.devices);
  free_string (self->mesh, before.mesh);
  *self = before;

  return status;
}
