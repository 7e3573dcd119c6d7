/* SPDX-License-Identifier: MIT
 * lower_ptx.h: lowers inline PTX to LLVM instructions.
 */
#ifndef VGPU_CC_LOWER_PTX_H
#define VGPU_CC_LOWER_PTX_H

#include "module.h"

/* False: a statement is unknown or invalid, which was reported with its place. */
bool cc_lower_ptx(struct cc_lowering *l);

#endif
