// SPDX-License-Identifier: MIT
// ranges.cu: one step in two ways, its parts named with NVTX for a timeline.
//
//     nvcc -o ranges ranges.cu && nsys profile -t cuda,nvtx -o report ./ranges
#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t check_error = (call);                                                          \
        if (check_error != cudaSuccess) {                                                          \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(check_error));           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define MOST 16
#define STEPS 20

static const size_t COUNT = (size_t)64 << 20; // floats for each GPU: 256 MiB
static int gpus;
static float *data[MOST], *from_left[MOST];
static cudaStream_t stream[MOST];

__global__ void scale(float *x, size_t n, float by)
{
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += stride)
        x[i] *= by;
}

static void compute(int gpu)
{
    CHECK(cudaSetDevice(gpu));
    scale<<<1056, 256, 0, stream[gpu]>>>(data[gpu], COUNT, 0.5f);
    CHECK(cudaGetLastError());
}

static void exchange(int gpu)
{
    int right = (gpu + 1) % gpus;
    CHECK(cudaMemcpyPeerAsync(from_left[right], right, data[gpu], gpu, COUNT * sizeof(float),
                              stream[gpu]));
}

static void wait_for(int gpu)
{
    CHECK(cudaStreamSynchronize(stream[gpu]));
}

// book: ranges
static void one_after_the_other(void)
{
    nvtxRangePushA("one after the other");
    for (int i = 0; i < gpus; i++) {
        compute(i);
        exchange(i);
        wait_for(i); // the mistake
    }
    nvtxRangePop();
}

static void all_at_once(void)
{
    nvtxRangePushA("all at once");
    nvtxRangePushA("start");
    for (int i = 0; i < gpus; i++) {
        compute(i);
        exchange(i);
    }
    nvtxRangePop();
    nvtxRangePushA("wait");
    for (int i = 0; i < gpus; i++)
        wait_for(i);
    nvtxRangePop();
    nvtxRangePop();
}
// book: end

// Without access a copy goes through the host: slower, and as right.
static void enable_peers(int gpu)
{
    for (int peer = 0, can; peer < gpus; peer++) {
        CHECK(cudaDeviceCanAccessPeer(&can, gpu, peer));
        if (can)
            CHECK(cudaDeviceEnablePeerAccess(peer, 0));
    }
}

int main(void)
{
    CHECK(cudaGetDeviceCount(&gpus));
    gpus = gpus < MOST ? gpus : MOST;
    for (int i = 0; i < gpus; i++) {
        CHECK(cudaSetDevice(i));
        CHECK(cudaMalloc((void **)&data[i], COUNT * sizeof(float)));
        CHECK(cudaMalloc((void **)&from_left[i], COUNT * sizeof(float)));
        CHECK(cudaMemset(data[i], 0, COUNT * sizeof(float)));
        CHECK(cudaStreamCreate(&stream[i]));
        enable_peers(i);
    }
    all_at_once(); // what is made once is made here, and not timed
    one_after_the_other();
    for (int step = 0; step < STEPS; step++)
        one_after_the_other();
    for (int step = 0; step < STEPS; step++)
        all_at_once();
    printf("%d GPUs, %d steps of each kind\n", gpus, STEPS + 1);
    return 0;
}
