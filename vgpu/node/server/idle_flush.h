/* SPDX-License-Identifier: MIT
 * idle_flush.h: programs that make no calls while they wait for a kernel or copy to change pinned
 * memory. Hardware carries out such work by itself, whereas the node carries out only what a call
 * waits for. Also: programs of which no thread will ever make a call again.
 */
#ifndef VGPU_IDLE_FLUSH_H
#define VGPU_IDLE_FLUSH_H

#include <stdbool.h>

/* How long the node may sleep before idle_flush, in ms; -1: no limit. */
int idle_flush_timeout_ms(void);

/* Called when there was no call for that long: carries out pending work of programs that have been
 * silent long enough. */
void idle_flush(void);

/* Restarts the measurement: a call, a reply or a step of a kernel has occurred. */
void idle_flush_stir(void);

/* Calls wait and no kernel makes progress: returns why this will never end, or NULL if it may.
 * `all_wait`: every host thread is in such a call. Call it every few ms. */
const char *idle_flush_hopeless(bool all_wait);

#endif
