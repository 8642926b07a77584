/* SPDX-License-Identifier: Apache-2.0 */
#include "reference.h"

/* The network is of convolutions and pools, which no plugin has yet. */
void
reference_check_seed_trainstate (Reference *self)
{
  g_autoptr (JsonParser) parser = NULL;
  JsonNode *root = reference_load (self, "seed_trainstate.json", &parser);
  JsonObject *object = root != NULL ? json_node_get_object (root) : NULL;
  JsonObjectIter iter;
  const char *text;

  if (object == NULL || !json_object_has_member (object, "runs"))
    return;

  json_object_iter_init (&iter, json_object_get_object_member (object, "runs"));
  while (json_object_iter_next (&iter, &text, NULL))
    {
      g_autofree char *name = g_strconcat ("seed_trainstate/", text, NULL);

      if (reference_wants (self, name))
        reference_skip (self, name, "its convolutions and pools are not built yet");
    }
}
