/* SPDX-License-Identifier: MIT
 * arrays.h: the process's CUDA arrays (arrays.c). An array is device memory with rows and planes
 * that follow each other without gaps.
 */
#ifndef VGPU_ARRAYS_H
#define VGPU_ARRAYS_H

#include "core.h"

struct cudaArray {
    char *texels; /* device memory */
    size_t texel_bytes, row_bytes;
    size_t width, height, depth; /* at least 1; layers and faces count as depth */
    struct cudaChannelFormatDesc desc;
    struct cudaExtent extent; /* as the program asked for it */
    unsigned int flags;
    int device;
    struct cudaArray *next;
};

void vgpu__array_add(struct cudaArray *array);
/* True if it is an array of this process; _take also removes it. */
bool vgpu__array_known(cudaArray_const_t array);
bool vgpu__array_take(cudaArray_t array);

/* Bytes of a texel of this format; 0: no format of arrays and textures. */
size_t vgpu__texel_bytes(const struct cudaChannelFormatDesc *desc);

#endif
