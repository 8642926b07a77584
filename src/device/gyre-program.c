/* SPDX-License-Identifier: Apache-2.0 */
#include "device/gyre-program-private.h"

#include <gyre/gyre-error.h>

/* Of the compiler's words, as many go into an error. */
#define LOG_LIMIT 4000

typedef struct
{
  GMutex     lock;     /* while it is being built */
  cl_program object;   /* NULL: not built yet */
} Program;

/* What a program is made of and for. */
typedef struct
{
  GyreDevice *device;
  const char *source;
  const char *options;
  char       *key;
} Recipe;

static gint n_built;
static gint n_loaded;

static char *
make_key (const Recipe *recipe)
{
  const GyreDeviceInfo *info = recipe->device->info;
  g_autofree char *version =
    gyre_cl_get_platform_string (recipe->device->context->platform, CL_PLATFORM_VERSION);
  g_autofree char *environment = gyre_cache_environment ();
  g_autofree char *units = g_strdup_printf ("%u", info->compute_units);

  return gyre_cache_key (recipe->source, recipe->options, info->platform, version,
                         info->name, info->driver_version, units, environment, NULL);
}

static char *
get_build_log (cl_program   object,
               cl_device_id id)
{
  gsize size = 0;
  char *log;

  if (clGetProgramBuildInfo (object, id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size)
      != CL_SUCCESS)
    return g_strdup ("");

  log = g_malloc0 (size + 1);
  clGetProgramBuildInfo (object, id, CL_PROGRAM_BUILD_LOG, size, log, NULL);
  if (size > LOG_LIMIT)
    log[LOG_LIMIT] = '\0';
  return g_strstrip (log);
}

static gboolean
build (const Recipe  *recipe,
       cl_program     object,
       GError       **error)
{
  g_autofree char *log = NULL;
  cl_int status;

  /* Once more: PoCL fails where another process fills the same cache at that moment. */
  for (int attempt = 0; attempt < 2; attempt++)
    {
      status =
          clBuildProgram (object, 1, &recipe->device->id, recipe->options, NULL, NULL);
      if (status == CL_SUCCESS)
        return TRUE;
    }

  log = get_build_log (object, recipe->device->id);
  gyre_cl_check (status, error, "clBuildProgram on %s with options '%s':\n%s\n",
                 recipe->device->info->name, recipe->options, log);
  return FALSE;
}

static cl_program
build_source (const Recipe  *recipe,
              GError       **error)
{
  const char *name = recipe->device->info->name;
  cl_program object;
  cl_int status;

  if (!recipe->device->info->has_compiler)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_BUILD,
                   "%s has no compiler, and no binary of this program was built ahead "
                   "for it (%s.bin)", name, recipe->key);
      return NULL;
    }
  object = clCreateProgramWithSource (recipe->device->context->object, 1,
                                      (const char **) &recipe->source, NULL, &status);
  if (!gyre_cl_check (status, error, "clCreateProgramWithSource on %s", name))
    return NULL;
  if (build (recipe, object, error))
    {
      g_atomic_int_inc (&n_built);
      return object;
    }
  clReleaseProgram (object);
  return NULL;
}

/* NULL without an error: there is no binary that works. */
static cl_program
build_binary (const Recipe *recipe)
{
  g_autoptr (GBytes) binary = gyre_binary_cache_load (recipe->key);
  const unsigned char *data;
  cl_program object;
  cl_int status, loaded;
  gsize size;

  if (binary == NULL)
    return NULL;

  data = g_bytes_get_data (binary, &size);
  object = clCreateProgramWithBinary (recipe->device->context->object, 1,
                                      &recipe->device->id, &size, &data, &loaded,
                                      &status);
  if (status != CL_SUCCESS)
    return NULL;
  if (loaded == CL_SUCCESS && build (recipe, object, NULL))
    {
      g_atomic_int_inc (&n_loaded);
      return object;
    }
  clReleaseProgram (object);
  return NULL;
}

static gboolean
ask (cl_program       object,
     cl_program_info  param,
     gsize            size,
     gpointer         value)
{
  return clGetProgramInfo (object, param, size, value, NULL) == CL_SUCCESS;
}

/* A program of several devices has a binary for each, in the order of its devices;
 * those that it wasn't built for have none. */
static GBytes *
take_binary (cl_program   object,
             cl_device_id id)
{
  cl_device_id ids[64];
  gsize sizes[64] = { 0 };
  unsigned char *data[64] = { NULL };
  cl_uint n = 0;
  GBytes *binary = NULL;

  if (!ask (object, CL_PROGRAM_NUM_DEVICES, sizeof n, &n) || n > G_N_ELEMENTS (ids) ||
      !ask (object, CL_PROGRAM_DEVICES, n * sizeof *ids, ids) ||
      !ask (object, CL_PROGRAM_BINARY_SIZES, n * sizeof *sizes, sizes))
    return NULL;

  for (cl_uint i = 0; i < n; i++)
    data[i] = g_malloc (MAX (sizes[i], 1));
  /* The exact size: rusticl dies of a larger one. */
  if (ask (object, CL_PROGRAM_BINARIES, n * sizeof *data, data))
    for (cl_uint i = 0; i < n; i++)
      if (ids[i] == id && sizes[i] > 0)
        binary = g_bytes_new (data[i], sizes[i]);
  for (cl_uint i = 0; i < n; i++)
    g_free (data[i]);
  return binary;
}

static cl_program
make_program (Recipe  *recipe,
              GError **error)
{
  g_autoptr (GBytes) binary = NULL;
  cl_program object;

  recipe->key = make_key (recipe);
  object = build_binary (recipe);
  if (object == NULL && (object = build_source (recipe, error)) != NULL &&
      (binary = take_binary (object, recipe->device->id)) != NULL)
    gyre_binary_cache_save (recipe->key, binary);

  g_free (recipe->key);
  return object;
}

/* The same place for the same text and device of a context. */
static Program *
find_program (const Recipe *recipe)
{
  GyreContext *context = recipe->device->context;
  g_autofree char *id = g_strdup_printf ("%p", (gpointer) recipe->device->id);
  g_autofree char *key = gyre_cache_key (id, recipe->options, recipe->source, NULL);
  Program *program;

  g_mutex_lock (&context->lock);
  if (context->programs == NULL)
    context->programs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  program = g_hash_table_lookup (context->programs, key);
  if (program == NULL)
    {
      program = g_new0 (Program, 1);
      g_mutex_init (&program->lock);
      g_hash_table_insert (context->programs, g_steal_pointer (&key), program);
    }
  g_mutex_unlock (&context->lock);
  return program;
}

cl_program
gyre_device_get_program (GyreDevice  *device,
                         const char  *source,
                         const char  *options,
                         GError     **error)
{
  Recipe recipe = { device, source, options != NULL ? options : "", NULL };
  Program *program = find_program (&recipe);
  cl_program object;

  g_mutex_lock (&program->lock);
  if (program->object == NULL)
    program->object = make_program (&recipe, error);
  object = program->object;
  g_mutex_unlock (&program->lock);
  return object;
}

void
gyre_programs_count (guint *built,
                     guint *loaded)
{
  *built = g_atomic_int_get (&n_built);
  *loaded = g_atomic_int_get (&n_loaded);
}
