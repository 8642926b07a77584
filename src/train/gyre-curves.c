/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-schedule-private.h"

#include "base/gyre-text-private.h"
#include "nn/gyre-property-private.h"

#include <math.h>
#include <string.h>

/* The formulas of Optax 0.2, for a count of updates c, from 0. */

#define OFFSET(member) G_STRUCT_OFFSET (GyreCurve, member)

static void
add_value (GObjectClass *klass,
           const char   *name,
           const char   *blurb,
           gsize         offset,
           double        value)
{
  gyre_property_add_double (klass, name, blurb, offset, -G_MAXDOUBLE, G_MAXDOUBLE, value);
}

static void
add_init (GObjectClass *klass)
{
  add_value (klass, "init-value", "What it begins at", OFFSET (init_value), 0);
}

static void
add_steps (GObjectClass *klass,
           const char   *name,
           const char   *blurb,
           gsize         offset,
           gint64        minimum)
{
  gyre_property_add_int (klass, name, blurb, offset, minimum, G_MAXINT32, minimum);
}

static GyreTensor *
number (double value)
{
  return gyre_constant (GYRE_F32, value);
}

/* constant: value */

static void
constant_properties (GObjectClass *klass)
{
  add_value (klass, "value", "What it always is", OFFSET (init_value), 0);
}

static GyreTensor *
constant_value (const GyreCurve *self,
                GyreTensor      *count)
{
  return number (self->init_value);
}

/* linear: from init to end over n steps, (init - end) (1 - c / n) + end */

static void
linear_properties (GObjectClass *klass)
{
  add_init (klass);
  add_value (klass, "end-value", "What it ends at", OFFSET (end_value), 0);
  add_steps (klass, "transition-steps", "How many updates it takes to get there",
             OFFSET (transition_steps), 1);
  add_steps (klass, "transition-begin", "The update at which it sets out",
             OFFSET (transition_begin), 0);
}

static GyreTensor *
ramp (GyreTensor *count,
      double      init,
      double      end,
      double      steps)
{
  GyreTensor *within = gyre_min (gyre_max (count, number (0)), number (steps));
  GyreTensor *left = gyre_sub (number (1), gyre_div (within, number (steps)));

  return gyre_add_scalar (gyre_mul_scalar (left, init - end), end);
}

static GyreTensor *
linear_value (const GyreCurve *self,
              GyreTensor      *count)
{
  return ramp (gyre_add_scalar (count, -(double) self->transition_begin),
               self->init_value, self->end_value, (double) self->transition_steps);
}

/* exponential-decay: init rate^(c / n), not past the end value unless that is 0 */

static void
exponential_properties (GObjectClass *klass)
{
  add_init (klass);
  add_steps (klass, "transition-steps", "How many updates multiply it by the rate",
             OFFSET (transition_steps), 1);
  gyre_property_add_double (klass, "decay-rate", "What it is multiplied by",
                            OFFSET (decay_rate), 0, G_MAXDOUBLE, 1);
  add_steps (klass, "transition-begin", "The update at which decay begins",
             OFFSET (transition_begin), 0);
  gyre_property_add_boolean (klass, "staircase", "Whether it decays in steps",
                             OFFSET (staircase), FALSE);
  add_value (klass, "end-value", "What it does not go past; 0: nothing",
             OFFSET (end_value), 0);
}

static GyreTensor *
exponential_value (const GyreCurve *self,
                   GyreTensor      *count)
{
  GyreTensor *since = gyre_add_scalar (count, -(double) self->transition_begin);
  GyreTensor *power = gyre_div (since, number ((double) self->transition_steps));
  GyreTensor *value;

  if (self->staircase)
    power = gyre_floor (power);
  power = gyre_max (power, number (0));
  value = gyre_mul_scalar (gyre_pow (number (self->decay_rate), power), self->init_value);
  if (self->end_value == 0)
    return value;

  return self->decay_rate < 1 ? gyre_max (value, number (self->end_value))
                              : gyre_min (value, number (self->end_value));
}

/* cosine-decay: init ((1 - alpha) ((1 + cos (pi c / n)) / 2)^exponent + alpha) */

static void
cosine_properties (GObjectClass *klass)
{
  add_init (klass);
  add_steps (klass, "decay-steps", "How many updates it takes to decay",
             OFFSET (decay_steps), 1);
  add_value (klass, "alpha", "What it ends at, as a part of the init value",
             OFFSET (alpha), 0);
  gyre_property_add_double (klass, "exponent", "What the cosine is raised to",
                            OFFSET (exponent), 0, G_MAXDOUBLE, 1);
}

static GyreTensor *
cosine (GyreTensor *count,
        double      init,
        double      steps,
        double      alpha,
        double      exponent)
{
  GyreTensor *within = gyre_min (count, number (steps));
  GyreTensor *angle = gyre_div (gyre_mul_scalar (within, G_PI), number (steps));
  GyreTensor *wave = gyre_mul_scalar (gyre_add_scalar (gyre_cos (angle), 1), 0.5);

  if (exponent != 1)
    wave = gyre_pow (wave, number (exponent));

  return gyre_mul_scalar (gyre_add_scalar (gyre_mul_scalar (wave, 1 - alpha), alpha),
                          init);
}

static GyreTensor *
cosine_value (const GyreCurve *self,
              GyreTensor      *count)
{
  return cosine (count, self->init_value, (double) self->decay_steps, self->alpha,
                 self->exponent);
}

/* warmup-cosine-decay: linear from init to peak over the warm-up, then cosine to end */

static void
warmup_properties (GObjectClass *klass)
{
  add_init (klass);
  add_value (klass, "peak-value", "What it is after the warm-up", OFFSET (peak_value), 0);
  add_steps (klass, "warmup-steps", "How many updates the warm-up takes",
             OFFSET (warmup_steps), 0);
  add_steps (klass, "decay-steps", "How many updates it takes in all, warm-up included",
             OFFSET (decay_steps), 1);
  add_value (klass, "end-value", "What it ends at", OFFSET (end_value), 0);
  gyre_property_add_double (klass, "exponent", "What the cosine is raised to",
                            OFFSET (exponent), 0, G_MAXDOUBLE, 1);
}

static gboolean
warmup_check (const GyreCurve  *self,
              GError          **error)
{
  if (self->decay_steps > self->warmup_steps)
    return TRUE;

  g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
               "warmup-cosine-decay: decay-steps=%" G_GINT64_FORMAT
               " counts the warm-up too "
               "and has to be more than warmup-steps=%" G_GINT64_FORMAT,
               self->decay_steps, self->warmup_steps);
  return FALSE;
}

static GyreTensor *
warmup_value (const GyreCurve *self,
              GyreTensor      *count)
{
  double warmup = (double) self->warmup_steps;
  double alpha = self->peak_value != 0 ? self->end_value / self->peak_value : 0;
  GyreTensor *before =
      ramp (count, self->init_value, self->peak_value, MAX (warmup, 1));
  GyreTensor *after = cosine (gyre_add_scalar (count, -warmup), self->peak_value,
                              (double) self->decay_steps - warmup, alpha, self->exponent);

  return gyre_select (gyre_less (count, number (warmup)), before, after);
}

/* piecewise-constant: init, multiplied by each scale from its boundary on */

static void
piecewise_properties (GObjectClass *klass)
{
  add_init (klass);
  gyre_property_add_string (
      klass, "boundaries-and-scales",
      "Updates with what multiplies it then, such as 50:0.1;100:0.5", OFFSET (boundaries),
      "");
}

/* The next "50:0.1" of the text; FALSE at its end, or with an error. */
static gboolean
next_piece (const char  **text,
            double       *boundary,
            double       *scale,
            GError      **error)
{
  g_autofree char *piece = g_strndup (*text, strcspn (*text, ";"));
  char *colon = strchr (piece, ':');

  if (piece[0] == '\0')
    return FALSE;
  if (colon == NULL)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
                   "piecewise-constant: \"%s\" is not of the form UPDATES:SCALE", piece);
      return FALSE;
    }

  *text += strlen (piece);
  *text += **text == ';' ? 1 : 0;
  *colon = '\0';
  if (gyre_text_parse_double (piece, boundary, error) &&
      gyre_text_parse_double (colon + 1, scale, error))
    return TRUE;

  g_prefix_error (error, "piecewise-constant: ");
  return FALSE;
}

static gboolean
piecewise_check (const GyreCurve  *self,
                 GError          **error)
{
  const char *text = self->boundaries;
  g_autoptr (GError) why = NULL;
  double boundary, scale;

  while (next_piece (&text, &boundary, &scale, &why))
    continue;
  if (why == NULL)
    return TRUE;

  g_propagate_error (error, g_steal_pointer (&why));
  return FALSE;
}

static GyreTensor *
piecewise_value (const GyreCurve *self,
                 GyreTensor      *count)
{
  const char *text = self->boundaries;
  GyreTensor *value = number (self->init_value);
  double boundary, scale;

  while (next_piece (&text, &boundary, &scale, NULL))
    value = gyre_select (gyre_less (count, number (boundary)), value,
                         gyre_mul_scalar (value, scale));

  return value;
}

const GyreCurveRow gyre_curve_rows[] = {
  { "constant", "GyreConstantSchedule", constant_properties, constant_value, NULL },
  { "cosine-decay", "GyreCosineDecay", cosine_properties, cosine_value, NULL },
  { "exponential-decay", "GyreExponentialDecay", exponential_properties,
    exponential_value, NULL },
  { "linear", "GyreLinearSchedule", linear_properties, linear_value, NULL },
  { "piecewise-constant", "GyrePiecewiseConstant", piecewise_properties, piecewise_value,
    piecewise_check },
  { "warmup-cosine-decay", "GyreWarmupCosineDecay", warmup_properties, warmup_value,
    warmup_check },
};

const guint gyre_curve_n_rows = G_N_ELEMENTS (gyre_curve_rows);
