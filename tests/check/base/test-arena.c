/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/gyre-arena-private.h"

static gboolean
is_filled (const guchar *data,
           gsize         size,
           guchar        byte)
{
  for (gsize i = 0; i < size; i++)
    if (data[i] != byte)
      return FALSE;

  return TRUE;
}

START_TEST (is_zeroed_aligned_and_disjoint)
{
  /* Around the sizes where a new block, or a block of its own, is due. */
  static const gsize sizes[] = { 0, 1, 7, 16, 1000, 1024, 1025, 4095, 4096, 4097, 70000,
                                 1 << 20 };
  g_autoptr (GyreArena) arena = gyre_arena_new ();
  guchar *objects[20 * G_N_ELEMENTS (sizes)];

  for (guint i = 0; i < G_N_ELEMENTS (objects); i++)
    {
      gsize size = sizes[i % G_N_ELEMENTS (sizes)];

      objects[i] = gyre_arena_alloc (arena, size);
      ck_assert_ptr_nonnull (objects[i]);
      ck_assert_uint_eq ((uintptr_t) objects[i] % _Alignof (max_align_t), 0);
      ck_assert (is_filled (objects[i], size, 0));
      memset (objects[i], (int) (i + 1), size);
    }

  for (guint i = 0; i < G_N_ELEMENTS (objects); i++)
    ck_assert (is_filled (objects[i], sizes[i % G_N_ELEMENTS (sizes)], (guchar) (i + 1)));
}
END_TEST

START_TEST (copies_strings)
{
  g_autoptr (GyreArena) arena = gyre_arena_new ();
  const char text[] = "kernel";
  char *copy = gyre_arena_strdup (arena, text);

  ck_assert_ptr_ne (copy, text);
  ck_assert_str_eq (copy, "kernel");
  ck_assert_ptr_null (gyre_arena_strdup (arena, NULL));
  ck_assert_str_eq (gyre_arena_printf (arena, "%s/%d", "dense", 3), "dense/3");
  ck_assert_mem_eq (gyre_arena_memdup (arena, text, 3), "ker", 3);
}
END_TEST

static GString *order;

static void
note (gpointer data)
{
  g_string_append (order, data);
}

START_TEST (destroys_last_adopted_first)
{
  GyreArena *arena = gyre_arena_new ();

  order = g_string_new (NULL);
  gyre_arena_adopt (arena, (gpointer) "a", note);
  gyre_arena_adopt (arena, (gpointer) "b", note);
  gyre_arena_adopt (arena, (gpointer) "c", note);
  ck_assert_str_eq (order->str, "");

  gyre_arena_free (arena);
  ck_assert_str_eq (order->str, "cba");
  g_string_free (order, TRUE);
}
END_TEST

START_TEST (frees_null)
{
  gyre_arena_free (NULL);
}
END_TEST

static gpointer
adopt_elsewhere (gpointer data)
{
  return GINT_TO_POINTER (gyre_owner_adopt (data, note));
}

START_TEST (owner_is_the_last_pushed_of_this_thread)
{
  GyreArena *outer = gyre_arena_new (), *inner = gyre_arena_new ();
  GThread *thread;

  order = g_string_new (NULL);
  ck_assert (!gyre_owner_adopt ((gpointer) "nobody's", note));

  gyre_owner_push (outer);
  gyre_owner_push (inner);
  ck_assert_ptr_eq (gyre_owner_get (), inner);
  ck_assert (gyre_owner_adopt ((gpointer) "inner", note));
  gyre_owner_push (NULL);
  ck_assert (!gyre_owner_adopt ((gpointer) "suspended", note));
  gyre_owner_pop ();
  gyre_owner_pop ();
  ck_assert (gyre_owner_adopt ((gpointer) "outer", note));

  thread = g_thread_new ("other", adopt_elsewhere, (gpointer) "other");
  ck_assert (!GPOINTER_TO_INT (g_thread_join (thread)));
  gyre_owner_pop ();
  ck_assert_ptr_null (gyre_owner_get ());

  gyre_arena_free (inner);
  ck_assert_str_eq (order->str, "inner");
  gyre_arena_free (outer);
  ck_assert_str_eq (order->str, "innerouter");
  g_string_free (order, TRUE);
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add (suite, "objects", is_zeroed_aligned_and_disjoint);
  gyre_check_add (suite, "strings", copies_strings);
  gyre_check_add (suite, "adoption", destroys_last_adopted_first);
  gyre_check_add (suite, "null", frees_null);
  gyre_check_add (suite, "owner", owner_is_the_last_pushed_of_this_thread);
}

GYRE_CHECK_MAIN ("arena", add_tests)
