/* SPDX-License-Identifier: MIT
 * idle_flush.h: programs that make no call and wait all the same, for a kernel or a copy to change
 * pinned memory. On hardware that happens by itself; here somebody has to ask for it. And programs
 * of which no thread will ever make a call again.
 */
#ifndef VGPU_IDLE_FLUSH_H
#define VGPU_IDLE_FLUSH_H

#include <stdbool.h>

/* How long the node may sleep before idle_flush, in ms; -1: for ever. */
int idle_flush_patience_ms(void);

/* Nobody has called for that long: carries out what is pending, for programs that have been silent
 * long enough. */
void idle_flush(void);

/* Something has happened: a call, an answer, a step of a kernel. */
void idle_flush_stir(void);

/* Calls wait, and no kernel gets further: will that ever end? `all_wait`: every host thread is in
 * such a call. Says why not, or NULL: it may. To be asked every few ms. */
const char *idle_flush_hopeless(bool all_wait);

#endif
