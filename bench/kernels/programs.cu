/* SPDX-License-Identifier: MIT
 * programs.cu: runs the kernels of kernels.h (measure.h says how), under vgpu-cc, or under HIP-CPU
 * with hip_cpu.h.
 */
#ifdef HIP_CPU
#include "hip_cpu.h"
#else
#include <cuda_runtime.h>

#include "../bench.h"

enum { WARP = 32 };
#define SHUFFLE_DOWN(value, by) __shfl_down_sync(0xffffffffu, value, by)
#define LAUNCH(kernel, grid, block, ...) kernel<<<grid, block>>>(__VA_ARGS__)
#endif

#include "kernels.h"

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_));                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static float *x, *y;

static void upload(void)
{
    size_t bytes = (size_t)size.all * sizeof(float);
    CHECK(cudaMemcpy(x, host, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(y, host, bytes, cudaMemcpyHostToDevice));
}

static void download(size_t numbers)
{
    CHECK(cudaMemcpy(host, y, numbers * sizeof(float), cudaMemcpyDeviceToHost));
}

static void wait_for_all(void)
{
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}

static double processor_seconds(void)
{
    double node = 0;
#ifndef HIP_CPU
    node = node_cpu_seconds(getenv("VGPU_NODE_ID"));
#endif
    return node + clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

static void run_saxpy(void)
{
    LAUNCH(saxpy, dim3(size.all / THREADS), dim3(THREADS), y, x, 2.0f, size.all);
}

static void run_stencil(void)
{
    LAUNCH(stencil, dim3(size.side / 32, size.side / 8), dim3(32, 8), y, x, size.side);
}

static void run_tree(void)
{
    LAUNCH(tree, dim3(size.all / THREADS), dim3(THREADS), y, x);
}

static void run_histogram(void)
{
    CHECK(cudaMemset(y, 0, BINS * sizeof(unsigned)));
    LAUNCH(histogram, dim3(size.bins / THREADS), dim3(THREADS), (unsigned *)y, (const unsigned *)x,
           size.bins);
}

static void run_bodies(void)
{
    LAUNCH(bodies, dim3(size.count / 64), dim3(64), (float4 *)y, (const float4 *)x, size.count);
}

static void run_product(void)
{
    LAUNCH(product, dim3(size.small / 16, size.small / 16), dim3(16, 16), y, x, x, size.small);
}

static void run_tiles(void)
{
    LAUNCH(tiles, dim3(size.small / TILE, size.small / TILE), dim3(TILE, TILE), y, x, x,
           size.small);
}

static void run_shuffles(void)
{
    LAUNCH(shuffles, dim3(size.all / THREADS), dim3(THREADS), y, x);
}

static void run_scan(void)
{
    LAUNCH(scan, dim3(size.all / THREADS), dim3(THREADS), y, x);
}

static void run_transposed(void)
{
    LAUNCH(transposed, dim3(size.side / TILE, size.side / TILE), dim3(TILE, TILE), y, x, size.side);
}

static void run_sort(void)
{
    LAUNCH(sort, dim3(size.all / SORTED), dim3(THREADS), y, x);
}

static void run_pairs(void)
{
    LAUNCH(pairs, dim3(size.all / SORTED), dim3(SORTED / 2), y, x);
}

/* Member g adds up what the others have, which comes to it from member g - 1. */
static float *total[RING], *passed[RING][2];

static void run_ring(void)
{
    size_t bytes = (size_t)size.part * sizeof(float);
    for (int step = 0; step < RING - 1; step++) {
        int from = step % 2, to = !from;
        for (int g = 0; g < RING; g++) {
            int next = (g + 1) % RING;
            CHECK(cudaMemcpyPeer(passed[next][to], next, passed[g][from], g, bytes));
        }
        for (int g = 0; g < RING; g++) {
            CHECK(cudaSetDevice(g));
            LAUNCH(add, dim3(size.part / THREADS), dim3(THREADS), total[g], passed[g][to],
                   size.part);
        }
        for (int g = 0; g < RING; g++) {
            CHECK(cudaSetDevice(g));
            CHECK(cudaDeviceSynchronize());
        }
    }
    CHECK(cudaSetDevice(0));
}

static void make_ring(void)
{
    size_t bytes = (size_t)size.part * sizeof(float);
    fill(0);
    for (int g = 0; g < RING; g++) {
        CHECK(cudaSetDevice(g));
        CHECK(cudaMalloc((void **)&total[g], bytes));
        for (int i = 0; i < 2; i++)
            CHECK(cudaMalloc((void **)&passed[g][i], bytes));
        const float *own = host + g * 11; /* each has other numbers */
        CHECK(cudaMemcpy(total[g], own, bytes, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(passed[g][0], own, bytes, cudaMemcpyHostToDevice));
    }
    CHECK(cudaSetDevice(0));
}

static double end_of_ring(void)
{
    size_t bytes = (size_t)size.part * sizeof(float);
    double all = 0;
    for (int g = 0; g < RING; g++) {
        CHECK(cudaMemcpy(host, total[g], bytes, cudaMemcpyDefault));
        all += sum((size_t)size.part, 0);
    }
    return all;
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    size_t bytes = (size_t)size.all * sizeof(float);
    CHECK(cudaMalloc((void **)&x, bytes));
    CHECK(cudaMalloc((void **)&y, bytes));
    make_ring();
    measure_all(argc, argv);
    return 0;
}
