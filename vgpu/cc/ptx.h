/* SPDX-License-Identifier: MIT
 * ptx.h: what an inline assembly statement becomes.
 */
#ifndef VGPU_CC_PTX_H
#define VGPU_CC_PTX_H

#include <stdbool.h>
#include <string.h>

struct cc_ptx {
    /* With operands, the beginning of a call that takes them in their order, up to and with its
     * parenthesis; without, the whole expression. */
    const char *call;
    int outputs, inputs; /* as many as the statement must have */
    bool assigned;       /* its one output is what `call`, a whole expression, gives */
};

/* ptx_memory.c: `ptx` without white space, as one %. False: not known. */
bool cc_ptx_memory(const char *ptx, struct cc_ptx *to);

#endif
