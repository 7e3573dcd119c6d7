/* SPDX-License-Identifier: MIT
 * volume.cu: boxes of 3D memory: cudaMalloc3D, cudaMemcpy3D and its forms, cudaMemset3D, on every
 * GPU and between them. What wrong boxes answer is recorded: tests/recorded/probes/boxes.cu.
 */
#include <stdio.h>
#include <string.h>

#include "check.h"

#define W 10
#define H 6
#define D 5

typedef int volume[D][H][W];

static struct cudaPitchedPtr host(volume v)
{
    return make_cudaPitchedPtr(v, W * sizeof(int), W, H);
}

static int expected(int x, int y, int z)
{
    return z * 10000 + y * 100 + x + 1;
}

__global__ void twice(struct cudaPitchedPtr p)
{
    int *row = (int *)((char *)p.ptr + (blockIdx.y * p.ysize + blockIdx.x) * p.pitch);
    row[threadIdx.x] *= 2;
}

/* A box of 4 x 3 x 2 from (2, 1, 1) of `from` to (1, 2, 3) of `to`. */
static struct cudaMemcpy3DParms box(struct cudaPitchedPtr to, struct cudaPitchedPtr from)
{
    struct cudaMemcpy3DParms p = {};
    p.srcPtr = from;
    p.dstPtr = to;
    p.srcPos = make_cudaPos(2 * sizeof(int), 1, 1);
    p.dstPos = make_cudaPos(1 * sizeof(int), 2, 3);
    p.extent = make_cudaExtent(4 * sizeof(int), 3, 2);
    p.kind = cudaMemcpyDefault;
    return p;
}

static struct cudaMemcpy3DParms all(struct cudaPitchedPtr to, struct cudaPitchedPtr from)
{
    struct cudaMemcpy3DParms p = {};
    p.srcPtr = from;
    p.dstPtr = to;
    p.extent = make_cudaExtent(W * sizeof(int), H, D);
    p.kind = cudaMemcpyDefault;
    return p;
}

/* How many elements are not what the box copy of doubled numbers into zeros gives. */
static int wrong_in(volume got)
{
    int wrong = 0;
    for (int z = 0; z < D; z++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                bool in = x >= 1 && x < 5 && y >= 2 && y < 5 && z >= 3;
                wrong += got[z][y][x] != (in ? 2 * expected(x + 1, y - 1, z - 2) : 0);
            }
    return wrong;
}

/* Host to GPU `a`, doubled there, a box of it to GPU `b`, and back. */
static int through(int a, int b, int how)
{
    static volume h, got;
    struct cudaPitchedPtr first, second;
    cudaStream_t stream;
    for (int i = 0; i < W * H * D; i++)
        h[i / (W * H)][i / W % H][i % W] = expected(i % W, i / W % H, i / (W * H));
    memset(got, 0xff, sizeof got);
    MUST(cudaSetDevice(b));
    MUST(cudaMalloc3D(&second, make_cudaExtent(W * sizeof(int), H, D)));
    MUST(cudaMemset3D(second, 0, make_cudaExtent(W * sizeof(int), H, D)));
    MUST(cudaDeviceSynchronize());
    MUST(cudaSetDevice(a));
    MUST(cudaStreamCreate(&stream));
    MUST(cudaMalloc3D(&first, make_cudaExtent(W * sizeof(int), H, D)));
    struct cudaMemcpy3DParms in = all(first, host(h)), move = box(second, first),
                             out = all(host(got), second);
    MUST(cudaMemcpy3DAsync(&in, stream));
    twice<<<dim3(H, D), W, 0, stream>>>(first);
    MUST(cudaGetLastError());
    struct cudaMemcpy3DPeerParms peer = {};
    peer.srcPtr = move.srcPtr, peer.srcPos = move.srcPos, peer.srcDevice = a;
    peer.dstPtr = move.dstPtr, peer.dstPos = move.dstPos, peer.dstDevice = b;
    peer.extent = move.extent;
    if (how == 0)
        MUST(cudaMemcpy3DAsync(&move, stream));
    if (how == 1)
        MUST(cudaMemcpy3DPeerAsync(&peer, stream));
    MUST(cudaStreamSynchronize(stream));
    if (how == 2)
        MUST(cudaMemcpy3DPeer(&peer));
    MUST(cudaMemcpy3D(&out));
    MUST(cudaStreamDestroy(stream));
    MUST(cudaFree(first.ptr));
    MUST(cudaFree(second.ptr));
    return wrong_in(got);
}

/* The box from pageable host memory and a graph's copy of it. */
static int from_host(bool graph)
{
    static volume h, got;
    struct cudaPitchedPtr device;
    cudaStream_t stream;
    cudaGraph_t made;
    cudaGraphExec_t exec;
    for (int i = 0; i < W * H * D; i++)
        h[i / (W * H)][i / W % H][i % W] = 2 * expected(i % W, i / W % H, i / (W * H));
    MUST(cudaStreamCreate(&stream));
    MUST(cudaMalloc3D(&device, make_cudaExtent(W * sizeof(int), H, D)));
    struct cudaMemcpy3DParms in = box(device, host(h)), out = all(host(got), device);
    if (graph)
        MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    MUST(cudaMemset3DAsync(device, 0, make_cudaExtent(W * sizeof(int), H, D), stream));
    MUST(cudaMemcpy3DAsync(&in, stream));
    if (graph) {
        MUST(cudaStreamEndCapture(stream, &made));
        MUST(cudaGraphInstantiate(&exec, made, 0));
        MUST(cudaGraphLaunch(exec, stream));
    }
    MUST(cudaStreamSynchronize(stream));
    MUST(cudaMemcpy3D(&out));
    MUST(cudaFree(device.ptr));
    return wrong_in(got);
}

int main()
{
    int gpus, wrong = 0;
    MUST(cudaGetDeviceCount(&gpus));
    for (int a = 0; a < gpus; a++)
        for (int how = 0; how < 3; how++)
            wrong += through(a, (a + 1) % gpus, how);
    wrong += from_host(false) + from_host(true);
    printf("volumes on %d GPUs: %s\n", gpus, wrong ? "wrong" : "right");
    return wrong != 0;
}
