/* SPDX-License-Identifier: MIT
 * vgpu_time.h: the virtual clock, for programs that know that they run on the virtual node:
 *
 *   #if __has_include(<vgpu_time.h>)
 *   #include <vgpu_time.h>
 *   #endif
 *
 * Programs that shall also run on real GPUs measure with cudaEventElapsedTime, which reads the same
 * clock here.
 */
#ifndef VGPU_TIME_H
#define VGPU_TIME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the calling host thread's clock says, in picoseconds since the node began; 0 before the
 * thread's first call that needs the node. CUDA calls move it, computing on the host does not. */
uint64_t vgpu_time(void);

/* Clocks travel with joins, barriers and events, but not with messages, which we cannot see. A
 * program whose processes or threads wait for each other's messages may send the clock along:
 * `tell` is what the sender's clock says; after `hear` the receiver's says that, and what a
 * message takes (`message_us` of the node description), or later. */
uint64_t vgpu_time_tell(void);
void vgpu_time_hear(uint64_t told_ps);

#ifdef __cplusplus
}
#endif

#endif
