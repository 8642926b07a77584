/* SPDX-License-Identifier: Apache-2.0 */
#include "fuse/gyre-fuse-grouper-private.h"

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
collect_reads (const GyreFuseGrouper *self,
               const GyreTensor      *node,
               guint                  group,
               GArray                *reads)
{
  const GyreFuseInfo *info = &self->infos[node->id];

  for (guint i = 0; i < info->users->len; i++)
    {
      guint id = g_array_index (info->users, guint, i);
      const GyreTensor *user = gyre_grouper_node (self, id);
      double factor =
          user->prim->flags & GYRE_PRIM_REDUCTION
              ? MAX (gyre_grouper_n_elements (node) / gyre_grouper_n_elements (user), 1)
              : 1;

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

              add_read (reads, keeps_index (user) ? read->frame : 0,
                        read->times * factor);
            }
        }
    }
}

double
gyre_grouper_count_reads (const GyreFuseGrouper *self,
                          const GyreTensor      *node,
                          guint                  group)
{
  g_autoptr (GArray) reads = g_array_new (FALSE, FALSE, sizeof (Read));

  collect_reads (self, node, group, reads);

  return sum_reads (reads);
}

/* Whether the group asks for the elements of its outputs' indices; all: and no others. */
gboolean
gyre_grouper_is_aligned (const GyreFuseGrouper *self,
                         const GyreTensor      *node,
                         guint                  group,
                         gboolean               all)
{
  g_autoptr (GArray) reads = g_array_new (FALSE, FALSE, sizeof (Read));
  gboolean any = FALSE;

  collect_reads (self, node, group, reads);
  for (guint i = 0; i < reads->len; i++)
    any |=
        g_array_index (reads, Read, i).frame == gyre_grouper_group (self, group)->frame;

  return any && (!all || reads->len == 1);
}

/* That of its users, where it is one. */
guint
gyre_grouper_choose_frame (GyreFuseGrouper  *self,
                           const GyreTensor *node,
                           guint             group)
{
  g_autoptr (GArray) reads = g_array_new (FALSE, FALSE, sizeof (Read));

  collect_reads (self, node, group, reads);
  if (reads->len == 1 && g_array_index (reads, Read, 0).frame != 0)
    return g_array_index (reads, Read, 0).frame;

  return ++self->n_frames;
}
