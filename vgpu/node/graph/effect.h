/* SPDX-License-Identifier: MIT
 * effect.h: carries out the effect of an operation on memory.
 */
#ifndef VGPU_EFFECT_H
#define VGPU_EFFECT_H

#include "op.h"

enum effect {
    EFFECT_DONE,
    EFFECT_MOVED,  /* a kernel made progress and polls again */
    EFFECT_STALLED /* a kernel polls and made no progress */
};

enum effect effect_apply(struct op *op);  /* first time */
enum effect effect_resume(struct op *op); /* a stalled kernel */
/* Ends a stalled kernel without the rest of its effect; does nothing for other operations. */
void effect_abandon(struct op *op);
/* Which threads of the kernel waited for what when it last stalled; "" if it never did. */
const char *effect_stall_text(const struct op *op);

#endif
