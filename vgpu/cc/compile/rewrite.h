/* SPDX-License-Identifier: MIT
 * rewrite.h: what nvcc takes and Clang does not, put into words that both take.
 *
 *     __shared__ alignas(16) int a[4];     __shared__ _Alignas(16) int a[4];
 *     operator<<<int>(a, b)                operator<< <int>(a, b)
 *     k<<<{1, 2}, {3}>>>(p)                k<<<dim3{1, 2}, dim3{3}>>>(p)
 *     k<<<size...>>>(p)                    k<<<vgpu_grid(size...), vgpu_block(size...), ...>>>(p)
 *     k<< <1, 1>> >(p)                     k<<<1, 1>>>(p)
 *     __shared__ point a[4];               a reference to bytes, for no constructor runs
 *     asm("mov.u64 %0, %globaltimer;" ...  asm("mov.u64 %0, %%globaltimer;" ...
 *     #pragma weak a=b                     the same for host code only
 *
 * It is done where Clang has refused them, in a copy of the file that Clang then reads in its place
 * (-remap-file). No line moves, and nothing else in the file changes.
 */
#ifndef VGPU_CC_REWRITE_H
#define VGPU_CC_REWRITE_H

#include "mem.h"

/* Changes what the messages refuse, in new copies or in those that they are about. `copies`:
 * "file;copy" each, as for -remap-file; `name`: of new copies; `warns`: about __shared__ variables.
 * False: there is nothing to change. */
bool cc_rewrite(struct cc_list *copies, const char *said, const char *name, bool warns);

/* The text with a change for one message, which is about this place in it; null: none is known. */
const char *cc_rewrite_at(const char *text, int line, int column, const char *message);

#endif
