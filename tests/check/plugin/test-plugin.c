/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <glib/gstdio.h>
#include <gmodule.h>
#include <string.h>

#include "plugin/gyre-plugin-private.h"

/* The modules of tests/plugins, and files that are none. */

static char *folder;      /* a folder of the test's own, the first on the path */

static void
set_up (void)
{
  folder = g_dir_make_tmp ("gyre-plugins-XXXXXX", NULL);
  ck_assert_ptr_nonnull (folder);
  g_setenv ("GYRE_PLUGIN_PATH", folder, TRUE);
}

static void
tear_down (void)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      g_remove (path);
    }
  g_rmdir (folder);
  g_clear_pointer (&folder, g_free);
}

static char *
in_folder (const char *name)
{
  return g_strdup_printf ("%s/libgyre-test-%s.so", folder, name);
}

/* Copies a module of the tests into the folder. */
static void
put (const char *name,
     const char *as)
{
  g_autofree char *from =
    g_strdup_printf ("%s/libgyre-test-%s.so", g_getenv ("GYRE_TEST_PLUGINS"), name);
  g_autofree char *to = in_folder (as);
  g_autofree char *data = NULL;
  gsize size;

  ck_assert (g_file_get_contents (from, &data, &size, NULL));
  ck_assert (g_file_set_contents (to, data, (gssize) size, NULL));
}

static GyrePluginRecord *
find (const char *name)
{
  g_autofree char *path = in_folder (name);
  GPtrArray *records = gyre_plugin_list ();

  for (guint i = 0; i < records->len; i++)
    {
      GyrePluginRecord *record = g_ptr_array_index (records, i);

      if (g_str_equal (record->path, path))
        return record;
    }

  ck_abort_msg ("%s was not found", path);
  return NULL;
}

static const struct
{
  const char *name;
  const char *says;
} faults[] = {
  { "crash", "it crashed while it was loaded (Segmentation fault)" },
  { "no-descriptor", "it has no symbol gyre_plugin_test_no_descriptor" },
  { "other-api", "it was built for version 2 of the plugin interface, this is 1" },
  { "taken", "the name \"sequential\" is taken by the library" },
  { "unresolved", "test_function_that_is_nowhere" },
};

START_TEST (lists_why_a_module_is_no_use)
{
  g_autoptr (GError) error = NULL;

  put (faults[_i].name, faults[_i].name);
  gyre_plugin_rescan ();
  ck_assert_ptr_nonnull (find (faults[_i].name)->error);
  ck_assert_msg (strstr (find (faults[_i].name)->error, faults[_i].says) != NULL, "%s",
                 find (faults[_i].name)->error);

  /* the others go on, and who asks for what isn't there is told */
  ck_assert (gyre_layer_type_find ("relu", &error) != 0);
  gyre_assert_no_error (error);
  ck_assert (gyre_layer_type_find ("no-such-layer", &error) == 0);
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_UNKNOWN);
  gyre_assert_error_says (error, faults[_i].says);
}
END_TEST

START_TEST (text_is_no_module)
{
  g_autofree char *path = in_folder ("text");

  ck_assert (g_file_set_contents (path, "not a module\n", -1, NULL));
  gyre_plugin_rescan ();
  ck_assert_ptr_nonnull (find ("text")->error);
  ck_assert_ptr_nonnull (strstr (find ("text")->error, path));
}
END_TEST

START_TEST (loads_what_is_asked_for)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreLayer) model = NULL;
  g_autoptr (GyreOptimizer) optimizer = NULL;
  g_autofree char *printed = NULL;
  g_auto (GStrv) names = NULL;

  put ("good", "good");
  gyre_plugin_rescan ();
  ck_assert_ptr_null (find ("good")->error);
  ck_assert_ptr_null (find ("good")->plugin);
  ck_assert_str_eq (find ("good")->name, "test_good");
  ck_assert_str_eq (find ("good")->version, "3.1");
  ck_assert_str_eq (find ("good")->licence, "MIT");
  names = gyre_layer_type_list ();
  ck_assert (g_strv_contains ((const char *const *) names, "test-rms-norm"));
  ck_assert (g_type_from_name ("TestRmsNorm") == 0);

  model = gyre_model_parse ("test-rms-norm epsilon=0.5 note='a b' ! relu", &error);
  gyre_assert_no_error (error);
  ck_assert_ptr_nonnull (find ("good")->plugin);
  printed = gyre_model_to_string (model);
  ck_assert_str_eq (printed, "test-rms-norm epsilon=0.5 note=\"a b\" ! relu");
  ck_assert (g_type_get_plugin (g_type_from_name ("TestRmsNorm")) ==
             G_TYPE_PLUGIN (find ("good")->plugin));

  optimizer = gyre_optimizer_parse ("test-halve", &error);
  gyre_assert_no_error (error);
  ck_assert_str_eq (gyre_optimizer_get_type_name (optimizer), "test-halve");
}
END_TEST

/* What is known of a file is asked of the cache until the file changes. */
START_TEST (looks_again_at_a_file_that_changed)
{
  put ("other-api", "changing");
  gyre_plugin_rescan ();
  ck_assert_ptr_nonnull (strstr (find ("changing")->error, "gyre_plugin_test_changing"));

  gyre_plugin_rescan ();
  ck_assert_ptr_nonnull (strstr (find ("changing")->error, "gyre_plugin_test_changing"));

  put ("unresolved", "changing");
  gyre_plugin_rescan ();
  ck_assert_ptr_nonnull (strstr (find ("changing")->error, "nowhere"));
}
END_TEST

/* A module on the path hides one of the same name further on. */
START_TEST (first_of_a_name_counts)
{
  g_autofree char *path = g_build_filename (folder, "libgyre-dense.so", NULL);
  guint n = 0;

  ck_assert (g_file_set_contents (path, "not a module\n", -1, NULL));
  gyre_plugin_rescan ();
  for (guint i = 0; i < gyre_plugin_list ()->len; i++)
    {
      GyrePluginRecord *record = g_ptr_array_index (gyre_plugin_list (), i);

      if (g_str_has_suffix (record->path, "/libgyre-dense.so"))
        {
          ck_assert_str_eq (record->path, path);
          n++;
        }
    }
  ck_assert_uint_eq (n, 1);
}
END_TEST

START_TEST (library_has_no_layer_types)
{
  GModule *self = g_module_open (NULL, 0);
  gpointer symbol;

  ck_assert (g_module_symbol (self, "gyre_layer_get_type", &symbol));
  ck_assert (!g_module_symbol (self, "gyre_dense_get_type", &symbol));
  ck_assert (!g_module_symbol (self, "gyre_plugin_dense", &symbol));
  g_module_close (self);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "modules", set_up, tear_down);

  tcase_add_loop_test (tcase, lists_why_a_module_is_no_use, 0, G_N_ELEMENTS (faults));
  tcase_add_test (tcase, text_is_no_module);
  tcase_add_test (tcase, loads_what_is_asked_for);
  tcase_add_test (tcase, looks_again_at_a_file_that_changed);
  tcase_add_test (tcase, first_of_a_name_counts);
  gyre_check_add (suite, "symbols", library_has_no_layer_types);
}

GYRE_CHECK_MAIN ("plugin", add_tests)
