/* SPDX-License-Identifier: MIT
 * render.h: a source with its edits as text for the compiler.
 *
 * Behind every edit the text is brought back to the user's line and column: a line marker and
 * spaces up to the column. So the compiler's messages, its quoted lines and the debugger show what
 * the user wrote, whatever was put in before it.
 */
#ifndef VGPU_CC_RENDER_H
#define VGPU_CC_RENDER_H

#include "source.h"

/* The whole text with all edits. */
struct cc_text cc_render(const struct cc_source *source);

/* The tokens [from, to) for use inside an edit somewhere else: as the user wrote them and marked
 * with their own place where they are whole units, else as one line. Edits in them are ignored. */
const char *cc_render_range(const struct cc_source *source, int from, int to);

#endif
