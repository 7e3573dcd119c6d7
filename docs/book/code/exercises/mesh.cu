// SPDX-License-Identifier: MIT
// mesh.cu: an order of the GPUs in which every one has peer access to the next, for
// CUDA_VISIBLE_DEVICES. Status 1: there is none.
#include "../check.h"

enum { MOST = 16 };

// book: mesh
static int linked(int a, int b)
{
    int there, back;
    CHECK(cudaDeviceCanAccessPeer(&there, a, b));
    CHECK(cudaDeviceCanAccessPeer(&back, b, a));
    return there && back;
}

static int contains(const int *order, int count, int gpu)
{
    for (int i = 0; i < count; i++)
        if (order[i] == gpu)
            return 1;
    return 0;
}

// Extends an order of `count` GPUs to one of all; takes a GPU back if the others cannot follow it.
static int extend(int *order, int count, int gpus)
{
    if (count == gpus)
        return 1;
    for (int next = 0; next < gpus; next++) {
        if (contains(order, count, next) || (count > 0 && !linked(order[count - 1], next)))
            continue;
        order[count] = next;
        if (extend(order, count + 1, gpus))
            return 1;
    }
    return 0;
}
// book: end

int main(void)
{
    int order[MOST], gpus;
    CHECK(cudaGetDeviceCount(&gpus));
    if (gpus > MOST || !extend(order, 0, gpus)) {
        fprintf(stderr, "no order in which every GPU has peer access to the next\n");
        return 1;
    }
    for (int i = 0; i < gpus; i++)
        printf("%s%d", i ? "," : "", order[i]);
    printf("\n");
    return 0;
}
