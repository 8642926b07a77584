/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-plugin.h>

/* Wants a name that no line could say. */

#define TEST_TYPE_BAD_NAME (test_bad_name_get_type ())
G_DECLARE_FINAL_TYPE (TestBadName, test_bad_name, TEST, BAD_NAME, GyreLayer)

struct _TestBadName
{
  GyreLayer parent_instance;
};

GYRE_DEFINE_LAYER (TestBadName, test_bad_name)

static void
test_bad_name_class_init (TestBadNameClass *klass)
{
}

static void
test_bad_name_init (TestBadName *self)
{
}

static void
plugin_init (GyrePlugin *plugin)
{
  test_bad_name_add (plugin, "bad ! name");
}

GYRE_PLUGIN_DEFINE (test_bad_name, "1.0", "Apache-2.0", plugin_init)
