/* SPDX-License-Identifier: MIT
 * race_report.h: the message about two unordered operations.
 */
#ifndef VGPU_RACE_REPORT_H
#define VGPU_RACE_REPORT_H

#include "op.h"
#include "protocol.h"

struct place {                     /* a range in an allocation */
    const struct process *host_of; /* owner of pinned memory; NULL: device memory */
    uint64_t home, bytes, offset;
    bool managed;
};

/* Accesses of one operation to one allocation; offsets are relative to its start. */
struct access {
    struct op *op;
    enum vgpu_use use;
    uint64_t low, end;
    struct access *older;
    /* 0: the operation has not begun, so the bytes that it will use are unknown. */
    uint32_t count;
    struct vgpu_span span[];
};

/* Reports the race to the programs of both operations, once for each pair of places in their code.
 */
void race_report(const struct access *a, const struct access *b, const struct place *place);

#endif
