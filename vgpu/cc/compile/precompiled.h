/* SPDX-License-Identifier: MIT
 * precompiled.h: the files of a precompiled header.
 */
#ifndef VGPU_CC_PRECOMPILED_H
#define VGPU_CC_PRECOMPILED_H

#include "mem.h"

/* Of a precompiled header: the file with the names of all headers in it, as -MD writes them. */
const char *cc_names_path(const char *header);
/* Is one of these folders searched for a name that another file has in the precompiled header? Then
 * the compiler could read that file in its place. */
bool cc_hides_header(const char *header, const struct cc_list *folders);
/* Removes all precompiled headers but the last that were made. */
void cc_remove_old_headers(const char *folder);

#endif
