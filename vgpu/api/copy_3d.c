/* SPDX-License-Identifier: MIT
 * copy_3d.c: copies and fills in three dimensions: a plane after the other. There are no arrays.
 */
#include "graph.h"

/* The same for both kinds of parameters. */
struct cuboid {
    const char *call;
    struct cudaPitchedPtr dst, src;
    struct cudaPos dst_pos, src_pos;
    struct cudaExtent extent;
    enum cudaMemcpyKind kind;
};

static char *row_of(struct cudaPitchedPtr p, struct cudaPos pos, size_t plane)
{
    size_t row = (pos.z + plane) * p.ysize + pos.y;
    return (char *)p.ptr + row * p.pitch + pos.x;
}

static cudaError_t copy(const struct cuboid *c, bool arrays, cudaStream_t stream, bool sync)
{
    cudaError_t error = cudaSuccess;
    if (arrays)
        return vgpu__refuse(cudaErrorNotSupported, c->call, "CUDA arrays are not modelled");
    if (c->extent.depth > 1 && (c->dst.ysize < c->dst_pos.y + c->extent.height ||
                                c->src.ysize < c->src_pos.y + c->extent.height))
        return vgpu__refuse(
            cudaErrorInvalidValue, c->call,
            "planes of %zu rows, but ysize is %zu at the destination and %zu at the "
            "source: it says where the next plane begins",
            c->extent.height, c->dst.ysize, c->src.ysize);
    for (size_t plane = 0; error == cudaSuccess && plane < c->extent.depth; plane++)
        error = vgpu__copy(&(struct vgpu__copy){.call = c->call,
                                                .dst = row_of(c->dst, c->dst_pos, plane),
                                                .src = row_of(c->src, c->src_pos, plane),
                                                .width = c->extent.width,
                                                .rows = c->extent.height,
                                                .dst_pitch = c->dst.pitch,
                                                .src_pitch = c->src.pitch,
                                                .kind = c->kind,
                                                .stream = stream,
                                                .sync = sync});
    return error;
}

static cudaError_t copy_plain(const char *call, const struct cudaMemcpy3DParms *p,
                              cudaStream_t stream, bool sync)
{
    if (!p)
        return vgpu__record(cudaErrorInvalidValue);
    struct cuboid c = {call, p->dstPtr, p->srcPtr, p->dstPos, p->srcPos, p->extent, p->kind};
    return copy(&c, p->dstArray || p->srcArray, stream, sync);
}

/* As cudaMemcpyPeer: the numbers must exist, the addresses decide. */
static cudaError_t copy_peer(const char *call, const struct cudaMemcpy3DPeerParms *p,
                             cudaStream_t stream, bool sync)
{
    if (!p)
        return vgpu__record(cudaErrorInvalidValue);
    int devices = vgpu__process.device_count;
    if (p->dstDevice < 0 || p->dstDevice >= devices || p->srcDevice < 0 || p->srcDevice >= devices)
        return vgpu__refuse(cudaErrorInvalidDevice, call, "devices %d and %d; this process sees %d",
                            p->dstDevice, p->srcDevice, devices);
    struct cuboid c = {call,      p->dstPtr, p->srcPtr,        p->dstPos,
                       p->srcPos, p->extent, cudaMemcpyDefault};
    return copy(&c, p->dstArray || p->srcArray, stream, sync);
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    return copy_plain("cudaMemcpy3D", p, NULL, true);
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    return copy_plain("cudaMemcpy3DAsync", p, stream, false);
}

cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p)
{
    return copy_peer("cudaMemcpy3DPeer", p, NULL, true);
}

cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    return copy_peer("cudaMemcpy3DPeerAsync", p, stream, false);
}

/* ---- memory ---- */

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr, struct cudaExtent extent)
{
    size_t rows;
    if (!pitchedDevPtr || __builtin_mul_overflow(extent.height, extent.depth, &rows))
        return vgpu__record(cudaErrorInvalidValue);
    struct cudaPitchedPtr p = {.xsize = extent.width, .ysize = extent.height};
    cudaError_t error = cudaMallocPitch(&p.ptr, &p.pitch, extent.width, rows);
    if (error == cudaSuccess)
        *pitchedDevPtr = p;
    return error;
}

static cudaError_t fill(const char *call, struct cudaPitchedPtr p, int value,
                        struct cudaExtent extent, cudaStream_t stream, bool sync)
{
    cudaError_t error = cudaSuccess;
    if (extent.width > p.pitch || (extent.depth > 1 && p.ysize < extent.height))
        return vgpu__refuse(
            cudaErrorInvalidValue, call,
            "rows of %zu bytes and planes of %zu rows in memory with a pitch of %zu "
            "and ysize %zu",
            extent.width, extent.height, p.pitch, p.ysize);
    for (size_t plane = 0; error == cudaSuccess && plane < extent.depth; plane++) {
        void *at = row_of(p, (struct cudaPos){0, 0, 0}, plane);
        error = sync ? cudaMemset2D(at, p.pitch, value, extent.width, extent.height)
                     : cudaMemset2DAsync(at, p.pitch, value, extent.width, extent.height, stream);
    }
    return error;
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent)
{
    return fill("cudaMemset3D", pitchedDevPtr, value, extent, NULL, true);
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr pitchedDevPtr, int value,
                              struct cudaExtent extent, cudaStream_t stream)
{
    return fill("cudaMemset3DAsync", pitchedDevPtr, value, extent, stream, false);
}
