/* SPDX-License-Identifier: MIT
 * thread_clocks.h: a thread begins with the clock of the thread that created it, because the
 * library defines pthread_create (thread_clocks.c). The function below does nothing; a call of it
 * makes the linker include that file.
 */
#ifndef VGPU_THREAD_CLOCKS_H
#define VGPU_THREAD_CLOCKS_H

void vgpu__thread_clocks(void);

#endif
