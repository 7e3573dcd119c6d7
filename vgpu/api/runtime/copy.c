/* SPDX-License-Identifier: MIT
 * copy.c: cudaMemcpy and its family. A copy is sent to the node (work/copy_request.c) or recorded
 * by a stream capture. The node decides when the call returns, following CUDA's table of which
 * copies (`sync`) wait for what.
 */
#include "runtime.h"

cudaError_t vgpu__copy(const struct vgpu__copy *c)
{
    return vgpu__admit(c->call, VGPU_OP_COPY) ? vgpu__admitted_copy(c) : vgpu__failed();
}

cudaError_t vgpu__admitted_copy(const struct vgpu__copy *c)
{
    cudaError_t error = vgpu__copy_check(c);
    if (error != cudaSuccess)
        return error;
    struct CUgraphNode_st *node =
        c->sync ? NULL : vgpu__capture(c->call, c->stream, cudaGraphNodeTypeMemcpy, &error);
    if (error != cudaSuccess)
        return error;
    if (!node)
        return vgpu__copy_send(c);
    node->u.copy = *c;
    return cudaSuccess;
}

/* ---- the calls ---- */

cudaError_t cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
    return vgpu__copy(&(struct vgpu__copy){"cudaMemcpy", dst, src, count, 1, count, count, kind,
                                           NULL, .sync = true});
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return vgpu__copy(&(struct vgpu__copy){"cudaMemcpyAsync", dst, src, count, 1, count, count,
                                           kind, stream, .sync = false});
}

cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                         size_t height, enum cudaMemcpyKind kind)
{
    return vgpu__copy(&(struct vgpu__copy){"cudaMemcpy2D", dst, src, width, height, dpitch, spitch,
                                           kind, NULL, .sync = true});
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    return vgpu__copy(&(struct vgpu__copy){"cudaMemcpy2DAsync", dst, src, width, height, dpitch,
                                           spitch, kind, stream, .sync = false});
}

/* ---- between devices, by number ---- */

/* The device numbers must be valid but are otherwise ignored: the addresses decide (recorded). */
cudaError_t vgpu__admitted_peer_copy(const struct vgpu__copy *c, int dst_device, int src_device)
{
    cudaError_t error = vgpu__copy_peer_check(c, dst_device, src_device);
    if (error == cudaSuccess && !c->sync)
        error = vgpu__capture_forbids(c->call, c->stream, true);
    return error == cudaSuccess ? vgpu__copy_peer_send(c, dst_device, src_device) : error;
}

static cudaError_t copy_between_devices(const char *call, void *dst, int dst_device,
                                        const void *src, int src_device, size_t bytes,
                                        cudaStream_t stream, bool sync)
{
    if (!vgpu__admit(call, VGPU_OP_COPY))
        return vgpu__failed();
    return vgpu__admitted_peer_copy(&(struct vgpu__copy){call, dst, src, bytes, 1, bytes, bytes,
                                                         cudaMemcpyDeviceToDevice, stream,
                                                         .sync = sync},
                                    dst_device, src_device);
}

cudaError_t cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice, size_t count)
{
    return copy_between_devices("cudaMemcpyPeer", dst, dstDevice, src, srcDevice, count, NULL,
                                true);
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice,
                                size_t count, cudaStream_t stream)
{
    return copy_between_devices("cudaMemcpyPeerAsync", dst, dstDevice, src, srcDevice, count,
                                stream, false);
}
