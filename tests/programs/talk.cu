/* SPDX-License-Identifier: MIT
 * talk.cu: kernels that talk while they run: two GPUs hand a token back and forth through flags in
 * peer memory. `talk deadlock` launches one side only: it must be reported, not hang.
 */
#include "check.h"

#include <string.h>

#define ROUNDS 20

__global__ void player(volatile int *mine, volatile int *theirs, int rounds)
{
    for (int round = 1; round <= rounds; round++) {
        while (*mine < round)
            ;
        __threadfence_system();
        *theirs = round;
    }
}

/* Gives the token back one higher, so that the other's next round begins. */
__global__ void returner(volatile int *mine, volatile int *theirs, int rounds)
{
    for (int round = 1; round <= rounds; round++) {
        while (*mine < round)
            ;
        __threadfence_system();
        *theirs = round + 1;
    }
}

int main(int argc, char **argv)
{
    int *flag[2], n, value = 1;
    cudaStream_t stream[2];
    MUST(cudaGetDeviceCount(&n));
    if (n < 2) {
        puts("cannot run here: needs 2 GPUs");
        return 77;
    }
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaDeviceEnablePeerAccess(1 - d, 0));
        MUST(cudaMalloc((void **)&flag[d], sizeof(int)));
        MUST(cudaMemset(flag[d], 0, sizeof(int)));
        MUST(cudaStreamCreateWithFlags(&stream[d], cudaStreamNonBlocking));
        MUST(cudaDeviceSynchronize());
    }
    /* The first token lies there already: a kernel launched now to put it there might have to be
     * loaded first, and that waits for kernels that run. */
    bool served = argc < 2 || strcmp(argv[1], "deadlock") != 0;
    if (served)
        MUST(cudaMemcpy(flag[0], &value, sizeof value, cudaMemcpyHostToDevice));
    MUST(cudaSetDevice(0));
    player<<<1, 1, 0, stream[0]>>>(flag[0], flag[1], ROUNDS);
    if (!served) {
        printf("sync %d\n", (int)cudaStreamSynchronize(stream[0]));
        return 0;
    }
    MUST(cudaSetDevice(1));
    returner<<<1, 1, 0, stream[1]>>>(flag[1], flag[0], ROUNDS);
    MUST(cudaStreamSynchronize(stream[0]));
    MUST(cudaStreamSynchronize(stream[1]));
    MUST(cudaMemcpy(&value, flag[0], sizeof value, cudaMemcpyDeviceToHost));
    HOLDS(value == ROUNDS + 1, "the token came back as %d", value);
    puts("talk: right");
    return 0;
}
