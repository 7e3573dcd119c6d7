/* SPDX-License-Identifier: MIT
 * wait.cu: a wait promises something about what it waits for, and nothing about anything else.
 * Prints for each kind of wait how many of 256 words are stale afterwards.
 */
#include "check.h"

#define N 256

__global__ void fill(int *p, int value)
{
    p[threadIdx.x] = value;
}

enum wait { WAIT_NONE, WAIT_OTHER_STREAM, WAIT_OTHER_EVENT, WAIT_OTHER_GPU, WAIT_STREAM, WAIT_GPU };

static void wait_for(enum wait wait, cudaStream_t right, cudaStream_t other, cudaEvent_t of_other)
{
    if (wait == WAIT_OTHER_STREAM)
        MUST(cudaStreamSynchronize(other));
    else if (wait == WAIT_OTHER_EVENT)
        MUST(cudaEventSynchronize(of_other));
    else if (wait == WAIT_STREAM)
        MUST(cudaStreamSynchronize(right));
    else if (wait == WAIT_OTHER_GPU)
        MUST(cudaSetDevice(1));
    if (wait == WAIT_OTHER_GPU || wait == WAIT_GPU)
        MUST(cudaDeviceSynchronize());
    MUST(cudaSetDevice(0));
}

static int stale_after(enum wait wait)
{
    int *data, *busy, host[N], stale = 0;
    cudaStream_t right, other;
    cudaEvent_t of_other;
    MUST(cudaSetDevice(0));
    MUST(cudaMalloc((void **)&data, sizeof host));
    MUST(cudaMalloc((void **)&busy, sizeof host));
    MUST(cudaStreamCreateWithFlags(&right, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    MUST(cudaEventCreate(&of_other));
    fill<<<1, N, 0, other>>>(busy, 1);
    MUST(cudaEventRecord(of_other, other));
    fill<<<1, N, 0, right>>>(data, 7);
    wait_for(wait, right, other, of_other);
    MUST(cudaMemcpyAsync(host, data, sizeof host, cudaMemcpyDeviceToHost, other));
    MUST(cudaStreamSynchronize(other));
    for (int i = 0; i < N; i++)
        stale += host[i] != 7;
    MUST(cudaDeviceSynchronize());
    MUST(cudaFree(data));
    MUST(cudaFree(busy));
    MUST(cudaStreamDestroy(right));
    MUST(cudaStreamDestroy(other));
    MUST(cudaEventDestroy(of_other));
    return stale;
}

int main(void)
{
    static const char *const names[] = {"none",      "other stream", "other event",
                                        "other GPU", "its stream",   "its GPU"};
    for (int wait = WAIT_NONE; wait <= WAIT_GPU; wait++)
        printf("%s: %d stale\n", names[wait], stale_after((enum wait)wait));
    return 0;
}
