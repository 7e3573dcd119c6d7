// SPDX-License-Identifier: MIT
// order.cu: an order of the GPUs in which each has peer access to the one before it.
#include "../check.h"

enum { MOST = 16 };

static int gpus, order[MOST], taken[MOST];

// book: order
static int reach(int a, int b)
{
    int there, back;
    CHECK(cudaDeviceCanAccessPeer(&there, a, b));
    CHECK(cudaDeviceCanAccessPeer(&back, b, a));
    return there && back;
}

// Fills places from `place` on; 0: no order begins with what is in the places before.
static int fill(int place)
{
    if (place == gpus)
        return 1;
    for (int g = 0; g < gpus; g++) {
        if (taken[g] || (place > 0 && !reach(order[place - 1], g)))
            continue;
        order[place] = g;
        taken[g] = 1;
        if (fill(place + 1))
            return 1;
        taken[g] = 0; // a dead end: the next one
    }
    return 0;
}
// book: end

int main(void)
{
    CHECK(cudaGetDeviceCount(&gpus));
    if (!fill(0)) {
        printf("no order: some neighbours cannot reach each other\n");
        return 0;
    }
    printf("CUDA_VISIBLE_DEVICES=");
    for (int i = 0; i < gpus; i++)
        printf("%s%d", i ? "," : "", order[i]);
    printf("\n");
    return 0;
}
