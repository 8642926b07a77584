/* SPDX-License-Identifier: Apache-2.0 */
#include "fuse/gyre-fuse-groups-private.h"

#include "fuse/gyre-fuse-probe-private.h"
#include "fuse/gyre-fusion-private.h"

#include <string.h>

/* Greedy, from the last node to the first: a node goes into the group that uses it where
 * nothing else does; into one of those that use it, as one more output, where its elements
 * are that kernel's own; else it begins a group.
 *
 * A node's elements may be computed more than once only where that is nearly free. */

#define MAX_MEMBERS   160   /* compilers take their time */
#define MAX_OUTPUTS   8
#define CHEAP         3     /* work that may be done again … */
#define MAX_REPEATS   3     /* … in chains of so many nodes */
#define MAX_REMAKE    6     /* work that is done again rather than its result stored */

/* What the algorithm knows of a node. */
typedef struct
{
  GyreFuseProbe probe;
  GArray       *users;      /* guint: ids of the nodes that use it */
  gboolean      fusible;
  gboolean      returned;   /* an output of the graph */
  guint         frame;      /* nodes of one frame are computed at the same indices: the
                               element-wise ones below a node that is asked for once */
  double        count;      /* how often elements are computed in its group */
  guint         repeats;    /* nodes from here on that are computed more than once */
  guint         remake;     /* work that makes it from one array that is in memory anyway, so
                               that reading its own array would be no cheaper; 0: not so */
} Info;

typedef struct
{
  GyreFuseGroups *groups;
  const GPtrArray *nodes;
  Info           *infos;
  guint          *marks;    /* by node id and group: visited in the search number … */
  guint           n_searches;
  guint           n_frames;
} Grouper;

static const GyreTensor *
node_at (const Grouper *self,
         guint          id)
{
  return g_ptr_array_index (self->nodes, id);
}

static GyreFuseGroup *
group_at (const Grouper *self,
          guint          index)
{
  return g_ptr_array_index (self->groups->groups, index);
}

static double
n_elements (const GyreTensor *node)
{
  return MAX (gyre_shape_n_elements (&node->shape), 1);
}

static gboolean
is_fusible (const GyreTensor *node)
{
  return node->prim->fuse != NULL && !(node->prim->flags & GYRE_PRIM_COLLECTIVE)
         && !(node->prim->flags & GYRE_PRIM_VIEW);
}

/* What costs nothing to make again: constants, and whatever only moves elements. */
static gboolean
is_free (const Grouper    *self,
         const GyreTensor *node)
{
  return self->infos[node->id].fusible
         && (node->prim->flags & GYRE_PRIM_GENERATOR || self->infos[node->id].probe.moves);
}

static gboolean
same_place (const Grouper    *self,
            const GyreTensor *a,
            const GyreTensor *b)
{
  const GyreSpec *specs = self->groups->program->specs;

  return gyre_shape_equal (&a->shape, &b->shape) && specs[a->id].group == specs[b->id].group
         && gyre_spec_equal (&specs[a->id], &specs[b->id]);
}

/* The groups that use a node, also by way of nodes that are repeated in them. */
typedef struct
{
  GArray  *groups;     /* guint */
  gboolean outside;    /* something that is in no group uses it */
} Users;

static void
add_group (Users *users,
           guint  group)
{
  for (guint i = 0; i < users->groups->len; i++)
    if (g_array_index (users->groups, guint, i) == group)
      return;

  g_array_append_val (users->groups, group);
}

static void
collect_users (const Grouper    *self,
               const GyreTensor *node,
               Users            *users)
{
  const Info *info = &self->infos[node->id];

  users->outside |= info->returned;
  for (guint i = 0; i < info->users->len; i++)
    {
      guint user = g_array_index (info->users, guint, i);
      int group = self->groups->group_of[user];

      if (group >= 0)
        add_group (users, group);
      else if (!self->groups->repeated[user])
        users->outside = TRUE;
      if (self->groups->repeated[user])
        collect_users (self, node_at (self, user), &(Users) { users->groups, FALSE });
    }
}

/* How elements of a node are asked for in a group: so often by the nodes of one frame,
 * which share what they ask for.  Frame 0 shares with none. */
typedef struct
{
  guint  frame;
  double times;
} Read;

static void
add_read (GArray *reads,
          guint   frame,
          double  times)
{
  Read read = { frame, times };

  for (guint i = 0; i < reads->len; i++)
    {
      Read *known = &g_array_index (reads, Read, i);

      if (known->frame != frame)
        continue;
      known->times = frame == 0 ? known->times + times : MAX (known->times, times);
      return;
    }

  g_array_append_val (reads, read);
}

static double
sum_reads (const GArray *reads)
{
  double sum = 0;

  for (guint i = 0; i < reads->len; i++)
    sum += g_array_index (reads, Read, i).times;

  return sum;
}

static gboolean
keeps_index (const GyreTensor *node)
{
  return (node->prim->flags & (GYRE_PRIM_ELEMENTWISE | GYRE_PRIM_VIEW)) != 0;
}

static void
collect_reads (const Grouper    *self,
               const GyreTensor *node,
               guint             group,
               GArray           *reads)
{
  const Info *info = &self->infos[node->id];

  for (guint i = 0; i < info->users->len; i++)
    {
      guint id = g_array_index (info->users, guint, i);
      const GyreTensor *user = node_at (self, id);
      double factor = user->prim->flags & GYRE_PRIM_REDUCTION
                      ? MAX (n_elements (node) / n_elements (user), 1) : 1;

      if (self->groups->group_of[id] == (int) group)
        {
          add_read (reads, keeps_index (user) ? self->infos[id].frame : 0,
                    self->infos[id].count * factor);
        }
      else if (self->groups->repeated[id])
        {
          g_autoptr (GArray) nested = g_array_new (FALSE, FALSE, sizeof (Read));

          collect_reads (self, user, group, nested);
          for (guint j = 0; j < nested->len; j++)
            {
              const Read *read = &g_array_index (nested, Read, j);

              add_read (reads, keeps_index (user) ? read->frame : 0, read->times * factor);
            }
        }
    }
}

static double
count_reads (const Grouper    *self,
             const GyreTensor *node,
             guint             group)
{
  g_autoptr (GArray) reads = g_array_new (FALSE, FALSE, sizeof (Read));

  collect_reads (self, node, group, reads);

  return sum_reads (reads);
}

/* Whether the group asks for the elements of its outputs' indices; all: and no others. */
static gboolean
is_aligned_in (const Grouper    *self,
               const GyreTensor *node,
               guint             group,
               gboolean          all)
{
  g_autoptr (GArray) reads = g_array_new (FALSE, FALSE, sizeof (Read));
  gboolean any = FALSE;

  collect_reads (self, node, group, reads);
  for (guint i = 0; i < reads->len; i++)
    any |= g_array_index (reads, Read, i).frame == group_at (self, group)->frame;

  return any && (!all || reads->len == 1);
}

/* That of its users, where it is one. */
static guint
choose_frame (Grouper          *self,
              const GyreTensor *node,
              guint             group)
{
  g_autoptr (GArray) reads = g_array_new (FALSE, FALSE, sizeof (Read));

  collect_reads (self, node, group, reads);
  if (reads->len == 1 && g_array_index (reads, Read, 0).frame != 0)
    return g_array_index (reads, Read, 0).frame;

  return ++self->n_frames;
}

/* Joining */

static void
join (Grouper          *self,
      const GyreTensor *node,
      guint             group,
      gboolean          output)
{
  Info *info = &self->infos[node->id];

  self->groups->group_of[node->id] = (int) group;
  group_at (self, group)->n_members++;
  info->count = MAX (count_reads (self, node, group), output ? n_elements (node) : 0);
  info->frame = output ? group_at (self, group)->frame : choose_frame (self, node, group);
  if (output)
    g_ptr_array_add (group_at (self, group)->outputs, (gpointer) node);
}

static void
begin_group (Grouper          *self,
             const GyreTensor *node)
{
  GyreFuseGroup *group = g_new0 (GyreFuseGroup, 1);

  group->outputs = g_ptr_array_new ();
  group->frame = ++self->n_frames;
  g_ptr_array_add (self->groups->groups, group);
  join (self, node, self->groups->groups->len - 1, TRUE);
}

/* Whether a node that one group alone uses goes into it. */
static gboolean
may_join (Grouper          *self,
          const GyreTensor *node,
          guint             group)
{
  Info *info = &self->infos[node->id];
  double times = count_reads (self, node, group) / n_elements (node);

  if (group_at (self, group)->n_members >= MAX_MEMBERS)
    return FALSE;
  /* A reduction may be followed by what is done with its results, one by one. */
  if (node->prim->flags & GYRE_PRIM_REDUCTION || info->probe.loops)
    return is_aligned_in (self, node, group, TRUE);
  if (times <= 1.01 || node->n_operands == 0)
    return TRUE;
  if (info->probe.work > CHEAP)
    return FALSE;

  info->repeats = 1;
  for (guint i = 0; i < info->users->len; i++)
    info->repeats = MAX (info->repeats,
                         1 + self->infos[g_array_index (info->users, guint, i)].repeats);

  return info->repeats <= MAX_REPEATS;
}

/* Whether group is reached from the users of node, those in the group itself aside: if it
 * is, node can't be one of its outputs. */

static gboolean reaches_from_users (Grouper          *self,
                                    const GyreTensor *node,
                                    guint             group);

static gboolean
reaches (Grouper *self,
         guint    id,
         guint    group)
{
  int own = self->groups->group_of[id];
  const GPtrArray *outputs;

  if (self->marks[id] == self->n_searches)
    return FALSE;
  self->marks[id] = self->n_searches;

  if (own == (int) group)
    return TRUE;
  if (own < 0 || self->groups->repeated[id])
    return reaches_from_users (self, node_at (self, id), group);

  outputs = group_at (self, own)->outputs;
  for (guint i = 0; i < outputs->len; i++)
    if (reaches_from_users (self, g_ptr_array_index (outputs, i), group))
      return TRUE;

  return FALSE;
}

static gboolean
reaches_from_users (Grouper          *self,
                    const GyreTensor *node,
                    guint             group)
{
  const GArray *users = self->infos[node->id].users;

  for (guint i = 0; i < users->len; i++)
    if (reaches (self, g_array_index (users, guint, i), group))
      return TRUE;

  return FALSE;
}

static gboolean
makes_cycle (Grouper          *self,
             const GyreTensor *node,
             guint             group)
{
  const GArray *users = self->infos[node->id].users;

  self->n_searches++;
  for (guint i = 0; i < users->len; i++)
    {
      guint id = g_array_index (users, guint, i);

      if (self->groups->group_of[id] != (int) group && reaches (self, id, group))
        return TRUE;
    }

  return FALSE;
}

static gboolean
may_be_output (Grouper          *self,
               const GyreTensor *node,
               guint             group)
{
  GyreFuseGroup *target = group_at (self, group);

  return target->outputs->len < MAX_OUTPUTS && target->n_members < MAX_MEMBERS
         && same_place (self, node, g_ptr_array_index (target->outputs, 0))
         && is_aligned_in (self, node, group, FALSE) && !makes_cycle (self, node, group);
}

static void
place (Grouper          *self,
       const GyreTensor *node)
{
  g_autoptr (GArray) groups = g_array_new (FALSE, FALSE, sizeof (guint));
  Users users = { groups, FALSE };

  collect_users (self, node, &users);
  if (groups->len == 0 && !users.outside)
    {
      self->groups->repeated[node->id] = TRUE;   /* nowhere: nothing needs it */
      return;
    }
  if (groups->len == 1 && !users.outside
      && may_join (self, node, g_array_index (groups, guint, 0)))
    {
      join (self, node, g_array_index (groups, guint, 0), FALSE);
      return;
    }

  if (groups->len > 1 && !users.outside && self->infos[node->id].remake > 0)
    {
      self->groups->repeated[node->id] = TRUE;
      return;
    }

  for (guint i = 0; i < groups->len; i++)
    if (may_be_output (self, node, g_array_index (groups, guint, i)))
      {
        join (self, node, g_array_index (groups, guint, i), TRUE);
        return;
      }

  begin_group (self, node);
}

/* One that is repeated has a group of its own only for those that can't repeat it. */
static void
place_free (Grouper          *self,
            const GyreTensor *node)
{
  g_autoptr (GArray) groups = g_array_new (FALSE, FALSE, sizeof (guint));
  Users users = { groups, FALSE };

  self->groups->repeated[node->id] = TRUE;
  collect_users (self, node, &users);
  if (users.outside)
    begin_group (self, node);
}

/* A view costs nothing outside of kernels either: it goes into one only to bring what it
 * looks at there. */
static void
place_view (Grouper          *self,
            const GyreTensor *node)
{
  g_autoptr (GArray) groups = g_array_new (FALSE, FALSE, sizeof (guint));
  Users users = { groups, FALSE };
  int dims[GYRE_MAX_RANK];

  if (!self->infos[node->operands[0]->id].fusible
      || !gyre_extents_map_view (node, self->groups->program->specs, dims))
    return;

  collect_users (self, node, &users);
  if (groups->len == 1 && !users.outside)
    join (self, node, g_array_index (groups, guint, 0), FALSE);
}

/* Groups of one shape that read the same array, and of which none needs the other, become
 * one. */

static gboolean
has_loops (const Grouper *self,
           guint          group)
{
  for (guint id = 0; id < self->nodes->len; id++)
    if (self->groups->group_of[id] == (int) group && self->infos[id].probe.loops)
      return TRUE;

  return FALSE;
}

static void
collect_arrays (const Grouper    *self,
                const GyreTensor *node,
                guint             group,
                gint64            size,
                GHashTable       *arrays)
{
  for (guint i = 0; i < node->n_operands; i++)
    {
      const GyreTensor *operand = node->operands[i];

      if (self->groups->repeated[operand->id])
        collect_arrays (self, operand, group, size, arrays);
      else if (self->groups->group_of[operand->id] != (int) group
               && gyre_shape_n_elements (&operand->shape) >= size)
        g_hash_table_add (arrays, (gpointer) operand);
    }
}

/* The arrays, as large as its results, that a group reads. */
static GHashTable *
find_arrays (const Grouper *self,
             guint          group)
{
  const GyreTensor *output = g_ptr_array_index (group_at (self, group)->outputs, 0);
  GHashTable *arrays = g_hash_table_new (NULL, NULL);

  for (guint id = 0; id < self->nodes->len; id++)
    if (self->groups->group_of[id] == (int) group)
      collect_arrays (self, node_at (self, id), group, gyre_shape_n_elements (&output->shape),
                      arrays);

  return arrays;
}

static gboolean
share_array (GHashTable *a,
             GHashTable *b)
{
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, a);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    if (g_hash_table_contains (b, key))
      return TRUE;

  return FALSE;
}

static gboolean
group_reaches (Grouper *self,
               guint    from,
               guint    to)
{
  const GPtrArray *outputs = group_at (self, from)->outputs;

  self->n_searches++;
  for (guint i = 0; i < outputs->len; i++)
    if (reaches_from_users (self, g_ptr_array_index (outputs, i), to))
      return TRUE;

  return FALSE;
}

static gboolean
may_merge (Grouper     *self,
           GHashTable **arrays,
           guint        a,
           guint        b)
{
  GyreFuseGroup *first = group_at (self, a), *second = group_at (self, b);

  return first->outputs->len > 0 && second->outputs->len > 0
         && first->outputs->len + second->outputs->len <= MAX_OUTPUTS
         && first->n_members + second->n_members <= MAX_MEMBERS
         && same_place (self, g_ptr_array_index (first->outputs, 0),
                        g_ptr_array_index (second->outputs, 0))
         && arrays[a] != NULL && arrays[b] != NULL && share_array (arrays[a], arrays[b])
         && !group_reaches (self, a, b) && !group_reaches (self, b, a);
}

static int
compare_outputs (gconstpointer a,
                 gconstpointer b)
{
  const GyreTensor *const *first = a, *const *second = b;

  return (*first)->id < (*second)->id ? 1 : -1;
}

static void
merge (Grouper *self,
       guint    into,
       guint    from)
{
  GyreFuseGroup *target = group_at (self, into), *source = group_at (self, from);

  for (guint id = 0; id < self->nodes->len; id++)
    if (self->groups->group_of[id] == (int) from)
      self->groups->group_of[id] = (int) into;
  for (guint i = 0; i < source->outputs->len; i++)
    g_ptr_array_add (target->outputs, g_ptr_array_index (source->outputs, i));
  target->n_members += source->n_members;
  g_ptr_array_sort (target->outputs, compare_outputs);
  g_ptr_array_set_size (source->outputs, 0);
}

static void
merge_siblings (Grouper *self)
{
  guint n = self->groups->groups->len;
  g_autofree GHashTable **arrays = g_new0 (GHashTable *, n + 1);

  for (guint i = 0; i < n; i++)
    if (!has_loops (self, i))
      arrays[i] = find_arrays (self, i);

  for (guint a = 0; a < n; a++)
    for (guint b = a + 1; b < n; b++)
      if (may_merge (self, arrays, a, b))
        merge (self, a, b);

  for (guint i = 0; i < n; i++)
    g_clear_pointer (&arrays[i], g_hash_table_unref);
}

static void
fuse_all (Grouper *self)
{
  for (guint id = self->nodes->len; id-- > 0;)
    if (node_at (self, id)->prim->flags & GYRE_PRIM_VIEW)
      place_view (self, node_at (self, id));
    else if (is_free (self, node_at (self, id)))
      place_free (self, node_at (self, id));
    else if (self->infos[id].fusible)
      place (self, node_at (self, id));
  merge_siblings (self);
}

static void
fuse_none (Grouper *self)
{
  for (guint id = 0; id < self->nodes->len; id++)
    if (self->infos[id].fusible)
      begin_group (self, node_at (self, id));
}

/* What is read where a node is made: 0 for what is small, or made of nothing. */
static gboolean
is_small (const Grouper    *self,
          const GyreTensor *node,
          const GyreTensor *operand)
{
  return operand->prim->flags & GYRE_PRIM_GENERATOR
         || (self->infos[operand->id].probe.moves
             && n_elements (operand->operands[0]) < n_elements (node));
}

static guint
count_remake (const Grouper    *self,
              const GyreTensor *node)
{
  const Info *info = &self->infos[node->id];
  const GyreTensor *large = NULL;
  guint work;

  if (!info->fusible || !(node->prim->flags & GYRE_PRIM_ELEMENTWISE) || info->probe.loops
      || info->probe.work > CHEAP)
    return 0;

  for (guint i = 0; i < node->n_operands; i++)
    {
      const GyreTensor *operand = node->operands[i];

      if (is_small (self, node, operand) || operand == large)
        continue;
      if (large != NULL)
        return 0;
      large = operand;
    }

  work = MAX (info->probe.work, 1);
  if (large == NULL || !self->infos[large->id].fusible)
    return work;
  if (self->infos[large->id].remake == 0)
    return 0;
  work += self->infos[large->id].remake;

  return work <= MAX_REMAKE ? work : 0;
}

static void
look_at_nodes (Grouper *self)
{
  const GPtrArray *outputs = self->groups->program->graph->outputs;

  for (guint id = 0; id < self->nodes->len; id++)
    {
      const GyreTensor *node = node_at (self, id);
      Info *info = &self->infos[id];

      info->users = g_array_new (FALSE, FALSE, sizeof (guint));
      info->fusible = is_fusible (node);
      if (info->fusible)
        info->probe = gyre_fuse_probe (node);
      for (guint i = 0; i < node->n_operands; i++)
        g_array_append_val (self->infos[node->operands[i]->id].users, id);
      info->remake = count_remake (self, node);
    }
  for (guint i = 0; i < outputs->len; i++)
    self->infos[((GyreTensor *) g_ptr_array_index (outputs, i))->id].returned = TRUE;
}

static void
free_group (gpointer data)
{
  GyreFuseGroup *group = data;

  g_ptr_array_unref (group->outputs);
  g_free (group);
}

GyreFuseGroups *
gyre_fuse_groups_new (const GyreProgram *program,
                      gboolean           fuse)
{
  GyreFuseGroups *self = g_new0 (GyreFuseGroups, 1);
  guint n = program->graph->nodes->len;
  Grouper grouper = { self, program->graph->nodes };

  self->program = program;
  self->groups = g_ptr_array_new_with_free_func (free_group);
  self->group_of = g_new (int, n + 1);
  self->repeated = g_new0 (gboolean, n + 1);
  for (guint i = 0; i < n; i++)
    self->group_of[i] = -1;

  grouper.infos = g_new0 (Info, n + 1);
  grouper.marks = g_new0 (guint, n + 1);
  look_at_nodes (&grouper);
  if (fuse)
    fuse_all (&grouper);
  else
    fuse_none (&grouper);

  for (guint i = 0; i < n; i++)
    g_array_unref (grouper.infos[i].users);
  g_free (grouper.infos);
  g_free (grouper.marks);

  return self;
}

void
gyre_fuse_groups_free (GyreFuseGroups *self)
{
  if (self == NULL)
    return;

  g_ptr_array_unref (self->groups);
  g_free (self->group_of);
  g_free (self->repeated);
  g_free (self);
}
