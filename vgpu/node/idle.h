/* SPDX-License-Identifier: MIT
 * idle.h: programs that make no call and wait all the same, for a kernel or a copy to change pinned
 * memory. On hardware that happens by itself; here somebody has to ask for it.
 */
#ifndef VGPU_IDLE_H
#define VGPU_IDLE_H

/* How long the node may sleep before idle_look, in ms; -1: for ever. */
int idle_patience_ms(void);

/* Nobody has called for that long: carries out what is pending, for programs that have been silent
 * long enough. */
void idle_look(void);

#endif
