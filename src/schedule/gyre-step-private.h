/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-step.h>

#include "schedule/gyre-commands-private.h"
#include "trace/gyre-trace-private.h"

G_BEGIN_DECLS

/* How the leaves under an entry of the arguments lie. */
typedef enum
{
  GYRE_ARGS_SHARDED,     /* jit: by the sharding */
  GYRE_ARGS_BROADCAST,   /* pmap: every device sees the whole */
  GYRE_ARGS_STACKED,     /* pmap: a leading dimension of one a device */
  GYRE_ARGS_RAGGED       /* pmap: the leading dimension is cut by share */
} GyreArgsKind;

typedef struct
{
  char         *prefix;    /* "state", "state/params"; "" is all else */
  GyreArgsKind  kind;
  GyreSharding *sharding;
} GyreArgsRule;

/* What a step was made with. */
typedef struct
{
  GyreStepFunc   func;
  gpointer       data;
  GDestroyNotify destroy;
  GyreMesh      *mesh;
  gboolean       manual;
  GArray        *rules;    /* GyreArgsRule; the last is for all else */
  char         **donate;
  GyreCrewTable *crews;
  guint          n_traces;
} GyreStepInfo;

/* An input or output of the compiled function. */
typedef struct
{
  GyreSharding *sharding;
  GyreDtype     dtype;
  GyreShape     shape;       /* of the array outside: global, or stacked */
  GyreLayout   *layout;
  gboolean      ragged;      /* inputs: rows are cut by share, under pmap */
  gboolean      donated;     /* inputs: the caller gives it up */
  gboolean      overwritten; /* inputs: a run writes over it */
  GyreResult    result;      /* outputs */
  gboolean      small;       /* outputs: travels to the host by itself */
  gboolean      reserved;    /* buffers for a few runs are in the pool */
} GyrePort;

/* The step compiled for one set of shapes.  Reference counted: runs hold it. */
typedef struct
{
  gatomicrefcount ref_count;
  GyreMesh       *mesh;
  GPtrArray      *traces;      /* GyreTrace, one a distinct local shape */
  GPtrArray      *graphs;      /* GyreGraph, simplified */
  GPtrArray      *programs;    /* GyreProgram, fused */
  guint          *variants;    /* by device: which of these it runs */
  GyreCommands   *schedule;
  guint           version;     /* of the mesh's shares */
  guint           n_inputs, n_outputs;
  GyrePort       *inputs, *outputs;
  char           *name;        /* for errors */
} GyreCompiled;

/* Parses the entries of the constructors. */
gboolean     gyre_step_info_add_shardings (GyreStepInfo  *self,
                                           const char    *shardings,
                                           GError       **error);
gboolean     gyre_step_info_add_kinds     (GyreStepInfo  *self,
                                           const char    *names,
                                           GyreArgsKind   kind,
                                           GError       **error);
/* sharding: (transfer full) */
void         gyre_step_info_add_rule      (GyreStepInfo  *self,
                                           const char    *prefix,
                                           GyreArgsKind   kind,
                                           GyreSharding  *sharding);
/* "x" or "x=data" */
gboolean     gyre_step_info_add_ragged    (GyreStepInfo  *self,
                                           const char    *text,
                                           GError       **error);
/* How many rows each device has of an array that is cut so. */
gboolean     gyre_step_cut_rows           (GyreMesh      *mesh,
                                           GyreSharding  *sharding,
                                           const GyreShape *shape,
                                           gint64        *rows,
                                           GError       **error);
/* The axes whose members have unlike numbers of rows of some entry. */
guint8       gyre_step_info_find_ragged   (GyreStepInfo  *self,
                                           GPtrArray     *arrays,
                                           GPtrArray     *paths);
/* "data+model": the axes of a mesh. */
char        *gyre_step_join_axes          (GyreMesh      *mesh);
gboolean     gyre_step_info_add_stacked   (GyreStepInfo  *self,
                                           GError       **error);
const GyreArgsRule *gyre_step_info_find   (GyreStepInfo  *self,
                                           const char    *path);
gboolean     gyre_step_info_check_names   (GyreStepInfo  *self,
                                           GyreTree      *args,
                                           GError       **error);
gboolean     gyre_step_info_is_donated    (GyreStepInfo  *self,
                                           const char    *path);
void         gyre_step_info_free          (GyreStepInfo  *self);

/* Traces and compiles for these arguments; arrays: their leaves. */
GyreCompiled *gyre_compiled_new           (GyreStepInfo  *info,
                                           GyreTree      *args,
                                           GPtrArray     *arrays,
                                           GPtrArray     *paths,
                                           GError       **error);
GyreCompiled *gyre_compiled_ref           (GyreCompiled  *self);
void          gyre_compiled_unref         (GyreCompiled  *self);
/* With the shares of now. */
gboolean      gyre_compiled_update        (GyreCompiled  *self,
                                           GError       **error);
/* The graphs or programs of all variants as text, each after the devices that run it
 * where there are several. (transfer full) */
char         *gyre_compiled_describe      (GyreCompiled  *self,
                                           gboolean       programs);
/* What the compiled function takes and gives, once its commands are there; and how it
 * lies as the shares are now. */
void          gyre_compiled_make_ports    (GyreCompiled  *self,
                                           GyreStepInfo  *info,
                                           GPtrArray     *arrays,
                                           GPtrArray     *paths);
gboolean      gyre_compiled_set_layouts   (GyreCompiled  *self,
                                           GError       **error);
void          gyre_compiled_clear_ports   (GyreCompiled  *self);
/* What distinguishes arguments that must be compiled apart. */
char         *gyre_step_info_make_key     (GyreStepInfo  *info,
                                           GPtrArray     *arrays,
                                           GPtrArray     *paths);
/* The part of an array that a device sees when it is traced. */
gboolean      gyre_step_info_get_aval     (GyreStepInfo  *info,
                                           GyreArray     *array,
                                           const char    *path,
                                           guint          device,
                                           GyreAval      *aval,
                                           GError       **error);

/* Hands a run to the executor: results (GyreArray) come at once, their numbers later. */
GPtrArray    *gyre_run_start              (GyreCompiled  *compiled,
                                           GPtrArray     *arrays,
                                           GPtrArray     *paths,
                                           guint64        number,
                                           GyreTicket   **ticket,
                                           GError       **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyreCompiled, gyre_compiled_unref)

G_END_DECLS
