/* SPDX-License-Identifier: Apache-2.0 */
#include "nn/gyre-registry-private.h"

#include "base/gyre-text-private.h"

#include <gyre/gyre-error.h>

#include <stdlib.h>
#include <string.h>

typedef struct
{
  GType              type;     /* 0: in a module that is not loaded */
  GyreRegistryModule module;   /* interned; NULL: the library itself */
} Entry;

static GRecMutex lock;
static GHashTable *tables;      /* base type → name → Entry */
static GyreRegistryLoader load;
static char *note;

static GQuark
name_quark (void)
{
  return g_quark_from_static_string ("gyre-registry-name");
}

static GHashTable *
get_table (GType base)
{
  GHashTable *table;

  if (tables == NULL)
    tables = g_hash_table_new (NULL, NULL);
  table = g_hash_table_lookup (tables, GSIZE_TO_POINTER (base));
  if (table == NULL)
    {
      table = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
      g_hash_table_insert (tables, GSIZE_TO_POINTER (base), table);
    }

  return table;
}

static Entry *
get_entry (GType       base,
           const char *name)
{
  return g_hash_table_lookup (get_table (base), name);
}

static void
put_entry (GType                     base,
           const char               *name,
           GType                     type,
           const GyreRegistryModule *module)
{
  Entry *entry = g_new0 (Entry, 1);

  entry->type = type;
  if (module != NULL)
    {
      entry->module.name = g_intern_string (module->name);
      entry->module.path = g_intern_string (module->path);
    }
  g_hash_table_replace (get_table (base), (gpointer) g_intern_string (name), entry);
}

/* Loading adds entries: the lock is one that its thread may take again. */
static void
run_loader (GType       base,
            const char *name)
{
  if (load != NULL)
    load (base, name);
}

void
gyre_registry_set_loader (GyreRegistryLoader loader)
{
  load = loader;
}

void
gyre_registry_set_note (const char *text)
{
  g_free (note);
  note = g_strdup (text);
}

void
gyre_registry_lock (void)
{
  g_rec_mutex_lock (&lock);
}

void
gyre_registry_unlock (void)
{
  g_rec_mutex_unlock (&lock);
}

gboolean
gyre_registry_add (GType                     base,
                   const char               *name,
                   GType                     type,
                   const GyreRegistryModule *module)
{
  g_autoptr (GRecMutexLocker) locker = g_rec_mutex_locker_new (&lock);
  Entry *entry = get_entry (base, name);

  g_type_set_qdata (type, name_quark (), (gpointer) g_intern_string (name));
  if (module != NULL && entry != NULL &&
      g_strcmp0 (entry->module.path, module->path) != 0)
    return FALSE;

  put_entry (base, name, type, module);
  return TRUE;
}

void
gyre_registry_promise (GType                     base,
                       const char               *name,
                       const GyreRegistryModule *module)
{
  g_autoptr (GRecMutexLocker) locker = g_rec_mutex_locker_new (&lock);

  if (get_entry (base, name) == NULL)
    put_entry (base, name, 0, module);
}

static gboolean
is_promise (gpointer name,
            gpointer entry,
            gpointer data)
{
  return ((Entry *) entry)->type == 0;
}

void
gyre_registry_forget (void)
{
  g_autoptr (GRecMutexLocker) locker = g_rec_mutex_locker_new (&lock);
  GHashTableIter iter;
  gpointer table;

  if (tables == NULL)
    return;

  g_hash_table_iter_init (&iter, tables);
  while (g_hash_table_iter_next (&iter, NULL, &table))
    g_hash_table_foreach_remove (table, is_promise, NULL);
}

static void
set_unknown (GType        base,
             const char  *what,
             const char  *name,
             GError     **error)
{
  g_auto (GStrv) names = gyre_registry_list (base);
  g_autofree char *near = gyre_text_suggest (name, (const char *const *) names);
  g_autofree char *list = g_strjoinv (", ", names);
  const char *more = note != NULL ? note : "";

  if (near != NULL)
    g_set_error (error, GYRE_ERROR, GYRE_ERROR_UNKNOWN,
                 "unknown %s \"%s\"; did you mean \"%s\"?%s", what, name, near, more);
  else
    g_set_error (error, GYRE_ERROR, GYRE_ERROR_UNKNOWN,
                 "unknown %s \"%s\"; there are %s%s", what, name,
                 list[0] != '\0' ? list : "none", more);
}

GType
gyre_registry_find (GType        base,
                    const char  *what,
                    const char  *name,
                    GError     **error)
{
  g_autoptr (GRecMutexLocker) locker = g_rec_mutex_locker_new (&lock);
  Entry *entry = get_entry (base, name);

  if (entry == NULL || entry->type == 0)
    run_loader (base, name);
  entry = get_entry (base, name);
  if (entry != NULL && entry->type != 0)
    return entry->type;

  if (entry != NULL)
    g_set_error (error, GYRE_ERROR, GYRE_ERROR_PLUGIN,
                 "the %s \"%s\" can't be had: its plugin \"%s\" does not load%s", what,
                 name, entry->module.name, note != NULL ? note : "");
  else
    set_unknown (base, what, name, error);
  return 0;
}

static int
compare_names (gconstpointer a,
               gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

char **
gyre_registry_list (GType base)
{
  g_autoptr (GRecMutexLocker) locker = g_rec_mutex_locker_new (&lock);
  g_autofree gpointer *names = NULL;
  guint n;
  char **list;

  run_loader (base, NULL);
  names = g_hash_table_get_keys_as_array (get_table (base), &n);
  list = g_new0 (char *, n + 1);
  for (guint i = 0; i < n; i++)
    list[i] = g_strdup (names[i]);
  qsort (list, n, sizeof *list, compare_names);

  return list;
}

const char *
gyre_registry_get_name (GType type)
{
  const char *name = g_type_get_qdata (type, name_quark ());

  return name != NULL ? name : g_type_name (type);
}

GyreRegistryModule
gyre_registry_get_module (GType       base,
                          const char *name)
{
  g_autoptr (GRecMutexLocker) locker = g_rec_mutex_locker_new (&lock);
  Entry *entry = get_entry (base, name);

  return entry != NULL ? entry->module : (GyreRegistryModule){ NULL, NULL };
}
