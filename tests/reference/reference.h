/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* check-reference: a folder of reference numbers against what Gyre computes. */

#include <gyre/gyre.h>
#include <json-glib/json-glib.h>

G_BEGIN_DECLS

typedef struct
{
  const char *folder;
  char       *only;        /* a glob that names of cases match, or NULL */
  char       *devices;
  gboolean    oracle;      /* the interpreter in double, in place of devices */
  gboolean    training;    /* whole runs too */
  double      factor;      /* of each bound */
  guint       n_ok;
  guint       n_failed;
  guint       n_skipped;
  GHashTable *opened;      /* devices by their number */
} Reference;

/* A kind of case: the function looks for its file in the folder, and checks each case
 * in it.  Without the file it does nothing. */
typedef struct
{
  const char *name;
  void      (*check) (Reference *self);
} ReferenceKind;

void reference_check_prng            (Reference *self);
void reference_check_seed_mlp        (Reference *self);
void reference_check_seed_trainstate (Reference *self);
void reference_check_optimizers      (Reference *self);
void reference_check_layers          (Reference *self);
void reference_check_training        (Reference *self);

/* --- report.c --- */

/* The number that is farthest off, by its bound. */
typedef struct
{
  double error;
  double bound;
  double actual;
  double expected;
  gsize  at;
  char   what[128];   /* the array it is in */
  gsize  n;           /* numbers compared */
} Deviation;

void     deviation_add       (Deviation  *self,
                              const char *what,
                              gsize       at,
                              double      actual,
                              double      expected,
                              double      bound);

gboolean reference_wants     (Reference  *self,
                              const char *name);
void     reference_report    (Reference       *self,
                              const char      *name,
                              const Deviation *worst);
void     reference_fail      (Reference  *self,
                              const char *name,
                              const char *format,
                              ...) G_GNUC_PRINTF (3, 4);
void     reference_skip      (Reference  *self,
                              const char *name,
                              const char *format,
                              ...) G_GNUC_PRINTF (3, 4);
void     reference_error     (Reference    *self,
                              const char   *name,
                              const GError *error);

/* --- values.c --- */

/* The root object or array of a file; NULL where there is no such file, or it can't be
 * read: that is reported.  The parser owns it. */
JsonNode  *reference_load          (Reference   *self,
                                    const char  *file,
                                    JsonParser **parser);
/* From lists in lists. */
GyreArray *reference_array         (JsonNode   *node,
                                    GyreDtype   dtype,
                                    GError    **error);
/* {"a": …, "b": …} → dictionary of f32 arrays */
GyreTree  *reference_tree          (JsonObject *object,
                                    GError    **error);
GyreShape  reference_shape         (JsonArray *array);
/* All numbers of an array, row-major. */
double    *reference_numbers       (GyreArray  *array,
                                    gsize      *n,
                                    GError    **error);
/* A number of a member that has to be there; else an error. */
gboolean   reference_get_double    (JsonObject  *object,
                                    const char  *name,
                                    double      *value,
                                    GError     **error);

/* --- names.c --- */

/* The reference's names of optimizers and schedules as lines of Gyre. */
char *reference_optimizer_line (const char *name);
char *reference_schedule_line  (const char *name);

/* --- run.c --- */

/* A function to be run: as jit on a mesh, or (manual) as pmap over its only axis, where
 * all arguments and results have a leading dimension. */
typedef struct
{
  GyreStepFunc func;
  gpointer     data;
  const char  *layout;      /* "data=2"; NULL: all devices, "data=*" */
  gboolean     manual;
  const char  *shardings;
  const char  *donate;
} ReferenceProgram;

typedef struct _ReferenceStep ReferenceStep;

ReferenceStep *reference_step_new  (Reference               *self,
                                    const ReferenceProgram  *program,
                                    GError                 **error);
void           reference_step_free (ReferenceStep           *self);
GyreTree      *reference_step_run  (ReferenceStep           *self,
                                    GyreTree                *args,
                                    GError                 **error);
/* The devices of the mesh that a layout asks for. */
guint          reference_layout_n  (const char              *layout);

/* --- oracle.c --- */

GyreTree      *reference_interpret (const ReferenceProgram  *program,
                                    GyreTree                *args,
                                    GError                 **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (ReferenceStep, reference_step_free)

G_END_DECLS
