/* SPDX-License-Identifier: MIT
 * finding.h: mistakes that hardware accepts. They change no code: a sentence for the person and a
 * record in the trace.
 */
#ifndef VGPU_FINDING_H
#define VGPU_FINDING_H

#include "check.h"
#include "op.h"
#include "protocol.h"

/* What a kernel did outside of every allocation, as its context tells in `reply`. */
void finding_strays(const struct op *op, const struct vgpu_exec_reply *reply);

/* A sentence for the person at `process`, if it wants such: with the diagnosis's code at its end,
 * once for each `key` (made of places in the code), counted and in the trace. `op` may be NULL. */
void finding_tell(struct process *process, enum vgpu_diagnosis diagnosis, const struct op *op,
                  uint64_t key, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* For sentences. */
static inline double ps_in_us(uint64_t ps)
{
    return (double)ps / 1e6;
}

#endif
