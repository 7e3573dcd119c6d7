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
