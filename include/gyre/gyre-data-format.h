/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#if !defined (GYRE_INSIDE) && !defined (GYRE_COMPILATION)
#error "Only <gyre/gyre.h> can be included directly."
#endif

#include <gyre/gyre-array.h>
#include <gyre/gyre-tree.h>

G_BEGIN_DECLS

#define GYRE_TYPE_DATA_FORMAT (gyre_data_format_get_type ())
GYRE_API
G_DECLARE_DERIVABLE_TYPE (GyreDataFormat, gyre_data_format, GYRE, DATA_FORMAT, GObject)

/**
 * GyreDataFormatClass:
 * @probe: optional: whether the file or folder at a path looks like this format; it reads
 *   a few bytes and no more
 * @read: (transfer full): host arrays "image", "label", "test_image", "test_label":
 *   images u8 or f32 [n, height, width, channel] or [n, height, width], labels i32[n] or
 *   u8[n]; optional "scale", f32[], by which images are divided (255 for u8, 1 for f32).
 *   %NULL and an error, which names the file, and what is wrong where
 * @takes_no_path: the data are where the format knows: `--data NAME`
 *
 * A way in which labelled images lie in files, by the name that stands before the colon
 * of `--data NAME:PATH`.
 */
struct _GyreDataFormatClass
{
  GObjectClass parent_class;

  gboolean  (*probe) (GyreDataFormat  *self,
                      const char      *path);
  GyreTree *(*read)  (GyreDataFormat  *self,
                      const char      *path,
                      GError         **error);
  gboolean    takes_no_path;

  /*< private >*/
  gconstpointer row;
  gpointer      padding[8];
};

/* Types by name; the plugin that has it is loaded. */
GYRE_API GType  gyre_data_format_type_find (const char *name,
                                            GError    **error);
GYRE_API char **gyre_data_format_type_list (void);

G_END_DECLS
