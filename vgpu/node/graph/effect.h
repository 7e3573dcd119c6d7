/* SPDX-License-Identifier: MIT
 * effect.h: what an operation does to memory.
 */
#ifndef VGPU_EFFECT_H
#define VGPU_EFFECT_H

#include "op.h"

enum effect {
    EFFECT_DONE,
    EFFECT_MOVED,  /* a kernel got further and polls again */
    EFFECT_STALLED /* a kernel polls, and saw nothing new */
};

enum effect effect_apply(struct op *op);  /* first time */
enum effect effect_resume(struct op *op); /* a stalled kernel */
void effect_abandon(struct op *op);
const char *effect_stall_text(const struct op *op);

#endif
