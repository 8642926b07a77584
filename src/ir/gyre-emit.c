/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/gyre-emit-private.h"

#include <math.h>
#include <string.h>

const char *
gyre_emit_operand (GyreEmit          *self,
                   const GyreTensor  *node,
                   guint              i,
                   const char *const *ix)
{
  g_return_val_if_fail (i < node->n_operands, NULL);

  return self->funcs->operand (self, node, i, ix);
}

const char *
gyre_emit_extent (GyreEmit         *self,
                  const GyreTensor *value,
                  int               dim)
{
  return self->funcs->extent (self, value, dim);
}

const char *
gyre_emit_offset (GyreEmit         *self,
                  const GyreTensor *value,
                  int               dim)
{
  return self->funcs->offset (self, value, dim);
}

const char *
gyre_emit_global_extent (GyreEmit         *self,
                         const GyreTensor *value,
                         int               dim)
{
  return self->funcs->global_extent (self, value, dim);
}

const char *
gyre_emit_let (GyreEmit   *self,
               const char *ctype,
               const char *expression)
{
  return self->funcs->let (self, ctype, expression);
}

const char *
gyre_emit_variable (GyreEmit   *self,
                    const char *ctype,
                    const char *initial)
{
  return self->funcs->variable (self, ctype, initial);
}

void
gyre_emit_statement (GyreEmit   *self,
                     const char *format,
                     ...)
{
  g_autofree char *statement = NULL;
  va_list args;

  va_start (args, format);
  statement = g_strdup_vprintf (format, args);
  va_end (args);

  self->funcs->statement (self, statement);
}

const char *
gyre_emit_open_loop (GyreEmit   *self,
                     const char *extent)
{
  return self->funcs->open_loop (self, extent);
}

void
gyre_emit_close_loop (GyreEmit *self)
{
  self->funcs->close_loop (self);
}

void
gyre_emit_open_if (GyreEmit   *self,
                   const char *condition)
{
  self->funcs->open_if (self, condition);
}

void
gyre_emit_close_if (GyreEmit *self)
{
  self->funcs->close_if (self);
}

void
gyre_emit_need (GyreEmit   *self,
                const char *header)
{
  self->funcs->need (self, header);
}

const char *
gyre_emit_printf (GyreEmit   *self,
                  const char *format,
                  ...)
{
  g_autofree char *string = NULL;
  va_list args;

  va_start (args, format);
  string = g_strdup_vprintf (format, args);
  va_end (args);

  return gyre_arena_strdup (self->arena, string);
}

const char *
gyre_dtype_ctype (GyreDtype dtype)
{
  static const char *const ctypes[GYRE_N_DTYPES] = {
    [GYRE_F32]  = "float",
    [GYRE_I32]  = "int",
    [GYRE_U32]  = "uint",
    [GYRE_U8]   = "uchar",
    [GYRE_BOOL] = "uchar",
  };

  g_return_val_if_fail ((guint) dtype < GYRE_N_DTYPES, NULL);

  return ctypes[dtype];
}

/* Hexadecimal, by hand: %a writes the decimal point of the locale. */
static const char *
float_literal (GyreEmit *self,
               float     value)
{
  guint32 bits;
  int exponent;
  char digits[7];

  if (isnan (value))
    return "NAN";
  if (isinf (value))
    return value > 0 ? "INFINITY" : "(-INFINITY)";

  memcpy (&bits, &value, sizeof bits);
  exponent = (int) (bits >> 23 & 0xff);
  g_snprintf (digits, sizeof digits, "%06x", (bits & 0x7fffff) << 1);
  for (int i = 5; i > 0 && digits[i] == '0'; i--)
    digits[i] = '\0';

  return gyre_emit_printf (self, bits >> 31 ? "(-0x%d.%sp%df)" : "0x%d.%sp%df",
                           exponent > 0 ? 1 : 0, digits, MAX (exponent, 1) - 127);
}

static const char *
int_literal (GyreEmit *self,
             gint32    value)
{
  if (value == G_MININT32)
    return "(-2147483647 - 1)";

  return gyre_emit_printf (self, value < 0 ? "(%d)" : "%d", value);
}

const char *
gyre_emit_literal (GyreEmit  *self,
                   GyreDtype  dtype,
                   double     value)
{
  if (dtype == GYRE_F32)
    return float_literal (self, (float) value);
  if (dtype == GYRE_I32)
    return int_literal (self, (gint32) value);
  if (dtype == GYRE_U32)
    return gyre_emit_printf (self, "%uu", (guint32) value);
  if (dtype == GYRE_BOOL)
    return value != 0 ? "((uchar) 1)" : "((uchar) 0)";

  return gyre_emit_printf (self, "((uchar) %u)", (guint8) value);
}
