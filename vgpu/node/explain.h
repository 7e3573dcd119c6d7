/* SPDX-License-Identifier: MIT
 * explain.h: faults as sentences: whose memory it was, which call is missing.
 */
#ifndef VGPU_EXPLAIN_H
#define VGPU_EXPLAIN_H

#include "op.h"
#include "protocol.h"

/* The text is valid until the next call. */
const char *explain_fault(const struct op *op, const struct vgpu_exec_reply *reply);
int explain_fault_code(int kind); /* enum vgpu_fault_kind -> error code */
const char *explain_commit_limit(const char *call);

#endif
