// SPDX-License-Identifier: MIT
// pinned_polling.cu: kernels store into pinned memory, fence, and raise a flag that the host polls.
#include "correct.h"

__global__ void report(int *value, int *flag, int number)
{
    *value = number * number;
    __threadfence_system();
    *(volatile int *)flag = 1;
}

int main()
{
    int wrong = 0, *value;
    count_gpus();
    CHECK(cudaMallocHost((void **)&value, 2 * GPUS * sizeof(int)));
    int *flag = value + GPUS;
    for (int d = 0; d < gpus; d++) {
        flag[d] = 0;
        CHECK(cudaSetDevice(d));
        report<<<1, 1>>>(value + d, flag + d, d + 5);
        CHECK(cudaGetLastError());
    }
    for (int d = 0; d < gpus; d++) {
        while (*(volatile int *)(flag + d) == 0)
            ;
        wrong += value[d] != (d + 5) * (d + 5);
    }
    sync_all();
    CHECK(cudaFreeHost(value));
    return wrong != 0;
}
