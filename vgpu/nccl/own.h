/* SPDX-License-Identifier: MIT
 * own.h: keeps the library's CUDA calls apart from the program's.
 */
#ifndef VGPU_NCCL_OWN_H
#define VGPU_NCCL_OWN_H

#include "core.h"

/* Put this first in every function that makes CUDA calls and is called by the program or is the
 * start of a thread of the library. Until the function returns, its CUDA calls are the library's:
 * earlier errors of the program are not attributed to them, and the program's last error is
 * preserved. */
#define NCCL_OWN_CALLS                                                                             \
    __attribute__((cleanup(vgpu__own_calls_end), unused)) struct vgpu__own_calls nccl_own =        \
        vgpu__own_calls_begin()

#endif
