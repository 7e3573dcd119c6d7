/* SPDX-License-Identifier: MIT
 * thread_clocks.h: threads begin with the clock of who made them. Nothing is called for that: the
 * program's own pthread_create is this library's. Who calls this brings it along.
 */
#ifndef VGPU_THREAD_CLOCKS_H
#define VGPU_THREAD_CLOCKS_H

void vgpu__thread_clocks(void);

#endif
