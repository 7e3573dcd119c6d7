/* SPDX-License-Identifier: MIT
 * agenda.h: what the clock (sim.c) knows to come: by time, then in the order of issue.
 */
#ifndef VGPU_AGENDA_H
#define VGPU_AGENDA_H

#include <stdint.h>

struct op;

#define AGENDA_EMPTY UINT64_MAX

enum phase { PHASE_START, PHASE_LATENCY };

struct happening {
    uint64_t at_ps;
    struct op *op;
    enum phase phase;
};

void agenda_push(uint64_t at_ps, struct op *op, enum phase phase);

/* When the next one is, or AGENDA_EMPTY. */
uint64_t agenda_next_ps(void);

/* Takes the next one; there must be one. */
struct happening agenda_pop(void);

#endif
