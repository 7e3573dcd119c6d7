/* SPDX-License-Identifier: MIT
 * finding.h: mistakes that hardware accepts. They change no code: a sentence for the person and a
 * record in the trace.
 */
#ifndef VGPU_FINDING_H
#define VGPU_FINDING_H

#include "op.h"
#include "protocol.h"

/* What a kernel did outside of every allocation, as its context tells in `reply`. */
void finding_strays(const struct op *op, const struct vgpu_exec_reply *reply);

#endif
