/* SPDX-License-Identifier: MIT
 * explain.h: faults as sentences: whose memory it was, which call is missing.
 */
#ifndef VGPU_EXPLAIN_H
#define VGPU_EXPLAIN_H

#include "op.h"
#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

/* The text is valid until the next call. */
const char *explain_fault(const struct op *op, const struct vgpu_exec_reply *reply);
int explain_fault_code(int kind); /* enum vgpu_fault_kind -> error code */
const char *explain_commit_limit(const char *call);
const char *explain_wrapping(const struct op *op); /* a fill with op->u.memset.wraps */

struct process;
struct pointee;

/* "an allocation of 4096 bytes on GPU 0", with the mark of where it was made: the program's own
 * process replaces marks by places (vgpu/api/core/symbolizer.c). */
void explain_allocation(const struct pointee *p, char *out, size_t room);
#define EXPLAIN_MARK_FORMAT "\1%llx\2" /* the return address of the call that allocated */
#define EXPLAIN_AT_FORMAT "\3%llx\2"   /* the same of any call: " at file:line", or nothing */

/* What lies around an address of a GPU where `process` has nothing allocated. */
void explain_outside(const struct process *process, uint64_t address, char *out, size_t room);

/* What a stalled kernel's text says it waits for: "; 0x... is byte 4 of an allocation ...", or "".
 */
const char *explain_wait(const char *said);

/* Takes the marks out of a text that is kept. */
void explain_unmark(char *text);

#endif
