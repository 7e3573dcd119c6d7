/* SPDX-License-Identifier: MIT
 * answer.h: the door for what contexts answer. A context runs the program's code, which may write
 * whatever it likes into the socket. What is behind this door has been checked by type and range:
 * every count is of what came, every text ends, and no sum of the numbers runs over. An answer that
 * no context of ours would give is not cut to fit: it is refused, with a sentence.
 */
#ifndef VGPU_NODE_ANSWER_H
#define VGPU_NODE_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol_exec.h"

/* What has come so far of the answer to one request. */
struct answer_due {
    const struct vgpu_exec_request *asked;
    uint32_t pieces, spans; /* a kernel's output and spans come in pieces, before the last one */
    uint64_t printed_bytes;
};

/* Checks a message of `got` bytes. False: no context answers like that, and `why` says what is
 * wrong with it. *last: nothing more comes for this request. */
bool answer_check(struct answer_due *due, struct vgpu_exec_reply *reply, size_t got, bool *last,
                  char *why, size_t room);

/* Of an answer to VGPU_EXEC_MODULE that was checked: how many variables it tells. */
uint32_t answer_variables(const struct vgpu_exec_reply *reply);

/* What a run used of memory, where its process wants to know: gathered over a run's answers. */
void answer_forget_spans(void);
void answer_take_spans(const struct vgpu_exec_reply *reply);
const struct vgpu_span *answer_spans(void);
uint32_t answer_span_count(void);

#endif
