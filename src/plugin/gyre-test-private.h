/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-test.h>

G_BEGIN_DECLS

/* What a layer should give, by the author's reference: y, and for x and each parameter
 * the gradient of Σ dy · y by central differences of the reference in double. */
typedef struct
{
  const GyreLayerTest *test;
  GyreTree            *args;       /* params, state, x, dy, key */
  GPtrArray           *inputs;     /* of GyreTestNumbers: x, parameters, state, key */
  GPtrArray           *gradients;  /* of GyreTestNumbers: by x, if f32, and parameters */
  GPtrArray           *states;     /* of GyreTestNumbers: after; NULL: not known yet */
  GyreTestNumbers     *y;
  GyreLayer           *model;
} GyreTestCase;

GyreTestCase *gyre_test_case_new  (const GyreLayerTest *test, GError **error);
/* Whether the layer's own rules give the reference's shape; before anything runs. */
gboolean      gyre_test_case_check_shape (GyreTestCase *self, GError **error);
/* Numbers of an array of any dtype */
GyreTestNumbers *gyre_test_numbers_new  (const char *path, GyreShape shape);
GyreTestNumbers *gyre_test_numbers_read (const char *path, GyreArray *array,
                                         GError **error);
void             gyre_test_numbers_free (gpointer data);
void          gyre_test_case_free (GyreTestCase *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyreTestCase, gyre_test_case_free)

/* The step's results against it; where says what ran it. */
gboolean gyre_test_case_compare (GyreTestCase *self, GyreTree *results, const char *where,
                                 GError **error);
/* Runs the calling program again under Oclgrind, for this call alone. */
gboolean gyre_test_guard        (const char *line, guint call, GError **error);

/* In the program that Oclgrind runs: the only call that it is to run. */
#define GYRE_TEST_CALL "GYRE_TEST_CALL"
/* Its exit status where it could not run the call */
#define GYRE_TEST_FAILED 3

G_END_DECLS
