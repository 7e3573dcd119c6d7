/* SPDX-License-Identifier: MIT
 * explain.h: messages about faults: which memory was accessed, and which call is missing.
 */
#ifndef VGPU_EXPLAIN_H
#define VGPU_EXPLAIN_H

#include "op.h"
#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

/* Valid until the next call. */
const char *explain_fault(const struct op *op, const struct vgpu_exec_reply *reply);
int explain_fault_code(int kind); /* enum vgpu_fault_kind -> error code */
const char *explain_commit_limit(const char *call);
const char *explain_wrapping(const struct op *op); /* for a fill with op->u.memset.wraps */

struct process;
struct pointee;

/* Writes "an allocation of 4096 bytes on GPU 0" and a marked address, that of the call that made
 * it. The program's process replaces marked addresses by source lines (vgpu/api/core/symbolizer.c).
 */
void explain_allocation(const struct pointee *p, char *out, size_t room);
#define EXPLAIN_MARK_FORMAT "\1%llx\2" /* return address of an allocating call */
#define EXPLAIN_AT_FORMAT                                                                          \
    "\3%llx\2" /* return address of any call: becomes " at file:line", or nothing */

/* Describes the surroundings of a GPU address at which `process` has no allocation. */
void explain_outside(const struct process *process, uint64_t address, char *out, size_t room);

/* Describes the address that a stalled kernel's text says it polls: "; 0x... is byte 4 of an
 * allocation ...", or "". */
const char *explain_wait(const char *said);

/* Removes marked addresses from a text that is stored. */
void explain_unmark(char *text);

#endif
