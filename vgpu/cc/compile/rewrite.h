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
 *     #pragma weak a=b                     nothing, in device code
 *
 * It is done to the text of a file that Clang has refused, with its headers in it; directives,
 * other strings and comments are left alone, and no line moves.
 */
#ifndef VGPU_CC_REWRITE_H
#define VGPU_CC_REWRITE_H

#include "mem.h"

/* What Clang says of the last form. */
#define CC_NO_SHARED_START "initialization is not supported for __shared__ variables"

/* What it says of an alias of a host's variable, and of a register's name. */
#define CC_WEAK_ALIAS "alias must point to a defined"
#define CC_REGISTER_NAME "invalid % escape in inline assembly"

/* The text with such forms rewritten; null where it has none. `refused`: Clang's messages. */
const char *cc_rewrite(const char *text, size_t length, const char *refused, bool device,
                       size_t *new_length);

#endif
