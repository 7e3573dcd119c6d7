/* SPDX-License-Identifier: MIT
 * order.cu: kernels on two GPUs. With the event the reader sees what the writer wrote; without it
 * it sees poison, on the virtual node in every run. `order strict` is the mistake.
 */
#include "check.h"

#include <string.h>

#define N 4096

__global__ void write(int *p, int n, int value)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        p[i] = value + i;
}

__global__ void gather(const int *peer, int *mine, int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        mine[i] = peer[i];
}

static int stale_words(int wait, int sync_writer_first)
{
    int *theirs, *mine, host[N], stale = 0;
    cudaStream_t writer, reader;
    cudaEvent_t done;
    MUST(cudaSetDevice(1));
    MUST(cudaMalloc((void **)&theirs, N * sizeof(int)));
    MUST(cudaStreamCreate(&writer));
    MUST(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    MUST(cudaSetDevice(0));
    MUST(cudaMalloc((void **)&mine, N * sizeof(int)));
    MUST(cudaStreamCreate(&reader));
    MUST(cudaSetDevice(1));
    write<<<N / 256, 256, 0, writer>>>(theirs, N, 7);
    MUST(cudaEventRecord(done, writer));
    MUST(cudaSetDevice(0));
    if (wait)
        MUST(cudaStreamWaitEvent(reader, done, 0));
    gather<<<N / 256, 256, 0, reader>>>(theirs, mine, N);
    if (sync_writer_first)
        MUST(cudaStreamSynchronize(reader));
    MUST(cudaMemcpyAsync(host, mine, sizeof host, cudaMemcpyDeviceToHost, reader));
    MUST(cudaStreamSynchronize(reader));
    for (int i = 0; i < N; i++)
        stale += host[i] != 7 + i;
    MUST(cudaStreamSynchronize(writer));
    MUST(cudaFree(theirs));
    MUST(cudaFree(mine));
    MUST(cudaStreamDestroy(writer));
    MUST(cudaStreamDestroy(reader));
    MUST(cudaEventDestroy(done));
    return stale;
}

int main(int argc, char **argv)
{
    int n;
    MUST(cudaGetDeviceCount(&n));
    if (n < 2) {
        puts("cannot run here: needs 2 GPUs");
        return 77;
    }
    MUST(cudaSetDevice(0));
    MUST(cudaDeviceEnablePeerAccess(1, 0));
    int right = stale_words(1, 0);
    HOLDS(right == 0, "with the event %d of %d words are stale", right, N);
    if (argc > 1 && strcmp(argv[1], "strict") == 0)
        for (int sync = 0; sync < 2; sync++) {
            int wrong = stale_words(0, sync);
            HOLDS(wrong == N, "without the event only %d of %d words are stale", wrong, N);
        }
    puts("order: right");
    return 0;
}
