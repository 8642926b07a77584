/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-plugin.h>

/* Wants a name that the library has. */

#define TEST_TYPE_TAKEN (test_taken_get_type ())
G_DECLARE_FINAL_TYPE (TestTaken, test_taken, TEST, TAKEN, GyreLayer)

struct _TestTaken
{
  GyreLayer parent_instance;
};

GYRE_DEFINE_LAYER (TestTaken, test_taken)

static void
test_taken_class_init (TestTakenClass *klass)
{
}

static void
test_taken_init (TestTaken *self)
{
}

static void
plugin_init (GyrePlugin *plugin)
{
  test_taken_add (plugin, "sequential");
}

GYRE_PLUGIN_DEFINE (test_taken, "1.0", "Apache-2.0", plugin_init)
