/* SPDX-License-Identifier: Apache-2.0 */
#include "device/gyre-device-spec-private.h"

#include <string.h>

#include <gyre/gyre-error.h>

/* A short name of platforms: those whose name has one of the words and none of the
 * others. */
typedef struct
{
  const char *alias;
  const char *words[6];
  const char *others[6];
} Alias;

#define FPGA_WORDS "fpga", "xilinx", "vitis", "xrt", "alveo"

static const Alias aliases[] = {
  { "pocl", { "portable computing language", "pocl" }, { NULL } },
  { "intel", { "intel" }, { FPGA_WORDS } },
  { "fpga", { FPGA_WORDS }, { NULL } },
  { "rusticl", { "rusticl" }, { NULL } },
  { "clover", { "clover" }, { NULL } },
  { "mesa", { "rusticl", "clover" }, { NULL } },
  { "oclgrind", { "oclgrind" }, { NULL } },
  { "nvidia", { "nvidia" }, { NULL } },
  { "amd", { "amd" }, { FPGA_WORDS } },
  { "arm", { "arm platform" }, { NULL } },
  { "qualcomm", { "qualcomm" }, { NULL } },
  { "apple", { "apple" }, { NULL } },
};

typedef gboolean (*Matches) (const GyreInventoryEntry *entry,
                             const char               *name);

static gboolean
has_word (const char *text,
          const char *word)
{
  g_autofree char *low_text = g_utf8_casefold (text, -1);
  g_autofree char *low_word = g_utf8_casefold (word, -1);

  return strstr (low_text, low_word) != NULL;
}

static gboolean
has_a_word (const char        *text,
            const char *const *words)
{
  for (; *words != NULL; words++)
    if (has_word (text, *words))
      return TRUE;

  return FALSE;
}

static gboolean
matches_all (const GyreInventoryEntry *entry,
             const char               *name)
{
  return g_ascii_strcasecmp (name, "all") == 0 && !entry->duplicate;
}

static gboolean
matches_kind (const GyreInventoryEntry *entry,
              const char               *name)
{
  return g_ascii_strcasecmp (name, gyre_device_kind_name (entry->info->kind)) == 0 &&
         !entry->duplicate;
}

static gboolean
matches_alias (const GyreInventoryEntry *entry,
               const char               *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (aliases); i++)
    if (g_ascii_strcasecmp (name, aliases[i].alias) == 0)
      return has_a_word (entry->info->platform, aliases[i].words) &&
             !has_a_word (entry->info->platform, aliases[i].others) &&
             !entry->duplicate;

  return FALSE;
}

static gboolean
matches_part (const GyreInventoryEntry *entry,
              const char               *name)
{
  return has_word (entry->info->platform, name) || has_word (entry->info->name, name);
}

/* In this order; the first that matches any device decides. */
static const Matches matchers[] = {
  matches_all, matches_kind, matches_alias, matches_part
};

static GPtrArray *
collect (GPtrArray  *inventory,
         const char *name)
{
  GPtrArray *found = g_ptr_array_new ();

  for (gsize m = 0; m < G_N_ELEMENTS (matchers) && found->len == 0; m++)
    for (guint i = 0; i < inventory->len; i++)
      if (matchers[m] (g_ptr_array_index (inventory, i), name))
        g_ptr_array_add (found, g_ptr_array_index (inventory, i));

  return found;
}

/* PoCL's basic device runs kernels on the calling thread, and hangs beside its
 * pthread device: it is left out where there is another of its platform. */
static void
drop_basic (GPtrArray *found)
{
  for (guint i = found->len; i-- > 0;)
    {
      const GyreInventoryEntry *entry = g_ptr_array_index (found, i);
      gboolean beside = FALSE;

      for (guint j = 0; j < found->len; j++)
        {
          const GyreInventoryEntry *other = g_ptr_array_index (found, j);

          beside |= other->platform == entry->platform &&
                    !gyre_inventory_entry_is_basic (other);
        }
      if (beside && gyre_inventory_entry_is_basic (entry))
        g_ptr_array_remove_index (found, i);
    }
}

static char *
list_inventory (GPtrArray *inventory)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < inventory->len; i++)
    {
      const GyreInventoryEntry *entry = g_ptr_array_index (inventory, i);

      g_string_append_printf (text, "%s%s (%s of %s)", i > 0 ? ", " : "",
                              entry->info->name,
                              gyre_device_kind_name (entry->info->kind),
                              entry->info->platform);
    }
  return g_string_free (text, FALSE);
}

GPtrArray *
gyre_device_term_match (const GyreDeviceTerm  *self,
                        GPtrArray             *inventory,
                        GError               **error)
{
  g_autoptr (GPtrArray) found = collect (inventory, self->name);
  g_autofree char *list = NULL;
  GPtrArray *one;

  drop_basic (found);
  if (found->len > 0 && self->index < 0)
    return g_steal_pointer (&found);
  if (self->index >= 0 && (guint) self->index < found->len)
    {
      one = g_ptr_array_new ();
      g_ptr_array_add (one, g_ptr_array_index (found, self->index));
      return one;
    }

  list = list_inventory (found->len > 0 ? found : inventory);
  if (found->len > 0)
    g_set_error (error, GYRE_ERROR, GYRE_ERROR_UNKNOWN,
                 "device string, column %u: '%s:%d' asks for index %d of %u: %s",
                 self->column, self->name, self->index, self->index, found->len, list);
  else
    g_set_error (error, GYRE_ERROR, GYRE_ERROR_UNKNOWN,
                 "device string, column %u: no device matches '%s'; there are: %s",
                 self->column, self->name, list);
  return NULL;
}
