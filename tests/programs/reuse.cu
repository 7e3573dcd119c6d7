/* SPDX-License-Identifier: MIT
 * reuse.cu: memory that is freed and taken again holds nothing of what was there. "again": one
 * program takes, fills and frees pieces of all sizes. "fresh": what others have left. Both then
 * say so, and end when their input does.
 */
#include "check.h"

#include <string.h>

enum { POISON = 0xCB, ROUNDS = 3, PIECES = 40, PIECE = 2 << 20 };

static const size_t sizes[] = {1000, 1 << 20, 2 << 20, (3 << 20) + 512, 16 << 20, 40 << 20};
#define SIZES (sizeof sizes / sizeof *sizes)

__global__ void fill(char *at, size_t bytes, int value)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < bytes; i += gridDim.x * blockDim.x)
        at[i] = (char)value;
}

static void must_be_poison(const char *at, size_t bytes)
{
    static unsigned char host[40 << 20];
    memset(host, 0, bytes);
    MUST(cudaMemcpy(host, at, bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < bytes; i++)
        HOLDS(host[i] == POISON, "%zu bytes at %p: byte %zu is %#x", bytes, (const void *)at, i,
              host[i]);
}

/* Half of it, by a kernel or not: the rest is never touched. */
static void use(char *at, size_t bytes, bool by_kernel)
{
    if (by_kernel)
        fill<<<4, 64>>>(at, bytes / 2, 7);
    else
        MUST(cudaMemset(at, 7, bytes / 2));
    MUST(cudaDeviceSynchronize());
}

static void again(void)
{
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < SIZES; i++) {
            char *at;
            MUST(cudaMalloc(&at, sizes[i]));
            must_be_poison(at, sizes[i]);
            use(at, sizes[i], sizes[i] <= PIECE);
            MUST(cudaFree(at));
        }
}

/* More pieces than are kept, all filled, all freed. */
static void many(void)
{
    char *at[PIECES];
    for (int i = 0; i < PIECES; i++) {
        MUST(cudaMalloc(&at[i], PIECE));
        MUST(cudaMemset(at[i], 9, PIECE));
    }
    for (int i = 0; i < PIECES; i++)
        MUST(cudaFree(at[i]));
}

static void fresh(void)
{
    for (size_t i = 0; i < SIZES; i++) {
        char *at;
        MUST(cudaMalloc(&at, sizes[i]));
        must_be_poison(at, sizes[i]);
        MUST(cudaFree(at));
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "again";
    MUST(cudaSetDevice(0));
    if (!strcmp(how, "again")) {
        again();
        many();
    } else {
        fresh();
    }
    puts(how);
    fflush(stdout);
    while (getchar() != EOF)
        ;
    return 0;
}
