/* SPDX-License-Identifier: MIT
 * hazard.h: what the detectors of a kernel have found (vgpu/exec/race/door/hazard.h), in words.
 */
#ifndef VGPU_NODE_HAZARD_H
#define VGPU_NODE_HAZARD_H

#include "op.h"
#include "protocol.h"

/* Tells all that are in `reply`, which is not to be trusted. */
void hazards_tell(const struct op *op, const struct vgpu_exec_reply *reply);

/* Tells what a kernel's reply says in words already, and notes the codes that are in it. */
void hazard_text(const struct op *op, const char *text);

/* The kernel `op` was ended in a loop that uses no memory; "file:line" of it where known. */
void hazard_spin(const struct op *op, const char *where);

/* The stalled kernel `op` will never go on: are there blocks that the others keep from beginning?
 */
void hazard_crowded(const struct op *op);

#endif
