// SPDX-License-Identifier: MIT
// boxes.cu: what a real machine answers to pitches and boxes, right and wrong;
// for boxes.txt.
#include <cstdio>
#include <cuda_runtime.h>

#define R(x) say(#x, (x))
static void say(const char *what, cudaError_t e)
{
    printf("    %s -> %d %s\n", what, (int)e, cudaGetErrorName(e));
    cudaGetLastError();
}
// A copy of the whole volume with a change.
#define C(...)                                                                                     \
    do {                                                                                           \
        cudaMemcpy3DParms p = whole;                                                               \
        __VA_ARGS__;                                                                               \
        say(#__VA_ARGS__, cudaMemcpy3D(&p));                                                       \
    } while (0)

static char h[5][6][40];
static cudaExtent box = make_cudaExtent(40, 6, 5);

static void allocate()
{
    cudaPitchedPtr p;
    for (cudaExtent e :
         {box, make_cudaExtent(0, 6, 5), make_cudaExtent(40, 0, 5), make_cudaExtent(513, 6, 0)}) {
        R(cudaMalloc3D(&p, e));
        printf("    null %d pitch %zu x %zu y %zu\n", p.ptr == 0, p.pitch, p.xsize, p.ysize);
    }
    void *q;
    size_t pitch;
    R(cudaMallocPitch(&q, &pitch, 600, 0));
    printf("    null %d pitch %zu\n", q == 0, pitch);
    R(cudaMallocPitch(&q, &pitch, 0, 3));
    printf("    null %d pitch %zu\n", q == 0, pitch);
    R(cudaMalloc3D(0, box));
}

static void copy(cudaPitchedPtr d, cudaPitchedPtr s)
{
    cudaMemcpy3DParms whole = {};
    whole.srcPtr = make_cudaPitchedPtr(h, 40, 40, 6);
    whole.dstPtr = d;
    whole.extent = box;
    whole.kind = cudaMemcpyDefault;
    C();
    C(p.extent.width = 41);
    C(p.extent = make_cudaExtent(41, 1, 1));
    C(p.srcPos.x = 1);
    C(p.extent.height = 7);
    C(p.extent = make_cudaExtent(40, 7, 1));
    C(p.srcPos.y = 1);
    C(p.srcPos.y = 1, p.extent.depth = 1);
    C(p.dstPos.z = 1);
    C(p.dstPtr = s);
    C(p.kind = cudaMemcpyDeviceToHost);
    C(p.kind = (cudaMemcpyKind)9);
    C(p.extent.depth = 0);
    C(p.extent.depth = 0, p.kind = cudaMemcpyDeviceToHost);
    C(p.extent = make_cudaExtent(41, 6, 0));
    C(p.srcPtr.ptr = 0);
    C(p.srcPtr.ysize = 0);
    C(p.srcPtr.pitch = 0);
    R(cudaMemcpy3D(0));
    cudaMemcpy3DPeerParms q = {};
    q.srcPtr = q.dstPtr = d;
    q.extent = box;
    R(cudaMemcpy3DPeer(&q));
    q.dstDevice = 9;
    R(cudaMemcpy3DPeer(&q));
    q.dstDevice = 0;
    q.srcPtr = whole.srcPtr;
    R(cudaMemcpy3DPeer(&q));
    R(cudaMemcpy2D(d.ptr, 512, h, 40, 41, 2, cudaMemcpyHostToDevice));
    R(cudaMemcpy2D(d.ptr, 512, h, 40, 41, 1, cudaMemcpyHostToDevice));
    R(cudaMemcpy2D(d.ptr, 512, h, 40, 41, 0, cudaMemcpyHostToDevice));
}

static void fill(cudaPitchedPtr d, cudaPitchedPtr s)
{
    R(cudaMemset3D(d, 0, box));
    R(cudaMemset3D(d, 0, make_cudaExtent(513, 6, 5)));
    R(cudaMemset3D(d, 0, make_cudaExtent(513, 1, 1)));
    R(cudaMemset3D(d, 0, make_cudaExtent(40, 7, 5)));
    R(cudaMemset3D(d, 0, make_cudaExtent(40, 7, 1)));
    R(cudaMemset3D(s, 0, box));
    R(cudaMemset3D(d, 0, make_cudaExtent(0, 6, 5)));
    R(cudaMemset2D(d.ptr, 512, 0, 513, 2));
    R(cudaMemset2D(d.ptr, 512, 0, 513, 1));
}

int main()
{
    cudaPitchedPtr d, s;
    cudaMalloc3D(&d, box);
    cudaMalloc3D(&s, make_cudaExtent(40, 6, 1));
    printf("[allocate]\n");
    allocate();
    printf("[copy]\n");
    copy(d, s);
    printf("[fill]\n");
    fill(d, s);
}
