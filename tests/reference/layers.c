/* SPDX-License-Identifier: Apache-2.0 */
#include "reference.h"

#include <math.h>
#include <string.h>

#include "data/gyre-safetensors-private.h"
#include "nn/gyre-scope-private.h"

/* A layer or loss: y, and the vector-Jacobian products dx and grad/… of dy.  Of the
 * largest magnitude of the array: */
#define BOUND      1e-5
#define BOUND_WIDE 2e-5   /* softmax-like and FFT cases */

typedef struct
{
  GyreSafetensors *file;
  JsonObject      *attributes;
  const char      *type;       /* as the file names it: "max_pool2d" */
  char            *name;       /* as lines do: "max-pool2d", "gelu" */
  GyreLayer       *layer;      /* NULL: a loss */
  const char      *second;     /* of a loss: the operand beside x */
  GyreLossOptions  options;
  gboolean         training;
  gboolean         has_key;
  gboolean         has_dx;
  double           bound;
} LayerCase;

/* What a file says beside properties: how it was made, not what the layer is. */
static const char *const notes[] = { "key", "training", "layout", "input", "function",
                                     NULL };

static const char *const wide[] = { "softmax", "log_softmax", "softmax_cross_entropy",
                                    "attention", "spectral_conv1d", "spectral_conv2d",
                                    NULL };

/* Activations whose name says a property too. */
static const struct
{
  const char *function;
  const char *line;
} functions[] = {
  { "gelu_tanh", "gelu approximate=true" },
  { "gelu_exact", "gelu approximate=false" },
};

/* The line of a layer */

static void
append_value (GString  *line,
              JsonNode *node)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  if (JSON_NODE_HOLDS_ARRAY (node))
    {
      JsonArray *array = json_node_get_array (node);

      for (guint i = 0; i < json_array_get_length (array); i++)
        {
          g_string_append (line, i > 0 ? "," : "");
          append_value (line, json_array_get_element (array, i));
        }
    }
  else if (json_node_get_value_type (node) == G_TYPE_STRING)
    g_string_append (line, json_node_get_string (node));
  else if (json_node_get_value_type (node) == G_TYPE_BOOLEAN)
    g_string_append (line, json_node_get_boolean (node) ? "true" : "false");
  else if (json_node_get_value_type (node) == G_TYPE_INT64)
    g_string_append_printf (line, "%" G_GINT64_FORMAT, json_node_get_int (node));
  else
    g_string_append (line, g_ascii_dtostr (text, sizeof text,
                                           json_node_get_double (node)));
}

static void
append_attributes (GString    *line,
                   JsonObject *attributes)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *node;

  json_object_iter_init (&iter, attributes);
  while (json_object_iter_next (&iter, &name, &node))
    {
      g_autofree char *property = g_strdelimit (g_strdup (name), "_", '-');

      if (g_strv_contains (notes, name) || JSON_NODE_HOLDS_NULL (node))
        continue;
      g_string_append_printf (line, " %s=", property);
      append_value (line, node);
    }
}

static char *
hyphenate (const char *name)
{
  return g_strdelimit (g_strdup (name), "_", '-');
}

/* "dense features=7": the layer's name, and the properties that its name means. */
static char *
get_head (LayerCase *self)
{
  const char *function =
    json_object_get_string_member_with_default (self->attributes, "function", NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (functions); i++)
    if (g_strcmp0 (functions[i].function, function) == 0)
      return g_strdup (functions[i].line);

  return hyphenate (function != NULL ? function : self->type);
}

static gboolean
make_layer (LayerCase *self,
            GError   **error)
{
  g_autofree char *head = get_head (self);
  g_autoptr (GString) line = g_string_new (head);

  self->name = g_strndup (head, strcspn (head, " "));
  if (gyre_layer_type_find (self->name, error) == 0)
    return FALSE;

  append_attributes (line, self->attributes);
  self->layer = gyre_model_parse (line->str, error);

  return self->layer != NULL;
}

/* What a loss takes; of anything else the numbers would be another function's. */
static const char *const loss_attributes[] = { "reduction", "label_smoothing", "delta",
                                               NULL };

static const char *const reductions[] = {
  [GYRE_REDUCTION_MEAN] = "mean",
  [GYRE_REDUCTION_SUM] = "sum",
  [GYRE_REDUCTION_NONE] = "none",
};

static gboolean
take_reduction (LayerCase *self,
                GError   **error)
{
  const char *name =
    json_object_get_string_member_with_default (self->attributes, "reduction", "mean");

  for (gsize i = 0; i < G_N_ELEMENTS (reductions); i++)
    if (g_str_equal (reductions[i], name))
      {
        self->options.reduction = (GyreReduction) i;
        return TRUE;
      }

  g_set_error (error, GYRE_ERROR, GYRE_ERROR_UNKNOWN, "unknown reduction \"%s\"", name);
  return FALSE;
}

static gboolean
make_loss (LayerCase *self,
           GError   **error)
{
  g_auto (GStrv) losses = gyre_loss_list ();
  g_autoptr (GList) names = json_object_get_members (self->attributes);

  self->name = hyphenate (self->type);
  if (!g_strv_contains ((const char *const *) losses, self->name))
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_UNKNOWN, "unknown loss \"%s\"",
                   self->name);
      return FALSE;
    }
  for (GList *at = names; at != NULL; at = at->next)
    if (!g_strv_contains (loss_attributes, at->data) &&
        !g_strv_contains (notes, at->data))
      {
        g_set_error (error, GYRE_ERROR, GYRE_ERROR_UNKNOWN, "%s has no attribute \"%s\"",
                     self->name, (const char *) at->data);
        return FALSE;
      }

  if (json_object_has_member (self->attributes, "label_smoothing"))
    reference_get_double (self->attributes, "label_smoothing",
                          &self->options.label_smoothing, NULL);
  if (json_object_has_member (self->attributes, "delta"))
    reference_get_double (self->attributes, "delta", &self->options.delta, NULL);

  return take_reduction (self, error);
}

static const char *
find_second (LayerCase *self)
{
  return gyre_safetensors_has (self->file, "labels") ? "labels"
         : gyre_safetensors_has (self->file, "target") ? "target" : NULL;
}

static gboolean
set_up (LayerCase *self,
        GError   **error)
{
  const char *function =
    json_object_get_string_member_with_default (self->attributes, "function", "");

  self->bound = g_strv_contains (wide, self->type) || g_strv_contains (wide, function)
                  ? BOUND_WIDE : BOUND;
  self->training =
    json_object_get_boolean_member_with_default (self->attributes, "training", TRUE);
  self->has_key = json_object_has_member (self->attributes, "key");
  self->has_dx = gyre_safetensors_has (self->file, "dx");
  self->second = find_second (self);

  return self->second != NULL ? make_loss (self, error) : make_layer (self, error);
}

/* The function */

static GyreTensor *
apply_layer (LayerCase  *self,
             GyreTree   *args,
             GyreTree  **state)
{
  g_autoptr (GPtrArray) declarations = g_ptr_array_new ();
  GyreTensor *x = gyre_tree_get_tensor (args, "x"), *y;
  GyreModelScope scope = { .graph = x->graph,
                           .params = gyre_tree_get_tree (args, "params"),
                           .state = gyre_tree_get_tree (args, "state"),
                           .is_layer_key = TRUE, .training = self->training,
                           .declarations = declarations };

  if (self->has_key)
    scope.key = gyre_tree_get_tensor (args, "key");
  y = gyre_model_scope_apply (&scope, self->layer, x);

  *state = gyre_tree_new_dict ();
  for (guint i = 0; i < declarations->len; i++)
    {
      GyreDeclaration *declaration = g_ptr_array_index (declarations, i);

      if (declaration->next != NULL)
        gyre_tree_set_path (*state, declaration->path,
                            gyre_tree_new_tensor (declaration->next));
    }

  return y;
}

static GyreTensor *
apply (LayerCase  *self,
       GyreTree   *args,
       GyreTree  **state)
{
  GyreTensor *y;

  *state = NULL;
  if (self->layer != NULL)
    return apply_layer (self, args, state);

  y = gyre_loss (self->name, gyre_tree_get_tensor (args, "x"),
                 gyre_tree_get_tensor (args, self->second), &self->options);

  /* a number is a row of one in the files */
  return gyre_tensor_get_rank (y) == 0 ? gyre_reshape (y, GYRE_SHAPE (1)) : y;
}

/* {x, params, …, dy} → {y, dx, grad, state} */
static GyreTree *
trace_layer (GyreTree *args,
             gpointer  data)
{
  LayerCase *self = data;
  GPtrArray *paths;
  g_autoptr (GPtrArray) leaves =
    gyre_tree_flatten (gyre_tree_get_tree (args, "params"), &paths);
  guint n = leaves->len;
  g_autofree GyreTensor **wrt = g_new0 (GyreTensor *, n + 1);
  g_autofree GyreTensor **grads = g_new0 (GyreTensor *, n + 1);
  GyreTensor *dy = gyre_tree_get_tensor (args, "dy"), *y;
  GyreTree *state, *results = gyre_tree_new_dict ();

  y = apply (self, args, &state);
  for (guint i = 0; i < n; i++)
    wrt[i] = gyre_tree_as_tensor (g_ptr_array_index (leaves, i));
  if (self->has_dx)
    wrt[n] = gyre_tree_get_tensor (args, "x");
  if (n + self->has_dx > 0)
    gyre_vjp (&y, &dy, 1, wrt, n + self->has_dx, grads);

  gyre_tree_set_tensor (results, "y", y);
  if (self->has_dx)
    gyre_tree_set_tensor (results, "dx", grads[n]);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *path = g_strconcat ("grad/", g_ptr_array_index (paths, i), NULL);

      gyre_tree_set_path (results, path, gyre_tree_new_tensor (grads[i]));
    }
  if (state != NULL && gyre_tree_get_n (state) > 0)
    gyre_tree_set (results, "state", state);
  g_ptr_array_unref (paths);

  return results;
}

/* Arguments */

/* The path in Gyre's trees: param/kernel is params/dense_0/kernel. */
static char *
get_path (LayerCase  *self,
          const char *tree,
          const char *rest)
{
  char *path = g_strdup_printf ("%s/%s_0/%s", tree, self->name, rest);

  for (char *at = path; *at != '\0'; at++)
    if (*at == '-')
      *at = '_';

  return path;
}

static gboolean
set_argument (LayerCase  *self,
              GyreTree   *args,
              const char *name,
              GError    **error)
{
  g_autoptr (GyreArray) array = gyre_safetensors_get (self->file, name, error);
  g_autofree char *path = NULL;
  g_autoptr (GyreTree) leaf = NULL;

  if (array == NULL)
    return FALSE;

  if (g_str_has_prefix (name, "param/"))
    path = get_path (self, "params", name + strlen ("param/"));
  else if (g_str_has_prefix (name, "state/"))
    path = get_path (self, "state", name + strlen ("state/"));
  else
    path = g_strdup (name);
  leaf = gyre_tree_new_array (array);
  gyre_tree_set_path (args, path, leaf);

  return TRUE;
}

static gboolean
is_argument (const char *name)
{
  static const char *const plain[] = { "x", "dy", "labels", "target", NULL };

  return g_strv_contains (plain, name) || g_str_has_prefix (name, "param/") ||
         g_str_has_prefix (name, "state/");
}

static void
set_key (LayerCase *self,
         GyreTree  *args)
{
  JsonArray *words = json_object_get_array_member (self->attributes, "key");
  GyreKey key = { { (guint32) json_array_get_int_element (words, 0),
                    (guint32) json_array_get_int_element (words, 1) } };
  g_autoptr (GyreArray) array = gyre_array_new_key (key);

  gyre_tree_set_array (args, "key", array);
}

static GyreTree *
make_arguments (LayerCase *self,
                GError   **error)
{
  const char *const *names = gyre_safetensors_get_names (self->file);
  g_autoptr (GyreTree) params = gyre_tree_new_dict ();
  g_autoptr (GyreTree) state = gyre_tree_new_dict ();
  g_autoptr (GyreTree) args = gyre_tree_build (GYRE_TREE_ENTRY ("params", params),
                                               GYRE_TREE_ENTRY ("state", state), NULL);

  for (guint i = 0; names[i] != NULL; i++)
    if (is_argument (names[i]) && !set_argument (self, args, names[i], error))
      return NULL;
  if (self->has_key)
    set_key (self, args);

  return g_steal_pointer (&args);
}

/* Rows are split over the devices; one number for all rows is on each. */
static char *
get_shardings (GyreTree *args)
{
  static const char *const names[] = { "x", "dy", "labels", "target" };
  GyreShape x = gyre_array_get_shape (gyre_tree_get_array (args, "x"));
  GString *shardings = g_string_new (NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    {
      GyreTree *leaf = gyre_tree_lookup (args, names[i]);
      GyreShape shape = { 0 };

      if (leaf != NULL)
        shape = gyre_array_get_shape (gyre_tree_get_array (args, names[i]));
      if (leaf != NULL && (i != 1 || shape.dims[0] == x.dims[0]))
        g_string_append_printf (shardings, "%s%s=data", shardings->len > 0 ? "," : "",
                                names[i]);
    }

  return g_string_free (shardings, FALSE);
}

/* Comparing */

static GyreTree *
find_result (LayerCase  *self,
             GyreTree   *results,
             const char *name)
{
  g_autofree char *path = NULL;

  if (g_str_has_prefix (name, "grad/"))
    path = get_path (self, "grad", name + strlen ("grad/"));
  else if (g_str_has_prefix (name, "state_after/"))
    path = get_path (self, "state", name + strlen ("state_after/"));
  else
    path = g_strdup (name);

  return gyre_tree_lookup (results, path);
}

static double
find_largest (const double *numbers,
              gsize         n)
{
  double largest = 0;

  for (gsize i = 0; i < n; i++)
    if (isfinite (numbers[i]))
      largest = MAX (largest, fabs (numbers[i]));

  return largest;
}

static double
find_largest_of (LayerCase  *self,
                 const char *name)
{
  g_autoptr (GyreArray) array = gyre_safetensors_get (self->file, name, NULL);
  g_autofree double *numbers = NULL;
  gsize n;

  numbers = array != NULL ? reference_numbers (array, &n, NULL) : NULL;

  return numbers != NULL ? find_largest (numbers, n) : 0;
}

/* Where all of a gradient is within the bound of what it is made of, it is 0, and the
 * file has the rounding of its terms: dy's, as that of an rms-norm of one feature; or, of
 * a bias, those of the kernel beside it (a bias of the keys of attention moves all scores
 * of a row alike). */
static double
find_scale (LayerCase    *self,
            const char   *name,
            const double *numbers,
            gsize         n)
{
  double largest = find_largest (numbers, n), beside = find_largest_of (self, "dy");
  g_autofree char *kernel = NULL;

  if (!g_str_equal (name, "dx") && !g_str_has_prefix (name, "grad/"))
    return largest;

  if (g_str_has_suffix (name, "/bias"))
    {
      kernel = g_strdup_printf ("%.*s/kernel", (int) (strlen (name) - 5), name);
      beside = MAX (beside, find_largest_of (self, kernel));
    }

  return largest < self->bound * beside ? beside : largest;
}

static gboolean
compare_numbers (LayerCase    *self,
                 Deviation    *worst,
                 const char   *name,
                 GyreArray    *array,
                 GyreArray    *expected,
                 GError      **error)
{
  gsize n, n_expected;
  g_autofree double *numbers = reference_numbers (array, &n, error);
  g_autofree double *references = reference_numbers (expected, &n_expected, error);
  GyreShape is = gyre_array_get_shape (array), due = gyre_array_get_shape (expected);
  double scale;

  if (numbers == NULL || references == NULL)
    return FALSE;
  if (!gyre_shape_equal (&is, &due))
    {
      g_autofree char *is_text = gyre_shape_to_string (&is);
      g_autofree char *due_text = gyre_shape_to_string (&due);

      g_set_error (error, GYRE_ERROR, GYRE_ERROR_SHAPE, "%s has shape %s, not %s", name,
                   is_text, due_text);
      return FALSE;
    }

  scale = find_scale (self, name, references, n);
  for (gsize i = 0; i < n; i++)
    deviation_add (worst, name, i, numbers[i], references[i], self->bound * scale);

  return TRUE;
}

static gboolean
is_result (const char *name)
{
  return g_str_equal (name, "y") || g_str_equal (name, "dx") ||
         g_str_has_prefix (name, "grad/") || g_str_has_prefix (name, "state_after/");
}

/* Nothing in a file is passed over. */
static gboolean
knows_all (LayerCase *self,
           GError   **error)
{
  const char *const *names = gyre_safetensors_get_names (self->file);

  for (guint i = 0; names[i] != NULL; i++)
    if (!is_argument (names[i]) && !is_result (names[i]))
      {
        g_set_error (error, GYRE_ERROR, GYRE_ERROR_UNKNOWN,
                     "the file has \"%s\", which is neither taken nor compared",
                     names[i]);
        return FALSE;
      }

  return TRUE;
}

static gboolean
compare_results (LayerCase *self,
                 GyreTree  *results,
                 Deviation *worst,
                 GError   **error)
{
  const char *const *names = gyre_safetensors_get_names (self->file);

  for (guint i = 0; names[i] != NULL; i++)
    {
      g_autoptr (GyreArray) expected = NULL;
      GyreTree *result;

      if (!is_result (names[i]))
        continue;
      result = find_result (self, results, names[i]);
      if (result == NULL)
        {
          g_set_error (error, GYRE_ERROR, GYRE_ERROR_TREE, "the layer has no %s",
                       names[i]);
          return FALSE;
        }
      expected = gyre_safetensors_get (self->file, names[i], error);
      if (expected == NULL ||
          !compare_numbers (self, worst, names[i], gyre_tree_as_array (result), expected,
                            error))
        return FALSE;
    }

  return TRUE;
}

static gboolean
run_case (LayerCase *self,
          Reference *reference,
          Deviation *worst,
          GError   **error)
{
  g_autoptr (GyreTree) args = make_arguments (self, error);
  ReferenceProgram program = { .func = trace_layer, .data = self };
  g_autofree char *shardings = NULL;
  g_autoptr (ReferenceStep) step = NULL;
  g_autoptr (GyreTree) results = NULL;

  if (args == NULL || !knows_all (self, error))
    return FALSE;
  if (gyre_tree_lookup (args, "x") == NULL || gyre_tree_lookup (args, "dy") == NULL)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE, "the file has no x or no dy");
      return FALSE;
    }

  program.shardings = shardings = get_shardings (args);
  step = reference_step_new (reference, &program, error);
  results = step != NULL ? reference_step_run (step, args, error) : NULL;

  return results != NULL && compare_results (self, results, worst, error);
}

static void
check_case (Reference       *reference,
            const char      *name,
            GyreSafetensors *file)
{
  const char *type = gyre_safetensors_get_meta (file, "layer");
  const char *text = gyre_safetensors_get_meta (file, "attributes");
  g_autoptr (JsonNode) attributes = json_from_string (text != NULL ? text : "{}", NULL);
  g_autoptr (GError) error = NULL;
  LayerCase self = { .file = file, .type = type };
  Deviation worst = { 0 };

  if (type == NULL || attributes == NULL || !JSON_NODE_HOLDS_OBJECT (attributes))
    {
      reference_fail (reference, name, "its metadata has no layer, or no attributes");
      return;
    }

  self.attributes = json_node_get_object (attributes);
  if (set_up (&self, &error) && run_case (&self, reference, &worst, &error))
    reference_report (reference, name, &worst);
  else
    reference_error (reference, name, error);
  g_clear_object (&self.layer);
  g_free (self.name);
}

static void
check_file (Reference  *self,
            const char *file_name)
{
  g_autofree char *path = g_build_filename (self->folder, "layers", file_name, NULL);
  g_autofree char *stem =
    g_strndup (file_name, strlen (file_name) - strlen (".safetensors"));
  g_autofree char *name = g_strconcat ("layers/", stem, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreSafetensors) file = NULL;

  if (!reference_wants (self, name))
    return;

  file = gyre_safetensors_open (path, &error);
  if (file != NULL)
    check_case (self, name, file);
  else
    reference_fail (self, name, "%s", error->message);
}

static int
compare_names (gconstpointer a,
               gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

void
reference_check_layers (Reference *self)
{
  g_autofree char *folder = g_build_filename (self->folder, "layers", NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  const char *name;

  if (dir == NULL)
    return;

  while ((name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (name, ".safetensors"))
      g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);
  for (guint i = 0; i < names->len; i++)
    check_file (self, g_ptr_array_index (names, i));
}
