/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#if !defined (GYRE_INSIDE) && !defined (GYRE_COMPILATION)
#error "Only <gyre/gyre.h> can be included directly."
#endif

#include <gyre/gyre-dtype.h>
#include <gyre/gyre-error.h>
#include <gyre/gyre-macros.h>
#include <gyre/gyre-shape.h>

G_BEGIN_DECLS

typedef struct _GyreArray    GyreArray;    /* boxed: numbers on devices or the host */
typedef struct _GyreKey      GyreKey;      /* plain: a random key */
typedef struct _GyreSharding GyreSharding; /* boxed: mesh, partition spec, boundaries */
typedef struct _GyreTensor   GyreTensor;   /* plain, of a trace: a value in it */
typedef struct _GyreTree     GyreTree;     /* boxed: a pytree */
typedef struct _GyreScope    GyreScope;    /* plain, of a trace: declares parameters */

G_END_DECLS
