/* SPDX-License-Identifier: MIT
 * memset.c: cudaMemset and its family: filling device memory, in stream order.
 */
#include "runtime.h"

static cudaError_t fill(const char *call, void *ptr, size_t pitch, int value, size_t width,
                        size_t rows, cudaStream_t stream, bool sync)
{
    struct vgpu_request *request = vgpu__begin(call, VGPU_OP_MEMSET);
    if (!request)
        return vgpu__failed();
    if (rows > 1 && width > pitch)
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "a row of %zu bytes is wider than the pitch of %zu", width, pitch);
    request->stream = vgpu__stream_id(stream);
    request->u.memset = (struct vgpu_memset){
        .dst = vgpu__node_address(ptr),
        .bytes = rows ? width : 0,
        .rows = rows ? rows : 1,
        .pitch = rows > 1 ? pitch : width,
        .value = (unsigned char)value,
        .width = 1,
        .sync = sync,
    };
    return vgpu__end(NULL);
}

cudaError_t cudaMemset(void *devPtr, int value, size_t count)
{
    return fill("cudaMemset", devPtr, count, value, count, 1, NULL, true);
}

cudaError_t cudaMemsetAsync(void *devPtr, int value, size_t count, cudaStream_t stream)
{
    return fill("cudaMemsetAsync", devPtr, count, value, count, 1, stream, false);
}

cudaError_t cudaMemset2D(void *devPtr, size_t pitch, int value, size_t width, size_t height)
{
    return fill("cudaMemset2D", devPtr, pitch, value, width, height, NULL, true);
}

cudaError_t cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream)
{
    return fill("cudaMemset2DAsync", devPtr, pitch, value, width, height, stream, false);
}
