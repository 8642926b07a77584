/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-layer.h>

#include "ir/gyre-graph-private.h"

G_BEGIN_DECLS

typedef enum
{
  GYRE_SCOPE_PARAM,
  GYRE_SCOPE_STATE
} GyreScopeKind;

/* What a layer declared. */
typedef struct
{
  const char   *path;      /* "dense_0/kernel", interned */
  GyreScopeKind kind;
  GyreShape     shape;
  GyreInit      init;
  GyreTensor   *value;     /* now */
  GyreTensor   *next;      /* state after the step; NULL: as it was */
} GyreDeclaration;

/* A layer that was applied. */
typedef struct
{
  const char *path;
  GyreTensor *y;
} GyreApplied;

/* A model being initialised (params NULL) or applied; shared by all its scopes. */
typedef struct
{
  GyreGraph  *graph;
  GyreTree   *params;
  GyreTree   *state;         /* may be NULL where there is none */
  GyreTensor *key;           /* may be NULL */
  gboolean    is_layer_key;  /* key is the layer's own: it isn't folded with its path */
  gboolean    training;
  GPtrArray  *declarations;  /* of GyreDeclaration, in the graph's arena */
  GPtrArray  *applied;       /* of GyreApplied, there too; NULL: not asked for */
} GyreModelScope;

/* Applies a model: layers one after the other add no step to the paths of a model. */
GyreTensor *
gyre_model_scope_apply (GyreModelScope *self, GyreLayer *model, GyreTensor *x);

/* The scope at a model's top; lives in the graph's arena. */
GyreScope *gyre_scope_new_root (GyreModelScope *model);
/* The scope of a layer inside: "dense_0" for the first of its type. */
GyreScope *gyre_scope_enter (GyreScope *scope, GyreLayer *layer, const char *type_name);
/* Notes that a layer is applied here, if that is asked for: where its result belongs, or
 * NULL. */
GyreApplied *gyre_scope_note_applied (GyreScope *scope);
/* A scope of no layer inside that of one: a copy of a repeat, "0". */
GyreScope *gyre_scope_enter_part (GyreScope *scope, const char *name);

G_END_DECLS
