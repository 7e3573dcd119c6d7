// SPDX-License-Identifier: MIT
// current.cu: buffers that all lie on one GPU, and buffers that lie one on each.
#include <stdio.h>

#include "check.h"

#define GPUS 4

// book: bug
static void allocate_wrong(float *buffer[GPUS])
{
    CHECK(cudaSetDevice(0)); // "first, choose a device"
    for (int i = 0; i < GPUS; i++)
        CHECK(cudaMalloc((void **)&buffer[i], 1 << 20));
}
// book: end

// book: fixed
static void allocate_right(float *buffer[GPUS])
{
    for (int i = 0; i < GPUS; i++) {
        CHECK(cudaSetDevice(i));
        CHECK(cudaMalloc((void **)&buffer[i], 1 << 20));
    }
}
// book: end

static void look(const char *who, float *buffer[GPUS])
{
    printf("%s:", who);
    for (int i = 0; i < GPUS; i++) {
        struct cudaPointerAttributes at;
        CHECK(cudaPointerGetAttributes(&at, buffer[i]));
        printf("  buffer %d on GPU %d", i, at.device);
        CHECK(cudaFree(buffer[i]));
    }
    printf("\n");
}

int main(void)
{
    float *buffer[GPUS];
    allocate_wrong(buffer);
    look("wrong", buffer);
    allocate_right(buffer);
    look("right", buffer);
    return 0;
}
