// SPDX-License-Identifier: MIT
// ping_pong.cu: GPU 0 and the last one take turns on one buffer, by one flag that counts.
#include "correct.h"

enum { ROUNDS = 4 };

__global__ void player(int *ball, int *turn, int mine)
{
    for (int round = 0; round < ROUNDS; round++) {
        if (threadIdx.x == 0)
            while (*(volatile int *)turn != 2 * round + mine)
                ;
        __syncthreads();
        for (int i = threadIdx.x; i < N; i += blockDim.x)
            ball[i] += 1 + mine;
        __threadfence_system();
        __syncthreads();
        if (threadIdx.x == 0)
            *(volatile int *)turn = 2 * round + mine + 1;
    }
}

int main()
{
    struct gpu first, last;
    begin();
    first = make_gpu(0);
    last = make_gpu(gpus - 1);
    player<<<1, BLOCK, 0, last.stream>>>(first.a, first.b, 1);
    CHECK(cudaSetDevice(0));
    player<<<1, BLOCK, 0, first.stream>>>(first.a, first.b, 0);
    CHECK(cudaGetLastError());
    sync_all();
    int wrong = wrong_from(first.a, 3 * ROUNDS, 0);
    free_gpu(0, &first);
    free_gpu(gpus - 1, &last);
    return end(wrong);
}
