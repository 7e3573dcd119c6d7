/* SPDX-License-Identifier: MIT
 * cost.h: measures the real time that the simulation of virtual time takes, for bench/: with
 * VGPU_CLOCK_COST=FILE a node appends a line to the file when it ends: nanoseconds spent in the
 * clock and in link sharing over its whole life, and the number of operations simulated.
 */
#ifndef VGPU_COST_H
#define VGPU_COST_H

#include <stdint.h>
#include <stdio.h>

struct cost {
    FILE *file; /* NULL: nothing is measured */
    uint64_t begun_ns, since_ns, spent_ns, operations;
    int depth;
};

void cost_start(struct cost *c);
void cost_report(const struct cost *c); /* closes the file */

/* Surround code that is measured; may be nested. cost_pause() and cost_resume() exclude code inside
 * it. */
void cost_enter(struct cost *c);
void cost_leave(struct cost *c);
void cost_pause(struct cost *c);
void cost_resume(struct cost *c);

#endif
