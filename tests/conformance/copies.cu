// SPDX-License-Identifier: MIT
// copies.cu: boxes in streams, right and wrong.
#include "ask.h"

static char host[5][6][40];
static const cudaExtent box = {40, 6, 5};

static cudaPitchedPtr volume(void)
{
    cudaPitchedPtr p;
    OK(cudaMalloc3D(&p, box));
    return p;
}

static cudaMemcpy3DParms whole(cudaPitchedPtr to)
{
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(host, 40, 40, 6);
    p.dstPtr = to;
    p.extent = box;
    p.kind = cudaMemcpyHostToDevice;
    return p;
}

CASE(copy_3d_async)
{
    cudaStream_t s = ask_stream();
    cudaPitchedPtr d = volume();
    memset(host, 3, sizeof host);
    cudaMemcpy3DParms p = whole(d);
    R(cudaMemcpy3DAsync(&p, s));
    R(cudaStreamSynchronize(s));
    V("last %x", (unsigned)ask_peek((char *)d.ptr + d.pitch * 29 + 36));
    p.kind = cudaMemcpyDeviceToHost;
    R(cudaMemcpy3DAsync(&p, s));
    p.kind = (cudaMemcpyKind)9;
    R(cudaMemcpy3DAsync(&p, s));
    p = whole(d);
    p.extent.width = 41;
    R(cudaMemcpy3DAsync(&p, s));
    p.extent = make_cudaExtent(0, 0, 0);
    R(cudaMemcpy3DAsync(&p, s));
    p = whole(d);
    p.extent.depth = 6;
    R(cudaMemcpy3DAsync(&p, s));
    p = whole(d);
    p.dstPtr.ptr = NULL;
    R(cudaMemcpy3DAsync(&p, s));
    R(cudaStreamSynchronize(s));
    R(cudaMemcpy3DAsync(NULL, s));
}

CASE(copy_3d_peer_async)
{
    cudaStream_t s = ask_stream();
    cudaPitchedPtr d = volume();
    OK(cudaMemset3D(d, 5, box));
    OK(cudaSetDevice(1));
    cudaPitchedPtr e = volume();
    OK(cudaSetDevice(0));
    cudaMemcpy3DPeerParms p = {};
    p.srcPtr = d;
    p.dstPtr = e;
    p.dstDevice = 1;
    p.extent = box;
    R(cudaMemcpy3DPeerAsync(&p, s));
    R(cudaStreamSynchronize(s));
    V("last %x", (unsigned)ask_peek((char *)e.ptr + e.pitch * 29 + 36));
    p.dstDevice = 0;
    R(cudaMemcpy3DPeerAsync(&p, s));
    p.dstDevice = 99;
    R(cudaMemcpy3DPeerAsync(&p, s));
    p.dstDevice = 1;
    p.extent.height = 7;
    R(cudaMemcpy3DPeerAsync(&p, s));
    p.extent = box;
    p.srcPtr = make_cudaPitchedPtr(host, 40, 40, 6);
    R(cudaMemcpy3DPeerAsync(&p, s));
    R(cudaStreamSynchronize(s));
    R(cudaMemcpy3DPeerAsync(NULL, s));
}

CASE(set_3d_async)
{
    cudaStream_t s = ask_stream();
    cudaPitchedPtr d = volume(), none = {};
    R(cudaMemset3DAsync(d, 7, box, s));
    R(cudaStreamSynchronize(s));
    V("last %x", (unsigned)ask_peek((char *)d.ptr + d.pitch * 29 + 36));
    R(cudaMemset3DAsync(d, 7, make_cudaExtent(513, 6, 5), s));
    R(cudaMemset3DAsync(d, 7, make_cudaExtent(40, 7, 5), s));
    R(cudaMemset3DAsync(d, 7, make_cudaExtent(0, 6, 5), s));
    R(cudaMemset3DAsync(make_cudaPitchedPtr(host, 40, 40, 6), 7, box, s));
    R(cudaMemset3DAsync(none, 7, make_cudaExtent(0, 0, 0), s));
    R(cudaMemset3DAsync(none, 7, box, s));
    R(cudaStreamSynchronize(s));
}

#if CUDART_VERSION >= 13000 // 12.8's has one parameter more, and before it there is none

// Three copies into one allocation, from pageable, pinned and device memory.
struct batch {
    char *device;
    void *to[3];
    const void *from[3];
    size_t bytes[3] = {64, 128, 64}, first[3] = {0, 1, 2};
    cudaMemcpyAttributes attributes[3] = {};

    batch()
    {
        static int pageable[16] = {0x11};
        int *pinned;
        OK(cudaMalloc(&device, 4096));
        OK(cudaMemset(device, 0x33, 4096));
        OK(cudaMallocHost(&pinned, 128));
        OK(cudaDeviceSynchronize());
        *pinned = 0x22;
        from[0] = pageable, from[1] = pinned, from[2] = device + 2048;
        for (int i = 0; i < 3; i++) {
            to[i] = device + 512 * i;
            attributes[i].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
        }
    }
    cudaError_t copy(size_t count, size_t attribute_count, cudaStream_t s)
    {
        return cudaMemcpyBatchAsync(to, from, bytes, count, attributes, first, attribute_count, s);
    }
};

CASE(copy_batch)
{
    cudaStream_t s = ask_stream();
    batch b;
    R(b.copy(3, 1, s));
    R(cudaStreamSynchronize(s));
    for (int i = 0; i < 3; i++)
        V("%d: %x", i, (unsigned)ask_peek(b.to[i]));
    R(b.copy(3, 2, s));
    R(b.copy(3, 3, s));
    b.attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
    R(b.copy(3, 1, s));
    b.attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderAny;
    R(b.copy(3, 1, s));
    b.attributes[0].flags = cudaMemcpyFlagPreferOverlapWithCompute;
    R(b.copy(3, 1, s));
    R(b.copy(3, 1, cudaStreamPerThread));
    R(b.copy(3, 1, 0));
    R(b.copy(3, 1, cudaStreamLegacy));
    R(cudaDeviceSynchronize());
}

CASE(copy_batch_attributes)
{
    cudaStream_t s = ask_stream();
    batch b;
    R(b.copy(0, 0, s));
    R(b.copy(0, 1, s));
    R(b.copy(3, 0, s));
    R(b.copy(2, 3, s));
    b.first[0] = 1;
    R(b.copy(3, 1, s));
    b.first[0] = 0, b.first[1] = 0;
    R(b.copy(3, 2, s));
    b.first[1] = 2, b.first[2] = 1;
    R(b.copy(3, 3, s));
    b.first[1] = 3;
    R(b.copy(3, 2, s));
    b.attributes[0].flags = 2;
    R(b.copy(3, 1, s));
    b.attributes[0].flags = 0;
    b.attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderInvalid;
    R(b.copy(3, 1, s));
    b.attributes[0].srcAccessOrder = (cudaMemcpySrcAccessOrder)4;
    R(b.copy(3, 1, s));
    R(cudaStreamSynchronize(s));
}

CASE(copy_batch_hints)
{
    cudaStream_t s = ask_stream();
    batch b;
    cudaMemLocation *hint = &b.attributes[0].srcLocHint;
    *hint = {cudaMemLocationTypeDevice, 0};
    R(b.copy(3, 1, s));
    hint->id = 99;
    R(b.copy(3, 1, s));
    hint->type = cudaMemLocationTypeHost;
    R(b.copy(3, 1, s));
    hint->type = cudaMemLocationTypeHostNumaCurrent;
    R(b.copy(3, 1, s));
    hint->type = (cudaMemLocationType)9;
    R(b.copy(3, 1, s));
    *hint = {};
    b.attributes[0].dstLocHint = {cudaMemLocationTypeDevice, 99};
    R(b.copy(3, 1, s));
    b.attributes[1].dstLocHint = {cudaMemLocationTypeDevice, 99};
    b.attributes[0].dstLocHint = {};
    R(b.copy(3, 2, s));
    R(cudaStreamSynchronize(s));
    V("before it: %x", (unsigned)ask_peek(b.to[0]));
}

// A batch whose second copy is wrong, and what becomes of the others.
static void with_wrong_copy(void *to, const void *from, size_t bytes)
{
    cudaStream_t s = ask_stream();
    batch b;
    b.to[1] = to, b.from[1] = from, b.bytes[1] = bytes;
    b.from[2] = b.from[0];
    R(b.copy(3, 1, s));
    R(cudaStreamSynchronize(s));
    V("before it: %x, after it: %x", (unsigned)ask_peek(b.to[0]), (unsigned)ask_peek(b.to[2]));
}

CASE(copy_batch_wrong_copy)
{
    batch b;
    with_wrong_copy(b.to[1], b.from[1], 0);
    with_wrong_copy(NULL, b.from[1], 64);
    with_wrong_copy(b.to[1], NULL, 64);
    with_wrong_copy((void *)b.from[1], b.from[0], 64); // no mistake: from host to host
    with_wrong_copy(b.to[1], b.device, (size_t)1 << 40);
}

CASE(copy_batch_read_at_once)
{
    cudaStream_t s = ask_stream();
    batch b;
    for (cudaMemcpyAttributes &a : b.attributes)
        a.srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
    R(b.copy(3, 3, s));
    *(int *)b.from[0] = *(int *)b.from[1] = 0x44;
    R(cudaStreamSynchronize(s));
    V("%x %x", (unsigned)ask_peek(b.to[0]), (unsigned)ask_peek(b.to[1]));
}

CASE(copy_batch_captured)
{
    cudaStream_t s = ask_stream();
    batch b;
    cudaGraph_t graph;
    size_t nodes = 0;
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    R(b.copy(3, 1, s));
    R(cudaStreamEndCapture(s, &graph));
    if (graph && cudaGraphGetNodes(graph, NULL, &nodes) == cudaSuccess)
        V("%zu nodes", nodes);
}

CASE(copy_batch_other_stream)
{
    batch b;
    cudaStream_t s = ask_stream();
    OK(cudaStreamDestroy(s));
    R(b.copy(3, 1, s));
}

CASE(copy_batch_null)
{
    batch b;
    cudaStream_t s = ask_stream();
    void *const *to = NULL;
    const void *const *from = NULL;
    R(cudaMemcpyBatchAsync(to, b.from, b.bytes, 3, b.attributes, b.first, 1, s));
    R(cudaMemcpyBatchAsync(b.to, from, b.bytes, 3, b.attributes, b.first, 1, s));
    R(cudaMemcpyBatchAsync(b.to, b.from, NULL, 3, b.attributes, b.first, 1, s));
    R(cudaMemcpyBatchAsync(b.to, b.from, b.bytes, 3, NULL, b.first, 1, s));
    R(cudaMemcpyBatchAsync(b.to, b.from, b.bytes, 3, b.attributes, NULL, 1, s));
}

#endif
