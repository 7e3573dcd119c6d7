// SPDX-License-Identifier: MIT
// memory.cu: chapter 3's two loops with buffers of 1 GB, and how much each GPU has less then.
#include "../check.h"

enum { GPUS = 4 };

static size_t free_bytes(int gpu)
{
    size_t free, total;
    CHECK(cudaSetDevice(gpu));
    CHECK(cudaMemGetInfo(&free, &total));
    return free;
}

static void allocate(int change, void *buffer[GPUS])
{
    CHECK(cudaSetDevice(0));
    for (int i = 0; i < GPUS; i++) {
        if (change)
            CHECK(cudaSetDevice(i));
        CHECK(cudaMalloc(&buffer[i], 1000000000));
    }
}

int main(void)
{
    for (int change = 0; change < 2; change++) {
        size_t before[GPUS];
        void *buffer[GPUS];
        for (int i = 0; i < GPUS; i++)
            before[i] = free_bytes(i);
        allocate(change, buffer);
        printf("%s:", change ? "right" : "wrong");
        for (int i = 0; i < GPUS; i++)
            printf("  GPU %d %.0f GB", i, (double)(before[i] - free_bytes(i)) / 1e9);
        printf("\n");
        for (int i = 0; i < GPUS; i++)
            CHECK(cudaFree(buffer[i]));
    }
    return 0;
}
