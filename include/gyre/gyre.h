/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The one header that a program includes. */

#define GYRE_INSIDE

#include <gyre/gyre-array.h>
#include <gyre/gyre-checkpoint.h>
#include <gyre/gyre-data-format.h>
#include <gyre/gyre-dataset.h>
#include <gyre/gyre-device.h>
#include <gyre/gyre-dtype.h>
#include <gyre/gyre-error.h>
#include <gyre/gyre-initializer.h>
#include <gyre/gyre-key.h>
#include <gyre/gyre-layer.h>
#include <gyre/gyre-loss.h>
#include <gyre/gyre-macros.h>
#include <gyre/gyre-mesh.h>
#include <gyre/gyre-ops.h>
#include <gyre/gyre-optimizer.h>
#include <gyre/gyre-options.h>
#include <gyre/gyre-property.h>
#include <gyre/gyre-report.h>
#include <gyre/gyre-shape.h>
#include <gyre/gyre-step.h>
#include <gyre/gyre-trace.h>
#include <gyre/gyre-tree.h>
#include <gyre/gyre-types.h>
#include <gyre/gyre-version.h>

#undef GYRE_INSIDE
