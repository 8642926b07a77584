/* SPDX-License-Identifier: Apache-2.0 */
#include "reference.h"

#include <string.h>

/* The reference names optimizers and schedules as Optax does, and abbreviates:
 *
 *   "sgd lr=0.1 momentum=0.9 nesterov", "chain clip=0.5 sgd lr=cosine_decay(0.1,4)"
 *   "exponential init=0.1 transition=10 rate=0.9", "piecewise init=0.1 {50:0.1,100:0.5}"
 */

#define MAX_PARAMS 6

/* A schedule with its parameters in Optax's order, short and full. */
static const struct
{
  const char *name;
  const char *line;
  struct
  {
    const char *name;
    const char *property;
  } params[MAX_PARAMS];
} schedules[] = {
  { "constant", "constant", { { "value", "value" } } },
  { "linear", "linear",
    { { "init", "init-value" }, { "end", "end-value" }, { "steps", "transition-steps" },
      { "begin", "transition-begin" } } },
  { "exponential", "exponential-decay",
    { { "init", "init-value" }, { "transition", "transition-steps" },
      { "rate", "decay-rate" }, { "begin", "transition-begin" },
      { "staircase", "staircase" }, { "end", "end-value" } } },
  { "cosine", "cosine-decay",
    { { "init", "init-value" }, { "steps", "decay-steps" }, { "alpha", "alpha" },
      { "exponent", "exponent" } } },
  { "warmup_cosine", "warmup-cosine-decay",
    { { "init", "init-value" }, { "peak", "peak-value" }, { "warmup", "warmup-steps" },
      { "steps", "decay-steps" }, { "end", "end-value" }, { "exponent", "exponent" } } },
  { "piecewise", "piecewise-constant",
    { { "init", "init-value" }, { "scales", "boundaries-and-scales" } } },
};

/* Optimizers of which one number is the value of their name, as in clip=0.5. */
static const struct
{
  const char *name;
  const char *line;
} clips[] = {
  { "clip", "clip max-delta" },
  { "clip_by_global_norm", "clip-by-global-norm max-norm" },
};

static const struct
{
  const char *name;
  const char *property;
} abbreviations[] = {
  { "lr", "learning-rate" },
};

static char *
hyphenate (const char *name)
{
  return g_strdelimit (g_strdup (name), "_", '-');
}

/* "cosine_decay", "cosine_decay_schedule" and "cosine" are one. */
static int
find_schedule (const char *name)
{
  static const char *const suffixes[] = { "_schedule", "_decay", "_constant" };
  g_autofree char *stem = g_strdup (name);

  for (gsize i = 0; i < G_N_ELEMENTS (suffixes); i++)
    if (g_str_has_suffix (stem, suffixes[i]))
      stem[strlen (stem) - strlen (suffixes[i])] = '\0';
  for (gsize i = 0; i < G_N_ELEMENTS (schedules); i++)
    if (g_str_equal (schedules[i].name, stem))
      return (int) i;

  return -1;
}

static char *
find_param (int         schedule,
            const char *name)
{
  for (int i = 0; schedule >= 0 && i < MAX_PARAMS; i++)
    if (g_strcmp0 (schedules[schedule].params[i].name, name) == 0)
      return g_strdup (schedules[schedule].params[i].property);

  return hyphenate (name);
}

/* {50:0.1,100:0.5} → 50:0.1;100:0.5 */
static char *
read_scales (const char *word)
{
  g_autofree char *inner = g_strndup (word + 1, strcspn (word + 1, "}"));

  return g_strdelimit (g_steal_pointer (&inner), ",", ';');
}

/* A word of a schedule: init=0.1, {50:0.1}, the i-th parameter's value alone, or the name
 * of one that is true. */
static char *
make_argument (int         schedule,
               const char *word,
               guint       i)
{
  const char *equal = strchr (word, '=');
  const char *param = schedule >= 0 && i < MAX_PARAMS
                        ? schedules[schedule].params[i].property : NULL;
  g_autofree char *name = NULL;
  g_autofree char *property = NULL;

  if (word[0] == '{')
    {
      g_autofree char *scales = read_scales (word);

      return g_strconcat ("boundaries-and-scales=", scales, NULL);
    }
  if (equal == NULL && g_strcmp0 (word, "staircase") == 0)
    return g_strconcat (word, "=true", NULL);
  if (equal == NULL)
    return g_strconcat (param != NULL ? param : "value", "=", word, NULL);

  name = g_strndup (word, (gsize) (equal - word));
  property = find_param (schedule, name);

  return g_strconcat (property, equal, NULL);
}

static char *
make_call (const char  *name,
           char       **words)
{
  int schedule = find_schedule (name);
  g_autofree char *own = hyphenate (name);
  GString *line = g_string_new (schedule >= 0 ? schedules[schedule].line : own);

  g_string_append_c (line, '(');
  for (guint i = 0; words[i] != NULL; i++)
    {
      g_autofree char *argument = make_argument (schedule, words[i], i);

      g_string_append_printf (line, "%s%s", i > 0 ? "," : "", argument);
    }
  g_string_append_c (line, ')');

  return g_string_free (line, FALSE);
}

char *
reference_schedule_line (const char *name)
{
  g_auto (GStrv) words = g_strsplit (name, " ", -1);

  return make_call (words[0], words + 1);
}

/* The value of a property: a number, or a schedule as a call. */
static char *
make_value (const char *text)
{
  const char *open = strchr (text, '(');
  g_autofree char *name = NULL;
  g_autofree char *inner = NULL;
  g_auto (GStrv) words = NULL;

  if (open == NULL)
    return g_strdup (text);

  name = g_strndup (text, (gsize) (open - text));
  inner = g_strndup (open + 1, strcspn (open + 1, ")"));
  words = g_strsplit (inner, ",", -1);

  return make_call (name, words);
}

static const char *
find_clip (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (clips); i++)
    if (g_str_equal (clips[i].name, name))
      return clips[i].line;

  return NULL;
}

static char *
find_property (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (abbreviations); i++)
    if (g_str_equal (abbreviations[i].name, name))
      return g_strdup (abbreviations[i].property);

  return hyphenate (name);
}

/* A word alone is an optimizer where one is due, else a property that is true. */
static void
append_word (GString    *line,
             const char *word,
             gboolean    in_chain)
{
  g_autofree char *own = hyphenate (word);
  g_auto (GStrv) optimizers = gyre_optimizer_type_list ();
  gboolean is_known = g_strv_contains ((const char *const *) optimizers, own);
  gboolean is_optimizer = line->len == 0 || (in_chain && is_known);

  if (is_optimizer)
    g_string_append_printf (line, "%s%s", line->len > 0 ? " ! " : "", own);
  else
    g_string_append_printf (line, " %s=true", own);
}

static void
append_pair (GString    *line,
             const char *word)
{
  const char *equal = strchr (word, '=');
  g_autofree char *name = g_strndup (word, (gsize) (equal - word));
  g_autofree char *property = find_property (name);
  g_autofree char *value = make_value (equal + 1);
  const char *clip = find_clip (name);

  if (clip != NULL)
    g_string_append_printf (line, "%s%s=%s", line->len > 0 ? " ! " : "", clip, value);
  else
    g_string_append_printf (line, " %s=%s", property, value);
}

char *
reference_optimizer_line (const char *name)
{
  g_auto (GStrv) words = g_strsplit (name, " ", -1);
  gboolean in_chain = g_strcmp0 (words[0], "chain") == 0;
  GString *line = g_string_new (NULL);

  for (guint i = in_chain ? 1 : 0; words[i] != NULL; i++)
    if (strchr (words[i], '=') != NULL)
      append_pair (line, words[i]);
    else if (words[i][0] != '\0')
      append_word (line, words[i], in_chain);

  return g_string_free (line, FALSE);
}
