/* SPDX-License-Identifier: MIT
 * cost.h: what the clock costs this computer, for bench/: with VGPU_CLOCK_COST=FILE a node adds a
 * line to the file when it ends: nanoseconds in clock and links, of its whole life, and how many
 * operations it timed.
 */
#ifndef VGPU_COST_H
#define VGPU_COST_H

void cost_start(void);
void cost_report(void);

/* Around what counts; may be nested, and a nested cost_pause() takes out what is not the clock's.
 */
void cost_enter(void);
void cost_leave(void);
void cost_pause(void);
void cost_resume(void);

void cost_operation(void);

#endif
