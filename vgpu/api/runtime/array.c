/* SPDX-License-Identifier: MIT
 * array.c: CUDA arrays, without mipmaps.
 */
#include "runtime.h"

#include <stdlib.h>

#define FLAGS                                                                                      \
    (cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather)

static size_t at_least_one(size_t n)
{
    return n ? n : 1;
}

/* Stores the size in bytes; an error is recorded, with a message. */
static cudaError_t check_array(const char *call, const struct cudaArray *a, size_t *bytes)
{
    unsigned int cubemap = a->flags & cudaArrayCubemap, layered = a->flags & cudaArrayLayered;
    if (a->flags & ~(unsigned int)FLAGS)
        return vgpu__refuse(cudaErrorNotSupported, call,
                            "flags %#x: sparse arrays, deferred mappings and arrays of graphics "
                            "are not modelled",
                            a->flags);
    if (a->texel_bytes == 0)
        return vgpu__refuse(cudaErrorInvalidChannelDescriptor, call,
                            "channels of %d, %d, %d and %d bits: 1, 2 or 4 channels of the same 8, "
                            "16 or 32 bits, and no other kinds than signed, unsigned and float",
                            a->desc.x, a->desc.y, a->desc.z, a->desc.w);
    if (a->extent.width == 0 ||
        (cubemap && (a->width != a->height || a->depth % 6 || (!layered && a->depth != 6))))
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "%zu x %zu x %zu: the width may not be 0, and a cubemap has six square "
                            "faces",
                            a->extent.width, a->extent.height, a->extent.depth);
    if (__builtin_mul_overflow(a->row_bytes, a->height, bytes) ||
        __builtin_mul_overflow(*bytes, a->depth, bytes))
        return vgpu__record(cudaErrorInvalidValue);
    return cudaSuccess;
}

static cudaError_t allocate_array(const char *call, cudaArray_t *out,
                                  const struct cudaChannelFormatDesc *desc,
                                  struct cudaExtent extent, unsigned int flags)
{
    size_t bytes = 0;
    if (!vgpu__begin(call, VGPU_OP_CONTEXT))
        return vgpu__failed();
    if (!out || !desc)
        return vgpu__refuse(cudaErrorInvalidValue, call, "a null pointer");
    struct cudaArray made = {.texel_bytes = vgpu__texel_bytes(desc),
                             .width = extent.width,
                             .height = at_least_one(extent.height),
                             .depth = at_least_one(extent.depth),
                             .desc = *desc,
                             .extent = extent,
                             .flags = flags,
                             .device = vgpu__self.device};
    made.row_bytes = made.texel_bytes * made.width;
    cudaError_t error = check_array(call, &made, &bytes);
    if (error != cudaSuccess)
        return error;
    struct cudaArray *array = malloc(sizeof *array);
    if (!array)
        return vgpu__no_memory(call);
    *array = made;
    error = vgpu__device_allocate(call, (void **)&array->texels, bytes);
    if (error != cudaSuccess) {
        free(array);
        return error;
    }
    vgpu__array_add(array);
    *out = array;
    return cudaSuccess;
}

cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                            size_t width, size_t height, unsigned int flags)
{
    if (flags & (cudaArrayLayered | cudaArrayCubemap))
        return vgpu__refuse(cudaErrorInvalidValue, "cudaMallocArray",
                            "layered arrays and cubemaps are made by cudaMalloc3DArray");
    return allocate_array("cudaMallocArray", array, desc, (struct cudaExtent){width, height, 0},
                          flags);
}

cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                              struct cudaExtent extent, unsigned int flags)
{
    return allocate_array("cudaMalloc3DArray", array, desc, extent, flags);
}

cudaError_t cudaFreeArray(cudaArray_t array)
{
    if (array && !vgpu__array_take(array))
        return vgpu__refuse(cudaErrorInvalidValue, "cudaFreeArray",
                            "%p is not an array of this process: freed already?", (void *)array);
    cudaError_t error = vgpu__device_free("cudaFreeArray", array ? array->texels : NULL);
    free(array);
    return error;
}

static cudaError_t check_known(const char *call, cudaArray_const_t array)
{
    if (vgpu__array_known(array))
        return cudaSuccess;
    return vgpu__refuse(cudaErrorInvalidResourceHandle, call, "%p is not an array of this process",
                        (const void *)array);
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
                             unsigned int *flags, cudaArray_t array)
{
    cudaError_t error = check_known("cudaArrayGetInfo", array);
    if (error != cudaSuccess)
        return error;
    if (desc)
        *desc = array->desc;
    if (extent)
        *extent = array->extent;
    if (flags)
        *flags = array->flags;
    return cudaSuccess;
}

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   enum cudaChannelFormatKind f)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, f};
}

cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array)
{
    cudaError_t error = check_known("cudaGetChannelDesc", array);
    if (error == cudaSuccess && !desc)
        error = vgpu__record(cudaErrorInvalidValue);
    if (error == cudaSuccess)
        *desc = array->desc;
    return error;
}
