// SPDX-License-Identifier: MIT
// reach.cu: a kernel on GPU 1 that uses GPU 0's memory: without access, with access; and who may
// access whom.
#include <stdio.h>
#include <string.h>

#include "check.h"

__global__ void add_one(int *p)
{
    *p += 1;
}

// book: enable
static void let_1_use_0(void)
{
    CHECK(cudaSetDevice(1));                 // who gains
    CHECK(cudaDeviceEnablePeerAccess(0, 0)); // whose memory it is
}
// book: end

static int use(int enabled)
{
    int *p, value = 41;
    CHECK(cudaSetDevice(0));
    CHECK(cudaMalloc((void **)&p, sizeof *p));
    CHECK(cudaMemcpy(p, &value, sizeof value, cudaMemcpyDefault));
    if (enabled)
        let_1_use_0();
    CHECK(cudaSetDevice(1));
    add_one<<<1, 1>>>(p);
    cudaError_t error = cudaDeviceSynchronize();
    printf("the kernel on GPU 1: %d %s\n", (int)error, cudaGetErrorString(error));
    if (error != cudaSuccess)
        return 0;
    CHECK(cudaMemcpy(&value, p, sizeof value, cudaMemcpyDefault));
    printf("GPU 0's memory holds %d\n", value);
    return 0;
}

// book: matrix
static int matrix(void)
{
    int gpus, can;
    CHECK(cudaGetDeviceCount(&gpus));
    for (int from = 0; from < gpus; from++) {
        printf("GPU %d uses", from);
        for (int to = 0; to < gpus; to++) {
            can = 1; // its own memory, always
            if (from != to)
                CHECK(cudaDeviceCanAccessPeer(&can, from, to));
            printf("  %d:%s", to, can ? "yes" : "no");
        }
        printf("\n");
    }
    return 0;
}
// book: end

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "matrix";
    return strcmp(what, "matrix") == 0 ? matrix() : use(strcmp(what, "with") == 0);
}
