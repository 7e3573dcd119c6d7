/* SPDX-License-Identifier: MIT */
#include "runner.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "io.h"
#include "lab91.h"

LAB_RUN(relay)
{
    const int *in = lab_input(io, sizeof *in);
    struct relay_out *out = lab_result(io, sizeof *out);
    out->rc = gpu_relay(*in, &out->gpus);
}

/* Two threads, and one's work after the other's by what nobody sees. */
static atomic_int waited, begun;

static void copies(int gpu, int times)
{
    void *from, *to;
    cudaSetDevice(gpu);
    cudaMalloc(&from, 1 << 20);
    cudaMalloc(&to, 1 << 20);
    while (gpu == 0 && !begun)
        sched_yield();
    for (begun |= gpu; gpu == 1 && !waited;)
        sched_yield();
    for (int i = 0; i < times; i++)
        cudaMemcpyAsync(to, from, 1 << 20, cudaMemcpyDeviceToDevice, 0);
    cudaStreamSynchronize(0);
    waited = 1;
}

static void *other_thread(void *unused)
{
    copies(1, 1);
    return unused;
}

LAB_RUN(apart)
{
    pthread_t other;
    (void)io;
    pthread_create(&other, NULL, other_thread, NULL);
    copies(0, 2000);
    pthread_join(other, NULL);
}

/* The tests themselves ask for what must be refused. */
LAB_RUN(asks)
{
    (void)io;
    cudaSetDevice(99);
    (void)cudaGetLastError();
}

LAB_RUNS = {LAB_ENTRY(relay), LAB_ENTRY(apart), LAB_ENTRY(asks), LAB_END};
