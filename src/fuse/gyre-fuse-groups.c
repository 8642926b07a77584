/* SPDX-License-Identifier: Apache-2.0 */
#include "fuse/gyre-fuse-grouper-private.h"
#include "fuse/gyre-fusion-private.h"

#include <string.h>

/* Greedy, from the last node to the first: a node goes into the group that uses it where
 * nothing else does; into one of those that use it, as one more output, where its
 * elements are that kernel's own; else it begins a group.
 *
 * A node's elements may be computed more than once only where that is nearly free. */

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
collect_users (const GyreFuseGrouper *self,
               const GyreTensor      *node,
               Users                 *users)
{
  const GyreFuseInfo *info = &self->infos[node->id];

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
        collect_users (self, gyre_grouper_node (self, user),
                       &(Users){ users->groups, FALSE });
    }
}

/* Joining */

static void
join (GyreFuseGrouper  *self,
      const GyreTensor *node,
      guint             group,
      gboolean          output)
{
  GyreFuseInfo *info = &self->infos[node->id];

  self->groups->group_of[node->id] = (int) group;
  gyre_grouper_group (self, group)->n_members++;
  info->count = MAX (gyre_grouper_count_reads (self, node, group),
                     output ? gyre_grouper_n_elements (node) : 0);
  info->frame = output ? gyre_grouper_group (self, group)->frame
                       : gyre_grouper_choose_frame (self, node, group);
  if (output)
    g_ptr_array_add (gyre_grouper_group (self, group)->outputs, (gpointer) node);
}

static void
begin_group (GyreFuseGrouper  *self,
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
may_join (GyreFuseGrouper  *self,
          const GyreTensor *node,
          guint             group)
{
  GyreFuseInfo *info = &self->infos[node->id];
  double times =
      gyre_grouper_count_reads (self, node, group) / gyre_grouper_n_elements (node);

  if (gyre_grouper_group (self, group)->n_members >= MAX_MEMBERS)
    return FALSE;
  /* A reduction may be followed by what is done with its results, one by one. */
  if (node->prim->flags & GYRE_PRIM_REDUCTION || info->probe.loops)
    return gyre_grouper_is_aligned (self, node, group, TRUE);
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

static gboolean
may_be_output (GyreFuseGrouper  *self,
               const GyreTensor *node,
               guint             group)
{
  GyreFuseGroup *target = gyre_grouper_group (self, group);

  return target->outputs->len < MAX_OUTPUTS && target->n_members < MAX_MEMBERS &&
         gyre_grouper_same_place (self, node, g_ptr_array_index (target->outputs, 0)) &&
         gyre_grouper_is_aligned (self, node, group, FALSE) &&
         !gyre_grouper_makes_cycle (self, node, group);
}

static void
place (GyreFuseGrouper  *self,
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
place_free (GyreFuseGrouper  *self,
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
place_view (GyreFuseGrouper  *self,
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

static void
fuse_all (GyreFuseGrouper *self)
{
  for (guint id = self->nodes->len; id-- > 0;)
    if (gyre_grouper_node (self, id)->prim->flags & GYRE_PRIM_VIEW)
      place_view (self, gyre_grouper_node (self, id));
    else if (gyre_grouper_is_free (self, gyre_grouper_node (self, id)))
      place_free (self, gyre_grouper_node (self, id));
    else if (self->infos[id].fusible)
      place (self, gyre_grouper_node (self, id));
  gyre_grouper_merge (self);
}

static void
fuse_none (GyreFuseGrouper *self)
{
  for (guint id = 0; id < self->nodes->len; id++)
    if (self->infos[id].fusible)
      begin_group (self, gyre_grouper_node (self, id));
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
  GyreFuseGrouper grouper = { self, program->graph->nodes };

  self->program = program;
  self->groups = g_ptr_array_new_with_free_func (free_group);
  self->group_of = g_new (int, n + 1);
  self->repeated = g_new0 (gboolean, n + 1);
  for (guint i = 0; i < n; i++)
    self->group_of[i] = -1;

  grouper.infos = g_new0 (GyreFuseInfo, n + 1);
  grouper.marks = g_new0 (guint, n + 1);
  gyre_grouper_look_at_nodes (&grouper);
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
