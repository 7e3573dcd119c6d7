/* SPDX-License-Identifier: MIT
 * pass.h: read in front of every .cu file, in both passes of vgpu-cc.
 *
 * Host pass: a kernel becomes a stub that launches it, and each file registers its device image
 * from a constructor (registration.h). Device pass: each kernel gets an entry for the image's table
 * (image.h). The names that start with vgpu_host_ and vgpu_image_ are defined by the tables that
 * vgpu-cc adds to the assembly.
 */
#ifndef VGPU_PASS_H
#define VGPU_PASS_H

#pragma GCC system_header /* vgpu-cc looks into the user's code only */

#ifdef VGPU_WORDS_LATER
#include "words_later.h"
#else
#include "words.h"
#endif

#include <stddef.h>
#include <stdint.h>

#include VGPU_CONTRACT /* image.h or registration.h: vgpu-cc knows where they are */

#ifdef __CUDA_ARCH__
#include "device_entry.h"
#endif

#include "../cuda_runtime.h"

/* What nvcc's own headers bring into every file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <cstdlib>
#include <utility>

#include "both_math.h"

#ifndef __CUDA_ARCH__
extern "C" {
extern const struct vgpu_host_kernel vgpu_host_kernels[] __attribute__((visibility("hidden")));
extern const uint32_t vgpu_host_kernel_count __attribute__((visibility("hidden")));
}

template <class... P> inline const void *vgpu_address(void (*stub)(P...))
{
    return (const void *)stub;
}

/* The body of every stub: `self` is its own address, by which the runtime finds the kernel. */
static inline void vgpu_stub(const void *self, void **args)
{
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;

    if (vgpu_pop_call(&grid, &block, &shared, &stream) == cudaSuccess)
        cudaLaunchKernel(self, grid, block, args, shared, stream);
}
#endif

#endif
