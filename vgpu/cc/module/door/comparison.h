/* SPDX-License-Identifier: MIT
 * comparison.h: comparisons of integers, which are enum vgpu_compare and LLVM's predicates.
 */
#ifndef VGPU_CC_COMPARISON_H
#define VGPU_CC_COMPARISON_H

#include "lanes.h"

enum { CC_COMPARE_BASE = 32 }; /* LLVM's predicates minus this are enum vgpu_compare */

/* Of two enum vgpu_compare: a < b is the opposite of a >= b; a < b mirrored is b > a. */
int cc_opposite(int how);
int cc_mirrored(int how);

#endif
