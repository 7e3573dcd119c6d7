/* SPDX-License-Identifier: MIT
 * race_report.h: what a person is told about two operations that nothing orders.
 */
#ifndef VGPU_RACE_REPORT_H
#define VGPU_RACE_REPORT_H

#include "op.h"
#include "protocol.h"

struct place {                     /* in an allocation */
    const struct process *host_of; /* whose pinned memory; NULL: device memory */
    uint64_t home, bytes, offset;
    bool managed;
};

struct access { /* of one operation to one allocation; offsets from its start */
    struct op *op;
    enum vgpu_use use;
    uint64_t low, end;
    struct access *older;
    uint32_t count; /* 0: it has not begun, and which bytes it will use is not known */
    struct vgpu_span span[];
};

/* Both programs, where there are two, are told: once for each pair of places in their code. */
void race_report(const struct access *a, const struct access *b, const struct place *place);

#endif
