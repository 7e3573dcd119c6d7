/* SPDX-License-Identifier: MIT
 * finding.h: findings: mistakes that hardware accepts. They change no error code; each prints a
 * message and adds a record to the trace.
 */
#ifndef VGPU_FINDING_H
#define VGPU_FINDING_H

#include "check.h"
#include "op.h"
#include "protocol.h"

/* Reports accesses of a kernel outside all allocations, as listed in its context's reply. */
void finding_strays(const struct op *op, const struct vgpu_exec_reply *reply);

/* Sends a message to the user of `process`, if it has switched on this diagnosis, once for each
 * `key` (computed from places in the code). The diagnosis's code is appended; the finding is
 * counted and traced. `op` may be NULL. */
void finding_tell(struct process *process, enum vgpu_diagnosis diagnosis, const struct op *op,
                  uint64_t key, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* For messages. */
static inline double ps_in_us(uint64_t ps)
{
    return (double)ps / 1e6;
}

#endif
