// SPDX-License-Identifier: MIT
// Works until it is killed: memory, kernels, copies between GPUs, pinned memory. "busy free": what
// is free on each GPU. "busy hold": takes 64 MiB of GPU 0, says so, and waits for a line. "busy
// long": a kernel of some seconds, and a wait for it. "busy queue": more operations without a wait
// than the node keeps.
#include "check.h"

#include <string.h>

__global__ void work(int *data, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        atomicAdd(&data[i], i);
}

__global__ void counts(int *sum)
{
    for (int i = 0; i < 400; i++)
        atomicAdd(sum, i);
}

static void run_long(void)
{
    int *sum;
    MUST(cudaMalloc(&sum, sizeof *sum));
    MUST(cudaMemset(sum, 0, sizeof *sum));
    counts<<<4096, 64>>>(sum);
    MUST(cudaDeviceSynchronize());
    MUST(cudaFree(sum));
}

static void fill_queue(void)
{
    int *p, last;
    MUST(cudaMalloc(&p, sizeof *p));
    for (int i = 0; i < (1 << 18) + 64; i++)
        MUST(cudaMemsetAsync(p, i & 127, sizeof *p, 0));
    MUST(cudaMemcpy(&last, p, sizeof last, cudaMemcpyDeviceToHost));
    HOLDS(last == 63 * 0x01010101, "%#x", last);
    MUST(cudaFree(p));
}

static void tell_free(int gpus)
{
    for (int d = 0; d < gpus; d++) {
        size_t available, total;
        MUST(cudaSetDevice(d));
        MUST(cudaMemGetInfo(&available, &total));
        printf("%zu\n", available);
    }
}

static void hold(void)
{
    void *p;
    MUST(cudaMalloc(&p, 64 << 20));
    puts("held");
    fflush(stdout);
    getchar();
}

static void one_round(int gpus)
{
    const size_t bytes = 3 << 20;
    for (int d = 0; d < gpus; d++) {
        int *here, *there, *host;
        MUST(cudaSetDevice((d + 1) % gpus));
        MUST(cudaMalloc(&there, bytes));
        MUST(cudaSetDevice(d));
        MUST(cudaMalloc(&here, bytes));
        MUST(cudaMallocHost(&host, bytes));
        work<<<8, 64>>>(here, 4096);
        MUST(cudaMemcpyPeerAsync(there, (d + 1) % gpus, here, d, bytes, 0));
        MUST(cudaMemcpyAsync(host, there, bytes, cudaMemcpyDefault, 0));
        MUST(cudaDeviceSynchronize());
        MUST(cudaFreeHost(host));
        MUST(cudaFree(here));
        MUST(cudaFree(there));
    }
}

int main(int argc, char **argv)
{
    int gpus = 0;
    MUST(cudaGetDeviceCount(&gpus));
    if (argc > 1 && strcmp(argv[1], "free") == 0)
        tell_free(gpus);
    else if (argc > 1 && strcmp(argv[1], "hold") == 0)
        hold();
    else if (argc > 1 && strcmp(argv[1], "long") == 0)
        run_long();
    else if (argc > 1 && strcmp(argv[1], "queue") == 0)
        fill_queue();
    else
        for (;;)
            one_round(gpus);
    return 0;
}
