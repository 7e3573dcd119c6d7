/* SPDX-License-Identifier: MIT
 * copy3d.c: three-dimensional copies: cudaMalloc3D, and copies and fills of boxes. A box consists
 * of planes, a plane of rows of bytes; the node treats a whole box as one operation.
 */
#include "runtime.h"

static cudaError_t copy_box(const char *call, const struct cudaMemcpy3DParms *p,
                            cudaStream_t stream, bool sync)
{
    struct vgpu__copy copy;
    if (!vgpu__admit(call, VGPU_OP_COPY))
        return vgpu__failed();
    if (!p)
        return vgpu__refuse(cudaErrorInvalidValue, call, "the parameters are a null pointer");
    cudaError_t error = vgpu__box(call, p, &copy);
    if (error != cudaSuccess)
        return error;
    copy.stream = stream;
    copy.sync = sync;
    return vgpu__admitted_copy(&copy);
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    return copy_box("cudaMemcpy3D", p, NULL, true);
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    return copy_box("cudaMemcpy3DAsync", p, stream, false);
}

static cudaError_t copy_peer_box(const char *call, const struct cudaMemcpy3DPeerParms *p,
                                 cudaStream_t stream, bool sync)
{
    struct vgpu__copy copy;
    if (!vgpu__admit(call, VGPU_OP_COPY))
        return vgpu__failed();
    if (!p)
        return vgpu__refuse(cudaErrorInvalidValue, call, "the parameters are a null pointer");
    const struct cudaMemcpy3DParms box = {
        .srcArray = p->srcArray,
        .srcPos = p->srcPos,
        .srcPtr = p->srcPtr,
        .dstArray = p->dstArray,
        .dstPos = p->dstPos,
        .dstPtr = p->dstPtr,
        .extent = p->extent,
        .kind = cudaMemcpyDeviceToDevice,
    };
    cudaError_t error = vgpu__box(call, &box, &copy);
    if (error != cudaSuccess)
        return error;
    copy.stream = stream;
    copy.sync = sync;
    return vgpu__admitted_peer_copy(&copy, p->dstDevice, p->srcDevice);
}

cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p)
{
    return copy_peer_box("cudaMemcpy3DPeer", p, NULL, true);
}

cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    return copy_peer_box("cudaMemcpy3DPeerAsync", p, stream, false);
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr, struct cudaExtent extent)
{
    size_t rows, pitch;
    void *ptr;
    if (!pitchedDevPtr || __builtin_mul_overflow(extent.height, extent.depth, &rows))
        return vgpu__record(cudaErrorInvalidValue);
    cudaError_t error = cudaMallocPitch(&ptr, &pitch, extent.width, rows);
    if (error == cudaSuccess)
        *pitchedDevPtr = (struct cudaPitchedPtr){ptr, pitch, extent.width, extent.height};
    return error;
}

static cudaError_t fill_box(const char *call, struct cudaPitchedPtr p, int value,
                            struct cudaExtent e, cudaStream_t stream, bool sync)
{
    struct memset_call set = {.dst = p.ptr,
                              .pitch = p.pitch,
                              .width = e.width,
                              .rows = e.height * e.depth,
                              .value = (unsigned char)value,
                              .element_bytes = 1,
                              .plane_rows = e.height,
                              .plane = p.pitch * p.ysize};
    if (!vgpu__admit(call, VGPU_OP_MEMSET))
        return vgpu__failed();
    if (e.depth && e.height > p.ysize)
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "the planes have %zu rows (ysize), the box takes %zu", p.ysize,
                            e.height);
    cudaError_t error = vgpu__admitted_fill(call, &set, stream, sync);
    if (error == cudaSuccess)
        vgpu__check_fill_value(call, value);
    return error;
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent)
{
    return fill_box("cudaMemset3D", pitchedDevPtr, value, extent, NULL, true);
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr pitchedDevPtr, int value,
                              struct cudaExtent extent, cudaStream_t stream)
{
    return fill_box("cudaMemset3DAsync", pitchedDevPtr, value, extent, stream, false);
}
