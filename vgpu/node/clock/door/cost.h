/* SPDX-License-Identifier: MIT
 * cost.h: measures the real time that the simulation of virtual time takes, for bench/: with
 * VGPU_CLOCK_COST=FILE a node appends a line to the file when it ends: nanoseconds spent in the
 * clock and in link sharing over its whole life, and the number of operations simulated.
 */
#ifndef VGPU_COST_H
#define VGPU_COST_H

void cost_start(void);
void cost_report(void);

/* Surround code that is measured; may be nested. cost_pause() and cost_resume() exclude code inside
 * it. */
void cost_enter(void);
void cost_leave(void);
void cost_pause(void);
void cost_resume(void);

void cost_operation(void);

#endif
