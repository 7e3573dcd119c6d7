/* SPDX-License-Identifier: MIT
 * quotes.h: what gcc's -fdirectives-only cannot be trusted with.
 *
 * In text that a condition skips, a quote without a partner on its line ("don't" in an #if 0) makes
 * gcc (12 and 13 at least) take everything up to the next quote for a literal, lines of code and
 * #endif included, without a word. A file like that has to be preprocessed in the ordinary way.
 */
#ifndef VGPU_CC_QUOTES_H
#define VGPU_CC_QUOTES_H

#include "mem.h"

/* Has any of the files that the preprocessed text names such a quote? `seen` holds the files that
 * were looked at already, and gets the others. */
bool cc_has_lone_quote(const char *text, struct cc_list *seen);

#endif
