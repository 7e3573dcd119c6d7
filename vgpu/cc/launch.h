/* SPDX-License-Identifier: MIT
 * launch.h: kernel launches, k<<<grid, block, shared, stream>>>(arguments).
 */
#ifndef VGPU_CC_LAUNCH_H
#define VGPU_CC_LAUNCH_H

#include "scan.h"

/* Turns every launch into
 *     (vgpu_push_call(grid, block, shared, stream) ? (void)0 : k(arguments))
 * Overloads, template deduction and conversions at the call stay the compiler's business. A launch
 * in device code is an error, and so is one that is incomplete. */
void cc_rewrite_launches(struct cc_source *source, const struct cc_decls *decls);

/* Does the kernel's name at token `name` stand in a launch? `name` may have template arguments. */
bool cc_is_launched(const struct cc_source *source, int name);

#endif
