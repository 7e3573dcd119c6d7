/* SPDX-License-Identifier: MIT
 * answer.h: what contexts answer. A context runs the program's code, which may write whatever it
 * likes into the socket: nothing in an answer is larger than what came, every text ends.
 */
#ifndef VGPU_NODE_ANSWER_H
#define VGPU_NODE_ANSWER_H

#include <stddef.h>
#include <stdint.h>

#include "protocol_exec.h"

/* Cuts what an answer of `got` bytes (at least a struct vgpu_exec_reply) says of its own parts down
 * to what can be. Its numbers may still be lies; they only count in the program's own record. */
void answer_tame(struct vgpu_exec_reply *reply, size_t got);

/* What a run used of memory, where its process wants to know: gathered over a run's answers. */
void answer_forget_spans(void);
void answer_take_spans(const struct vgpu_exec_reply *reply);
const struct vgpu_span *answer_spans(void);
uint32_t answer_span_count(void);

#endif
