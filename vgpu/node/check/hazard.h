/* SPDX-License-Identifier: MIT
 * hazard.h: turns findings inside kernels (vgpu/exec/race/door/hazard.h) into messages.
 */
#ifndef VGPU_NODE_HAZARD_H
#define VGPU_NODE_HAZARD_H

#include "op.h"
#include "protocol.h"

/* Reports all findings in `reply`, whose contents must not be trusted. */
void hazards_tell(const struct op *op, const struct vgpu_exec_reply *reply);

/* Reports findings that the reply contains as text, and counts the codes in it. */
void hazard_text(const struct op *op, const char *text);

/* The kernel `op` was ended in a loop that accesses no memory, at `where` ("file:line" if known).
 */
void hazard_spin(const struct op *op, const char *where);

/* The stalled kernel `op` is deadlocked: reports if blocks cannot start because the resident ones
 * wait. */
void hazard_crowded(const struct op *op);

#endif
