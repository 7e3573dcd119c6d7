// SPDX-License-Identifier: MIT
// first: what to print before anything else on a machine that is new to you.
#include <stdio.h>

#include "check.h"

// book: first
static void versions(void)
{
    int driver = 0, toolkit = 0;
    CHECK(cudaDriverGetVersion(&driver));
    CHECK(cudaRuntimeGetVersion(&toolkit));
    printf("driver for CUDA %d.%d, program for CUDA %d.%d: %s\n", driver / 1000, driver / 10 % 100,
           toolkit / 1000, toolkit / 10 % 100,
           driver / 1000 >= toolkit / 1000 ? "fine" : "the driver is too old");
}

static int reachable(int gpus) /* pairs, in both directions */
{
    int pairs = 0;
    for (int from = 0; from < gpus; from++)
        for (int to = 0; to < gpus; to++) {
            int can = 0;
            if (from != to)
                CHECK(cudaDeviceCanAccessPeer(&can, from, to));
            pairs += can;
        }
    return pairs;
}
// book: end

int main(void)
{
    int gpus = 0;
    versions();
    CHECK(cudaGetDeviceCount(&gpus));
    printf("%d GPUs, peer access in %d of %d directions\n", gpus, reachable(gpus),
           gpus * (gpus - 1));
    return 0;
}
