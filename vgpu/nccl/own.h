/* SPDX-License-Identifier: MIT
 * own.h: the library's CUDA calls are its own.
 */
#ifndef VGPU_NCCL_OWN_H
#define VGPU_NCCL_OWN_H

#include "core.h"

/* First in every function that the program calls, or that runs in a thread of ours, and that makes
 * CUDA calls: up to its end they are the library's. What has failed before is not taken for theirs,
 * and the program finds its last error as it was. */
#define NCCL_OWN_CALLS                                                                             \
    __attribute__((cleanup(vgpu__own_calls_end), unused)) struct vgpu__own_calls nccl_own =        \
        vgpu__own_calls_begin()

#endif
