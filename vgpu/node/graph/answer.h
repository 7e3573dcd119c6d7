/* SPDX-License-Identifier: MIT
 * answer.h: validation of the replies of contexts. A context runs the program's code, which may
 * write anything into the socket. A reply that has passed is valid by type and range: counts match
 * the data received, texts are terminated, and sums cannot overflow. A reply that no correct
 * context would send is not corrected but refused, with the reason.
 */
#ifndef VGPU_NODE_ANSWER_H
#define VGPU_NODE_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol_exec.h"

/* The replies to one request received so far. */
struct answer_due {
    const struct vgpu_exec_request *asked;
    /* Replies with printed output and spans that preceded the last one; spans received. */
    uint32_t pieces, spans;
    uint64_t printed_bytes;
};

/* Validates a message of `got` bytes. False: no correct context sends it; the reason is in `why`.
 * *last: it is the last reply to this request. */
bool answer_check(struct answer_due *due, struct vgpu_exec_reply *reply, size_t got, bool *last,
                  char *why, size_t room);

/* The number of variables in a validated reply to VGPU_EXEC_MODULE. */
uint32_t answer_variables(const struct vgpu_exec_reply *reply);

/* The memory accesses of a run, collected from its replies if its process has switched on race
 * detection. */
void answer_forget_spans(void);
void answer_take_spans(const struct vgpu_exec_reply *reply);
const struct vgpu_span *answer_spans(void);
uint32_t answer_span_count(void);

#endif
