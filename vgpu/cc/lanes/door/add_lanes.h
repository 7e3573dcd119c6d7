/* SPDX-License-Identifier: MIT
 * add_lanes.h: adds to kernels their fast form (vgpu/common/lanes.h), where possible.
 */
#ifndef VGPU_CC_ADD_LANES_H
#define VGPU_CC_ADD_LANES_H

#include "module.h"

/* Sets the table of the kernel with that number, or why it has none; the other is null. */
typedef void cc_set_lanes(struct cc_lowering *l, size_t kernel, LLVMValueRef lanes,
                          const char *careful);

/* In the optimized module: calls `set` once per kernel. False: LLVM failed, which was reported. */
bool cc_add_lanes(struct cc_lowering *l, cc_set_lanes *set);

/* Wide forms are compiled for vectors of 256 bits; after this, that function, or all with `name`
 * null, for those of 128. False: none was changed. */
bool cc_shorten_vectors(struct cc_lowering *l, const char *name);

#endif
