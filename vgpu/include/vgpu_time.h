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

#ifdef __cplusplus
}
#endif

#endif
