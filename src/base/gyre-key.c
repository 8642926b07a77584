/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-key.h>

#include <string.h>
#include <zlib.h>

#include "../../cl/random.clh"

/**
 * gyre_key_new: (skip)
 * @seed: any number
 *
 * Makes the key that JAX's `PRNGKey` makes of @seed: its upper and its lower word. JAX
 * keeps only the lower word where its 64-bit mode is off, as it is unless asked for.
 *
 * Returns: a key
 */
GyreKey
gyre_key_new (guint64 seed)
{
  return (GyreKey) { { (guint32) (seed >> 32), (guint32) seed } };
}

static GyreKey
encrypt (GyreKey key,
         guint64 counter)
{
  GyreKey block = gyre_key_new (counter);

  gyre_threefry (key.words[0], key.words[1], block.words);

  return block;
}

/**
 * gyre_key_fold_in: (skip)
 * @key: a key
 * @data: a number, such as that of an epoch
 *
 * Makes a new key of a key and a number.
 *
 * Returns: a key
 */
GyreKey
gyre_key_fold_in (GyreKey key,
                  guint32 data)
{
  return encrypt (key, data);
}

/**
 * gyre_key_fold_in_path: (skip)
 * @key: a key
 * @path: a path, such as "dense_0/kernel"
 *
 * Folds in the CRC-32 of @path, as zlib computes it. A parameter's key is made so from
 * the model's.
 *
 * Returns: a key
 */
GyreKey
gyre_key_fold_in_path (GyreKey     key,
                       const char *path)
{
  uLong crc;

  g_return_val_if_fail (path != NULL, key);

  crc = crc32_z (0, (const Bytef *) path, strlen (path));
  return gyre_key_fold_in (key, (guint32) crc);
}

/**
 * gyre_key_split:
 * @key: a key, not to be used again
 * @n: how many
 * @keys: (out caller-allocates) (array length=n): the new keys
 *
 * Makes @n keys of one, whose numbers are independent.
 */
void
gyre_key_split (GyreKey  key,
                guint    n,
                GyreKey *keys)
{
  g_return_if_fail (keys != NULL || n == 0);

  for (guint i = 0; i < n; i++)
    keys[i] = encrypt (key, i);
}

/**
 * gyre_key_next:
 * @key: (inout): a main key
 *
 * Splits @key in two: `step_key, key = split (key)`. A loop calls it once a step.
 *
 * Returns: the first of the two; @key becomes the second
 */
GyreKey
gyre_key_next (GyreKey *key)
{
  GyreKey pair[2] = { { { 0, 0 } } };

  g_return_val_if_fail (key != NULL, pair[0]);

  gyre_key_split (*key, 2, pair);
  *key = pair[1];

  return pair[0];
}

/**
 * gyre_key_bits:
 * @key: a key
 * @first: index of the first element in the whole array
 * @n: number of elements
 * @out: (out caller-allocates) (array length=n): u32[n], the bits
 *
 * Draws 32 bits an element. Element i depends on @first + i alone, so that a part of an
 * array can be drawn without the rest.
 */
void
gyre_key_bits (GyreKey  key,
               guint64  first,
               gsize    n,
               guint32 *out)
{
  g_return_if_fail (out != NULL || n == 0);

  for (gsize i = 0; i < n; i++)
    out[i] = gyre_threefry_bits (key.words[0], key.words[1], first + i);
}

static guint32
draw (GyreKey key,
      gsize   i)
{
  return gyre_threefry_bits (key.words[0], key.words[1], i);
}

/* Stable merge of two sorted runs of elements by their keys. */
static void
merge (const guint32 *keys,
       const gint32  *from,
       gsize          low,
       gsize          middle,
       gsize          high,
       gint32        *to)
{
  gsize left = low, right = middle;

  for (gsize i = low; i < high; i++)
    if (left < middle && (right == high || keys[from[left]] <= keys[from[right]]))
      to[i] = from[left++];
    else
      to[i] = from[right++];
}

/* The order that sorts keys[0…n) stably. */
static void
sort_stably (const guint32 *keys,
             gsize          n,
             gint32        *order)
{
  g_autofree gint32 *other = g_new (gint32, n);

  for (gsize i = 0; i < n; i++)
    order[i] = (gint32) i;

  for (gsize width = 1; width < n; width *= 2)
    {
      for (gsize low = 0; low < n; low += 2 * width)
        merge (keys, order, low, MIN (low + width, n), MIN (low + 2 * width, n), other);
      memcpy (order, other, n * sizeof (gint32));
    }
}

/* One round: elements are sorted by fresh random keys. */
static void
shuffle (GyreKey  key,
         gsize    n,
         gint32  *elements)
{
  g_autofree guint32 *keys = g_new (guint32, n);
  g_autofree gint32 *order = g_new (gint32, n);
  g_autofree gint32 *before = g_memdup2 (elements, n * sizeof (gint32));

  gyre_key_bits (key, 0, n, keys);
  sort_stably (keys, n, order);
  for (gsize i = 0; i < n; i++)
    elements[i] = before[order[i]];
}

/**
 * gyre_key_permutation:
 * @key: a key
 * @n: how many, at most %G_MAXINT32
 * @out: (out caller-allocates) (array length=n): i32[n], the numbers from 0 to @n - 1
 *
 * Draws an order. It is shuffled in ceil (3 ln n / ln (2³² - 1)) rounds, so that equal
 * sort keys in one of them don't matter.
 */
void
gyre_key_permutation (GyreKey  key,
                      gsize    n,
                      gint32  *out)
{
  guint n_rounds;

  g_return_if_fail (out != NULL || n == 0);
  g_return_if_fail (n <= G_MAXINT32);

  for (gsize i = 0; i < n; i++)
    out[i] = (gint32) i;

  n_rounds = (guint) ceil (3.0 * log (MAX (n, 1)) / log (G_MAXUINT32));
  for (guint i = 0; i < n_rounds; i++)
    {
      GyreKey keys[2];

      gyre_key_split (key, 2, keys);
      key = keys[0];
      shuffle (keys[1], n, out);
    }
}

/**
 * gyre_key_randint:
 * @key: a key
 * @low: the least
 * @high: one more than the largest
 * @n: number of elements
 * @out: (out caller-allocates) (array length=n): i32[n]
 *
 * Draws integers in [@low, @high); where @high isn't larger than @low, each is @low.
 * Two draws of 32 bits are joined, so that the remainders are even.
 */
void
gyre_key_randint (GyreKey key,
                  gint32  low,
                  gint32  high,
                  gsize   n,
                  gint32 *out)
{
  guint32 span = high > low ? (guint32) high - (guint32) low : 1;
  guint32 multiplier = 65536 % span;
  GyreKey keys[2];

  g_return_if_fail (out != NULL || n == 0);

  multiplier = multiplier * multiplier % span;
  gyre_key_split (key, 2, keys);
  for (gsize i = 0; i < n; i++)
    {
      guint32 offset = draw (keys[0], i) % span * multiplier + draw (keys[1], i) % span;

      out[i] = (gint32) ((guint32) low + offset % span);
    }
}
