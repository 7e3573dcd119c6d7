/* SPDX-License-Identifier: MIT
 * memset.c: cudaMemset and its family, which fill device memory in stream order.
 */
#include "runtime.h"

cudaError_t vgpu__admitted_fill(const char *call, const struct memset_call *set,
                                cudaStream_t stream, bool sync)
{
    cudaError_t error;
    if (set->rows > 1 && set->width > set->pitch)
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "a row of %zu bytes is wider than the pitch of %zu", set->width,
                            set->pitch);
    struct CUgraphNode_st *node =
        sync ? NULL : vgpu__capture(call, stream, cudaGraphNodeTypeMemset, &error);
    if (!sync && error != cudaSuccess)
        return error;
    if (!node)
        return vgpu__memset(call, set, stream, sync);
    node->u.memset = *set;
    return cudaSuccess;
}

cudaError_t vgpu__fill(const char *call, const struct memset_call *set, cudaStream_t stream,
                       bool sync)
{
    return vgpu__admit(call, VGPU_OP_MEMSET) ? vgpu__admitted_fill(call, set, stream, sync)
                                             : vgpu__failed();
}

static cudaError_t memset_rows(const char *call, void *ptr, size_t pitch, int value, size_t width,
                               size_t rows, cudaStream_t stream, bool sync)
{
    struct memset_call set = {
        ptr, pitch, width, rows, .value = (unsigned char)value, .element_bytes = 1};
    cudaError_t error = vgpu__fill(call, &set, stream, sync);
    if (error == cudaSuccess)
        vgpu__check_fill_value(call, value);
    return error;
}

cudaError_t cudaMemset(void *devPtr, int value, size_t count)
{
    return memset_rows("cudaMemset", devPtr, count, value, count, 1, NULL, true);
}

cudaError_t cudaMemsetAsync(void *devPtr, int value, size_t count, cudaStream_t stream)
{
    return memset_rows("cudaMemsetAsync", devPtr, count, value, count, 1, stream, false);
}

cudaError_t cudaMemset2D(void *devPtr, size_t pitch, int value, size_t width, size_t height)
{
    return memset_rows("cudaMemset2D", devPtr, pitch, value, width, height, NULL, true);
}

cudaError_t cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream)
{
    return memset_rows("cudaMemset2DAsync", devPtr, pitch, value, width, height, stream, false);
}
