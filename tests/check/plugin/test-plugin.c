/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <glib/gstdio.h>
#include <gmodule.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

      ck_assert_int_eq (g_remove (path), 0);
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
  { "bad-name", "the name of its layer \"bad ! name\" is none for lines" },
  { "crash", "it crashed while it was loaded (Segmentation fault)" },
  { "exits", "it ended the program that loaded it" },
  { "hang", "it hung while it was loaded (1 seconds)" },
  { "no-descriptor", "it has no symbol gyre_plugin_test_no_descriptor" },
  { "other-api", "it was built for version 3 of the plugin interface, this is 2" },
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

/* A pipe would be waited for. */
START_TEST (what_is_no_file_is_no_module)
{
  g_autofree char *made = in_folder ("folder");
  g_autofree char *pipe = in_folder ("pipe");
  g_autofree char *link = in_folder ("link");

  ck_assert_int_eq (g_mkdir (made, 0700), 0);
  ck_assert_int_eq (mkfifo (pipe, 0600), 0);
  ck_assert_int_eq (symlink ("/nowhere", link), 0);
  gyre_plugin_rescan ();
  ck_assert_str_eq (find ("folder")->error, "it is a folder");
  ck_assert_str_eq (find ("pipe")->error, "it is no regular file");
  ck_assert_str_eq (find ("link")->error, "No such file or directory");
}
END_TEST

static void
write_cache (const char *text)
{
  g_autofree char *path =
    g_build_filename (g_get_user_cache_dir (), "gyre", "plugins.ini", NULL);

  ck_assert (g_file_set_contents (path, text, -1, NULL));
}

/* Whatever is in the cache, it can't make a module what it isn't. */
START_TEST (damaged_cache_is_as_none)
{
  g_autofree char *path = g_build_filename (g_get_user_cache_dir (), "gyre",
                                            "plugins.ini", NULL);
  g_autofree char *text = NULL;
  gsize size;

  put ("good", "good");
  gyre_plugin_rescan ();
  ck_assert (g_file_get_contents (path, &text, &size, NULL));
  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *damaged = g_strndup (text, size - size * i / 4);

      damaged[size * (4 - i) / 4 / 2] ^= 4;
      write_cache (i == 3 ? "" : damaged);
      gyre_plugin_rescan ();
      ck_assert_ptr_null (find ("good")->error);
      ck_assert_str_eq (find ("good")->names[0][0], "test-rms-norm");
    }
}
END_TEST

/* Between the look and the load it became one that crashes, or has other things. */
START_TEST (replaced_after_the_look)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) other = NULL;

  put ("kinds", "kinds");
  gyre_plugin_rescan ();
  put ("crash", "kinds");
  ck_assert (gyre_loss_type_find ("test-absolute", &error) == 0);
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_PLUGIN);
  gyre_assert_error_says (error, "gyre_plugin_test_kinds");

  put ("kinds", "kinds");
  gyre_plugin_rescan ();
  g_remove (find ("kinds")->path);
  ck_assert (gyre_loss_type_find ("test-absolute", &other) == 0);
  gyre_assert_error_says (other, "No such file");
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

/* A name of the library, or of a module before, is not taken over; the module's others
 * are there, whichever is asked for first. */
START_TEST (first_of_a_name_wins)
{
  g_autofree char *winner = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) owners = NULL;

  put ("good", "good");
  put ("second", "second");
  gyre_plugin_rescan ();
  winner = gyre_plugin_find_winner (find ("second"), 0, "test-rms-norm");
  ck_assert (g_str_has_suffix (winner, "/libgyre-test-good.so"));
  g_free (winner);
  winner = gyre_plugin_find_winner (find ("second"), 0, "sequential");
  ck_assert_str_eq (winner, "the library");
  owners = gyre_plugin_list_owners (0, "test-rms-norm");
  ck_assert_uint_eq (owners->len, 2);

  ck_assert (gyre_layer_type_find ("test-own", &error) != 0);
  gyre_assert_no_error (error);
  ck_assert_str_eq (g_type_name (gyre_layer_type_find ("sequential", NULL)),
                    "GyreSequential");
  ck_assert (g_type_get_plugin (gyre_layer_type_find ("test-rms-norm", &error)) !=
             g_type_get_plugin (gyre_layer_type_find ("test-own", NULL)));
  gyre_assert_no_error (error);
}
END_TEST

START_TEST (adds_one_of_each_kind)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreLoss) loss = NULL;
  g_autoptr (GyreOptimizer) optimizer = NULL;
  g_autoptr (GyreInitializer) initializer = NULL;
  g_autoptr (GyreArray) numbers = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GyreDataset) data = NULL;
  g_autofree char *printed = NULL;
  g_autofree char *file = g_build_filename (folder, "x.chess", NULL);

  put ("kinds", "kinds");
  gyre_plugin_rescan ();
  ck_assert_ptr_null (find ("kinds")->error);
  ck_assert_str_eq (find ("kinds")->origin, "the tests of Gyre");
  ck_assert_str_eq (find ("kinds")->primitives[0], "test-twice");
  for (guint i = 0; i < GYRE_PLUGIN_N_KINDS; i++)
    ck_assert_uint_eq (g_strv_length (find ("kinds")->names[i]), 1);

  loss = gyre_loss_parse ("test-absolute reduction=sum", &error);
  gyre_assert_no_error (error);
  ck_assert_int_eq (gyre_loss_get_reduction (loss), GYRE_REDUCTION_SUM);
  optimizer = gyre_optimizer_parse (
      "test-plain learning-rate=test-stairs(height=0.25)", &error);
  gyre_assert_no_error (error);
  printed = gyre_optimizer_to_string (optimizer);
  ck_assert_str_eq (printed, "test-plain learning-rate=test-stairs(height=0.25)");

  initializer = gyre_initializer_parse ("test-counting(start=3)", &error);
  gyre_assert_no_error (error);
  numbers = gyre_initializer_make (initializer, GYRE_SHAPE (2), gyre_key_new (0), &error);
  bytes = gyre_array_get (numbers, &error);
  gyre_assert_no_error (error);
  ck_assert_float_eq (((const float *) g_bytes_get_data (bytes, NULL))[1], 4);

  data = gyre_dataset_open ("test-chess(n=6):anywhere", &error);
  gyre_assert_no_error (error);
  ck_assert_int_eq (gyre_dataset_get_n (data, GYRE_SPLIT_TRAIN), 6);
  ck_assert_str_eq (gyre_dataset_get_name (data), "test-chess(n=6):anywhere");
  g_clear_object (&data);
  ck_assert (g_file_set_contents (file, "", 0, NULL));
  data = gyre_dataset_open (file, &error);
  gyre_assert_no_error (error);
  ck_assert_ptr_nonnull (strstr (gyre_dataset_get_name (data), "test-chess:/"));
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
  g_setenv ("GYRE_PLUGIN_SCAN_SECONDS", "1", TRUE);
  TCase *tcase = gyre_check_case (suite, "modules", set_up, tear_down);

  tcase_add_loop_test (tcase, lists_why_a_module_is_no_use, 0, G_N_ELEMENTS (faults));
  tcase_add_test (tcase, text_is_no_module);
  tcase_add_test (tcase, what_is_no_file_is_no_module);
  tcase_add_test (tcase, damaged_cache_is_as_none);
  tcase_add_test (tcase, replaced_after_the_look);
  tcase_add_test (tcase, loads_what_is_asked_for);
  tcase_add_test (tcase, looks_again_at_a_file_that_changed);
  tcase_add_test (tcase, first_of_a_name_counts);
  tcase_add_test (tcase, first_of_a_name_wins);
  tcase_add_test (tcase, adds_one_of_each_kind);
  gyre_check_add (suite, "symbols", library_has_no_layer_types);
}

GYRE_CHECK_MAIN ("plugin", add_tests)
