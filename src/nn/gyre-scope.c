/* SPDX-License-Identifier: Apache-2.0 */
#include "nn/gyre-scope-private.h"

#include <stdarg.h>
#include <string.h>

const GyreInit gyre_init_zeros = { GYRE_INIT_ZEROS, 0 };
const GyreInit gyre_init_ones = { GYRE_INIT_ONES, 0 };
const GyreInit gyre_init_lecun_normal = { GYRE_INIT_LECUN_NORMAL, 0 };

struct _GyreScope
{
  GyreModelScope *model;
  const char     *path;       /* interned; "" at the top */
  GyreLayer      *layer;      /* NULL at the top */
  const char     *type_name;
  GyreScope      *children;
  GyreScope      *next;       /* among its parent's children, last entered first */
};

GyreScope *
gyre_scope_new_root (GyreModelScope *model)
{
  GyreScope *self = gyre_arena_new0 (model->graph->arena, GyreScope);

  self->model = model;
  self->path = "";

  return self;
}

static const char *
join_path (const char *path,
           const char *name)
{
  g_autofree char *joined = g_strconcat (path, path[0] != '\0' ? "/" : "", name, NULL);

  return g_intern_string (joined);
}

static GyreScope *
add_child (GyreScope  *scope,
           GyreLayer  *layer,
           const char *type_name,
           const char *name)
{
  GyreScope *self = gyre_arena_new0 (scope->model->graph->arena, GyreScope);

  self->model = scope->model;
  self->path = join_path (scope->path, name);
  self->layer = layer;
  self->type_name = g_intern_string (type_name);
  self->next = scope->children;
  scope->children = self;

  return self;
}

/* Two layers of one path would share their parameters. */
static void
check_name (GyreScope  *scope,
              GyreLayer  *layer,
              const char *name)
{
  const char *path = join_path (scope->path, name);

  for (GyreScope *child = scope->children; child != NULL; child = child->next)
    if (child->path == path && child->layer != layer)
      gyre_scope_fail (child, GYRE_ERROR_INVALID,
                       "two layers have this name: give one another by name=…");

  if (name[0] == '\0' || strchr (name, '/') != NULL)
    gyre_scope_fail (scope, GYRE_ERROR_INVALID,
                     "name=%s: a layer's name is a part of a path, without \"/\"", name);
}

GyreScope *
gyre_scope_enter (GyreScope  *scope,
                  GyreLayer  *layer,
                  const char *type_name)
{
  const char *given = gyre_layer_get_name (layer);
  g_autofree char *name = NULL;
  guint number = 0;

  for (GyreScope *child = scope->children; child != NULL; child = child->next)
    {
      if (child->layer == layer)
        return child;
      number += g_str_equal (child->type_name, type_name) ? 1 : 0;
    }

  if (given != NULL)
    name = g_strdup (given);
  else
    name = g_strdelimit (g_strdup_printf ("%s_%u", type_name, number), "-", '_');
  check_name (scope, layer, name);

  return add_child (scope, layer, type_name, name);
}

GyreScope *
gyre_scope_enter_part (GyreScope  *scope,
                       const char *name)
{
  const char *path = join_path (scope->path, name);

  for (GyreScope *child = scope->children; child != NULL; child = child->next)
    if (child->path == path)
      return child;

  return add_child (scope, NULL, "", name);
}

GyreApplied *
gyre_scope_note_applied (GyreScope *scope)
{
  GyreApplied *applied;

  if (scope->model->applied == NULL)
    return NULL;

  applied = gyre_arena_new0 (scope->model->graph->arena, GyreApplied);
  applied->path = scope->path;
  g_ptr_array_add (scope->model->applied, applied);

  return applied;
}

static GyreDeclaration *
find_declaration (GyreScope     *scope,
                  GyreScopeKind  kind,
                  const char    *path)
{
  GPtrArray *declarations = scope->model->declarations;

  for (guint i = 0; i < declarations->len; i++)
    {
      GyreDeclaration *declaration = g_ptr_array_index (declarations, i);

      if (declaration->path == path && declaration->kind == kind)
        return declaration;
    }

  return NULL;
}

static GyreTensor *
fail_missing (GyreScope     *scope,
              GyreScopeKind  kind,
              const char    *path)
{
  return gyre_graph_fail (
      scope->model->graph,
      g_error_new (GYRE_ERROR, GYRE_ERROR_TREE,
                   "there is no %s \"%s\": was the tree made by "
                   "gyre_model_init () for this model?",
                   kind == GYRE_SCOPE_PARAM ? "parameter" : "model state", path));
}

static GyreTensor *
fail_shape (GyreScope  *scope,
            const char *path,
            GyreTensor *value,
            GyreShape   shape)
{
  g_autofree char *has = gyre_shape_to_string (&value->shape);
  g_autofree char *needs = gyre_shape_to_string (&shape);

  return gyre_graph_fail (
      scope->model->graph,
      g_error_new (GYRE_ERROR, GYRE_ERROR_SHAPE,
                   "parameter \"%s\" is %s%s where this input needs f32%s", path,
                   gyre_dtype_name (value->dtype), has, needs));
}

/* In a step: the number that the tree holds. */
static GyreTensor *
look_up (GyreScope     *scope,
         GyreScopeKind  kind,
         const char    *path,
         GyreShape      shape)
{
  GyreTree *tree = kind == GYRE_SCOPE_PARAM ? scope->model->params : scope->model->state;
  GyreTree *leaf = tree != NULL ? gyre_tree_lookup (tree, path) : NULL;
  GyreTensor *value;

  if (leaf == NULL || gyre_tree_get_kind (leaf) != GYRE_TREE_TENSOR)
    return fail_missing (scope, kind, path);

  value = gyre_tree_as_tensor (leaf);
  if (!value->poison &&
      (value->dtype != GYRE_F32 || !gyre_shape_equal (&value->shape, &shape)))
    return fail_shape (scope, path, value, shape);

  return value;
}

static GyreDeclaration *
declare (GyreScope      *scope,
         GyreScopeKind   kind,
         const char     *name,
         GyreShape       shape,
         const GyreInit *init)
{
  const char *path = join_path (scope->path, name);
  GyreDeclaration *self = find_declaration (scope, kind, path);

  if (self != NULL)
    return self;

  self = gyre_arena_new0 (scope->model->graph->arena, GyreDeclaration);
  self->path = path;
  self->kind = kind;
  self->shape = shape;
  self->init = *init;
  g_ptr_array_add (scope->model->declarations, self);
  if (scope->model->params == NULL)
    self->value = gyre_graph_input (scope->model->graph, path, GYRE_F32, &shape);
  else
    self->value = look_up (scope, kind, path, shape);

  return self;
}

/**
 * gyre_scope_param: (skip)
 * @scope: the layer's scope
 * @name: such as "kernel"
 * @shape: its shape, for this input
 * @init: how it begins
 *
 * Declares a parameter and gives its value. Its path is the layer's and @name; the key
 * of its first numbers is fold_in (root, crc32 (path)). Errors: there is no such
 * parameter in the tree, or it has another shape.
 *
 * Returns: (transfer none): f32 of @shape
 */
GyreTensor *
gyre_scope_param (GyreScope      *scope,
                  const char     *name,
                  GyreShape       shape,
                  const GyreInit *init)
{
  g_return_val_if_fail (scope != NULL && name != NULL && init != NULL, NULL);

  return declare (scope, GYRE_SCOPE_PARAM, name, shape, init)->value;
}

/**
 * gyre_scope_state: (skip)
 * @scope: the layer's scope
 * @name: such as "mean"
 * @shape: its shape, for this input
 * @init: how it begins
 *
 * Declares model state, such as running statistics, and gives its value before the step.
 *
 * Returns: (transfer none): f32 of @shape
 */
GyreTensor *
gyre_scope_state (GyreScope      *scope,
                  const char     *name,
                  GyreShape       shape,
                  const GyreInit *init)
{
  g_return_val_if_fail (scope != NULL && name != NULL && init != NULL, NULL);

  return declare (scope, GYRE_SCOPE_STATE, name, shape, init)->value;
}

/**
 * gyre_scope_set_state: (skip)
 * @scope: the layer's scope
 * @name: of state that was declared by gyre_scope_state()
 * @value: f32 of its shape
 *
 * Sets what the state is after the step. No gradient flows into it.
 */
void
gyre_scope_set_state (GyreScope  *scope,
                      const char *name,
                      GyreTensor *value)
{
  GyreDeclaration *declaration;

  g_return_if_fail (scope != NULL && name != NULL && value != NULL);

  declaration = find_declaration (scope, GYRE_SCOPE_STATE, join_path (scope->path, name));
  g_return_if_fail (declaration != NULL);

  declaration->next = gyre_stop_gradient (value);
}

/**
 * gyre_scope_key: (skip)
 * @scope: the layer's scope
 *
 * The layer's own random key of this step, fold_in (key, crc32 (layer path)). It is an
 * error if gyre_model_apply() was given none.
 *
 * Returns: (transfer none): u32[2]
 */
GyreTensor *
gyre_scope_key (GyreScope *scope)
{
  g_return_val_if_fail (scope != NULL, NULL);

  if (scope->model->key == NULL)
    return gyre_scope_fail (
        scope, GYRE_ERROR_INVALID,
        "it draws random numbers, so gyre_model_apply () needs a key");

  if (scope->model->is_layer_key)
    return scope->model->key;

  return gyre_random_fold_in_path (scope->model->key, scope->path);
}

/**
 * gyre_scope_is_training: (skip)
 * @scope: a scope
 *
 * Returns: whether the model is applied to train it, not to evaluate it
 */
gboolean
gyre_scope_is_training (GyreScope *scope)
{
  g_return_val_if_fail (scope != NULL, FALSE);

  return scope->model->training;
}

/**
 * gyre_scope_get_path: (skip)
 * @scope: a scope
 *
 * Returns: the layer's path, "residual_0/dense_0"; "" at the model's top
 */
const char *
gyre_scope_get_path (GyreScope *scope)
{
  g_return_val_if_fail (scope != NULL, NULL);

  return scope->path;
}

/**
 * gyre_scope_fail: (skip)
 * @scope: the layer's scope
 * @code: what kind of error
 * @format: what is wrong, and what would be right
 * @...: for @format
 *
 * Records an error of the layer, with its path, unless there was one before; what a
 * layer returns when it can't take its input.
 *
 * Returns: (transfer none): a poison tensor
 */
GyreTensor *
gyre_scope_fail (GyreScope  *scope,
                 GyreError   code,
                 const char *format,
                 ...)
{
  GError *error;
  va_list args;

  g_return_val_if_fail (scope != NULL && format != NULL, NULL);

  va_start (args, format);
  error = g_error_new_valist (GYRE_ERROR, code, format, args);
  va_end (args);
  if (scope->path[0] != '\0')
    g_prefix_error (&error, "%s: ", scope->path);

  return gyre_graph_fail (scope->model->graph, error);
}
