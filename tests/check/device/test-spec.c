/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <gyre/gyre-error.h>

#include "device/gyre-device-spec-private.h"

/* A machine that isn't there. */
typedef struct
{
  gsize          platform;
  const char    *platform_name;
  const char    *name;
  GyreDeviceKind kind;
  gboolean       duplicate;
} Fake;

#define EMULATION "Intel(R) FPGA Emulation Platform for OpenCL(TM)"

static const Fake fakes[] = {
  { 1, "Portable Computing Language", "basic-Some CPU", GYRE_DEVICE_CPU, FALSE },
  { 1, "Portable Computing Language", "pthread-Some CPU", GYRE_DEVICE_CPU, FALSE },
  { 2, "Intel(R) OpenCL", "Some CPU", GYRE_DEVICE_CPU, FALSE },
  { 3, "rusticl", "llvmpipe (LLVM 15.0.6)", GYRE_DEVICE_GPU, FALSE },
  { 4, EMULATION, "Intel(R) FPGA Emulation Device", GYRE_DEVICE_ACCELERATOR, FALSE },
  { 4, EMULATION, "Intel(R) FPGA Emulation Device", GYRE_DEVICE_ACCELERATOR, FALSE },
  { 5, "rusticl", "llvmpipe (LLVM 15.0.6)", GYRE_DEVICE_GPU, TRUE },
};

static GPtrArray *
make_inventory (void)
{
  GPtrArray *inventory =
    g_ptr_array_new_with_free_func ((GDestroyNotify) gyre_inventory_entry_free);

  for (gsize i = 0; i < G_N_ELEMENTS (fakes); i++)
    {
      GyreInventoryEntry *entry = g_new0 (GyreInventoryEntry, 1);

      entry->platform = GSIZE_TO_POINTER (fakes[i].platform);
      entry->platform_version = g_strdup ("OpenCL 1.2");
      entry->duplicate = fakes[i].duplicate;
      entry->info = g_new0 (GyreDeviceInfo, 1);
      entry->info->platform = g_strdup (fakes[i].platform_name);
      entry->info->name = g_strdup (fakes[i].name);
      entry->info->kind = fakes[i].kind;
      g_ptr_array_add (inventory, entry);
    }
  return inventory;
}

/* What a name means: the indices of fakes[], as digits. */
static const struct
{
  const char *spec;
  const char *indices;
} meanings[] = {
  { "all", "12345" },
  { "ALL", "12345" },
  { "cpu", "12" },
  { "gpu", "3" },
  { "accelerator", "45" },
  { "pocl", "1" },
  { "PoCL", "1" },
  { "intel", "2" },
  { "fpga", "45" },
  { "fpga:1", "5" },
  { "rusticl", "3" },
  { "llvmpipe", "36" },
  { "LLVMPipe:1", "6" },
  { "some cpu", "12" },
  { "some cpu:1", "2" },
  { "basic", "0" },
  { "basic:0", "0" },
  { "cpu:0", "1" },
};

START_TEST (names_mean)
{
  g_autoptr (GPtrArray) inventory = make_inventory ();
  g_autoptr (GPtrArray) terms = NULL;
  g_autoptr (GPtrArray) found = NULL;
  g_autoptr (GString) indices = g_string_new (NULL);
  GError *error = NULL;

  terms = gyre_device_spec_parse (meanings[_i].spec, &error);
  gyre_assert_no_error (error);
  ck_assert_uint_eq (terms->len, 1);
  found = gyre_device_term_match (g_ptr_array_index (terms, 0), inventory, &error);
  gyre_assert_no_error (error);
  for (guint i = 0; i < found->len; i++)
    for (guint j = 0; j < inventory->len; j++)
      if (g_ptr_array_index (found, i) == g_ptr_array_index (inventory, j))
        g_string_append_printf (indices, "%u", j);
  ck_assert_str_eq (indices->str, meanings[_i].indices);
}
END_TEST

START_TEST (suffixes_are_read)
{
  g_autoptr (GPtrArray) terms = NULL;
  GError *error = NULL;
  GyreDeviceTerm *term;

  terms = gyre_device_spec_parse (" gpu:0 , Some CPU:1/2*3=0.25,pocl", &error);
  gyre_assert_no_error (error);
  ck_assert_uint_eq (terms->len, 3);

  term = g_ptr_array_index (terms, 0);
  ck_assert_str_eq (term->name, "gpu");
  ck_assert_int_eq (term->index, 0);
  ck_assert_uint_eq (term->parts, 1);
  ck_assert_uint_eq (term->copies, 1);
  ck_assert (term->share == -1);

  term = g_ptr_array_index (terms, 1);
  ck_assert_str_eq (term->name, "Some CPU");
  ck_assert_int_eq (term->index, 1);
  ck_assert_uint_eq (term->parts, 2);
  ck_assert_uint_eq (term->copies, 3);
  ck_assert (term->share == 0.25);
  ck_assert_uint_eq (term->column, 10);

  term = g_ptr_array_index (terms, 2);
  ck_assert_str_eq (term->name, "pocl");
  ck_assert_int_eq (term->index, -1);
}
END_TEST

static const struct
{
  const char *spec;
  const char *says;
} mistakes[] = {
  { "", "column 1" },
  { "pocl,", "column 6" },
  { ",pocl", "column 1" },
  { "pocl:", "column 6: expected an index" },
  { "pocl:x", "column 6: expected an index" },
  { "pocl:-1", "column 6" },
  { "pocl/0", "column 6: expected a number of sub-devices" },
  { "pocl*0", "column 6: expected how often" },
  { "pocl*99999", "column 6" },
  { "pocl=1.5", "column 6: expected a share" },
  { "pocl=", "column 6: expected a share" },
  { "pocl=nan", "column 6: expected a share" },
  { "pocl*2/2", "column 7: expected ',' or the end; the order" },
  { "pocl=0.5*2", "column 9" },
  { "pocl:0x", "column 7" },
  { ":0", "column 1" },
};

START_TEST (mistakes_name_the_column)
{
  GError *error = NULL;

  ck_assert_ptr_null (gyre_device_spec_parse (mistakes[_i].spec, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_SYNTAX);
  gyre_assert_error_says (error, mistakes[_i].says);
  g_clear_error (&error);
}
END_TEST

static GError *
match_error (const char *spec)
{
  g_autoptr (GPtrArray) inventory = make_inventory ();
  g_autoptr (GPtrArray) terms = NULL;
  GError *error = NULL;

  terms = gyre_device_spec_parse (spec, &error);
  gyre_assert_no_error (error);
  ck_assert_ptr_null (gyre_device_term_match (g_ptr_array_index (terms, terms->len - 1),
                                              inventory, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_UNKNOWN);
  return error;
}

START_TEST (no_match_says_what_there_is)
{
  g_autoptr (GError) error = match_error ("pocl,warp-drive");

  gyre_assert_error_says (error, "column 6");
  gyre_assert_error_says (error, "'warp-drive'");
  gyre_assert_error_says (error, "llvmpipe (LLVM 15.0.6) (gpu of rusticl)");
}
END_TEST

START_TEST (index_past_the_end_says_how_many)
{
  g_autoptr (GError) error = match_error ("fpga:2");

  gyre_assert_error_says (error, "index 2 of 2");
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add_loop (suite, "names", names_mean, G_N_ELEMENTS (meanings));
  gyre_check_add (suite, "suffixes", suffixes_are_read);
  gyre_check_add_loop (suite, "mistakes", mistakes_name_the_column,
                       G_N_ELEMENTS (mistakes));
  gyre_check_add (suite, "no-match", no_match_says_what_there_is);
  gyre_check_add (suite, "index", index_past_the_end_says_how_many);
}

GYRE_CHECK_MAIN ("spec", add_tests)
