// SPDX-License-Identifier: MIT
// restore.cu: a function that allocates on a GPU and leaves the current device as it was.
#include "../check.h"

// book: restore
static cudaError_t malloc_on(int gpu, void **pointer, size_t bytes)
{
    int was;
    cudaError_t error = cudaGetDevice(&was);
    if (error != cudaSuccess)
        return error; // nothing was changed
    error = cudaSetDevice(gpu);
    if (error == cudaSuccess)
        error = cudaMalloc(pointer, bytes);
    CHECK(cudaSetDevice(was)); // also when a call failed
    return error;
}
// book: end

static void try_it(int gpu, size_t bytes)
{
    void *p = NULL;
    int current;
    cudaError_t error = malloc_on(gpu, &p, bytes);
    CHECK(cudaGetDevice(&current));
    printf("on GPU %d: %s, current device %d\n", gpu, cudaGetErrorString(error), current);
    CHECK(cudaFree(p));
}

int main(void)
{
    CHECK(cudaSetDevice(1));
    try_it(2, 1000);
    try_it(2, (size_t)1 << 50);
    try_it(99, 1000);
    return 0;
}
