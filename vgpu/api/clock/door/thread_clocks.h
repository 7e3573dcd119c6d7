/* SPDX-License-Identifier: MIT
 * thread_clocks.h: a thread begins with the clock of the thread that created it. The library's own
 * pthread_create does that. The function below does nothing; a call of it makes the linker include
 * that file.
 */
#ifndef VGPU_THREAD_CLOCKS_H
#define VGPU_THREAD_CLOCKS_H

void vgpu__thread_clocks(void);

#endif
