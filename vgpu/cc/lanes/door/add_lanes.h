/* SPDX-License-Identifier: MIT
 * add_lanes.h: kernels get their fast form (vgpu/common/lanes.h), where they can have one.
 */
#ifndef VGPU_CC_ADD_LANES_H
#define VGPU_CC_ADD_LANES_H

#include "module.h"

/* Of the code's kernel with that number: a table, or why it has none; the other is null. */
typedef void cc_set_lanes(struct cc_lowering *l, size_t kernel, LLVMValueRef lanes,
                          const char *careful);

/* In the optimized module: `set` is called once a kernel. False: LLVM failed, which was told. */
bool cc_add_lanes(struct cc_lowering *l, cc_set_lanes *set);

#endif
