// SPDX-License-Identifier: MIT
// edges.cu: what it costs when work in one stream waits for work in another: on the same GPU, on
// another GPU, by events and as an edge of a graph. Chains of tiny operations, each waiting for the
// one before; the time of a hop is the slope between a short and a long chain.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MUST(call) must((call), #call, __LINE__)

enum place { ONE_STREAM, TWO_STREAMS, TWO_GPUS, PLACES };
enum work { KERNEL, COPY, BOTH, WORKS };
static const char *const place_names[] = {"one stream", "two streams", "two GPUs"};
static const char *const work_names[] = {"kernels", "peer copies", "copy, kernel"};

enum { SHORT = 8, LONG = 72, REPEATS = 20 };

static cudaStream_t stream[2][2]; // [GPU][which]
static cudaEvent_t hop[2][2], from, to;
static char *memory[2];

static void must(cudaError_t error, const char *call, int line)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "edges.cu:%d: %s: %s\n", line, call, cudaGetErrorString(error));
    exit(1);
}

static __global__ void nothing() {}

static __global__ void spin(long long cycles)
{
    long long start = clock64();
    while (clock64() - start < cycles)
        ;
}

static double now_us()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static void make()
{
    for (int g = 0; g < 2; g++) {
        MUST(cudaSetDevice(g));
        MUST(cudaDeviceEnablePeerAccess(1 - g, 0));
        MUST(cudaMalloc((void **)&memory[g], 4096));
        for (int i = 0; i < 2; i++) {
            MUST(cudaStreamCreateWithFlags(&stream[g][i], cudaStreamNonBlocking));
            MUST(cudaEventCreateWithFlags(&hop[g][i], cudaEventDisableTiming));
        }
    }
    MUST(cudaSetDevice(0));
    MUST(cudaEventCreate(&from));
    MUST(cudaEventCreate(&to));
}

static void work_in(int g, int i, int step, enum work work)
{
    MUST(cudaSetDevice(g));
    if (work == KERNEL || (work == BOTH && step % 2))
        nothing<<<1, 1, 0, stream[g][i]>>>();
    else
        MUST(cudaMemcpyAsync(memory[1 - g], memory[g], 16, cudaMemcpyDefault, stream[g][i]));
}

// `hops` operations, each behind the one before; begins and ends in stream[0][0].
static void queue_chain(int hops, enum place place, enum work work)
{
    int g = 0, i = 0;
    for (int step = 0; step <= hops; step++) {
        work_in(g, i, step, work);
        if (place == ONE_STREAM)
            continue;
        int next_g = place == TWO_GPUS ? 1 - g : 0, next_i = place == TWO_GPUS ? 0 : 1 - i;
        MUST(cudaEventRecord(hop[g][i], stream[g][i]));
        MUST(cudaStreamWaitEvent(stream[next_g][next_i], hop[g][i], 0));
        g = next_g;
        i = next_i;
    }
    if (g != 0 || i != 0) { // SHORT and LONG are even, so the chain ended one hop away
        MUST(cudaEventRecord(hop[g][i], stream[g][i]));
        MUST(cudaStreamWaitEvent(stream[0][0], hop[g][i], 0));
    }
}

static float elapsed()
{
    float ms;
    MUST(cudaEventSynchronize(to));
    MUST(cudaEventElapsedTime(&ms, from, to));
    return ms * 1e3f;
}

// Queued behind a kernel that is longer than the queueing.
static float by_streams(int hops, enum place place, enum work work)
{
    float best = 1e9f;
    for (int run = 0; run < REPEATS; run++) {
        MUST(cudaSetDevice(0));
        spin<<<1, 1, 0, stream[0][0]>>>(4000000);
        MUST(cudaEventRecord(from, stream[0][0]));
        queue_chain(hops, place, work);
        MUST(cudaSetDevice(0));
        MUST(cudaEventRecord(to, stream[0][0]));
        float us = elapsed();
        best = us < best ? us : best;
    }
    return best;
}

static float by_graph(int hops, enum place place, enum work work)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    float best = 1e9f;
    MUST(cudaStreamBeginCapture(stream[0][0], cudaStreamCaptureModeThreadLocal));
    queue_chain(hops, place, work);
    MUST(cudaStreamEndCapture(stream[0][0], &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaSetDevice(0));
    for (int run = 0; run < REPEATS; run++) {
        MUST(cudaEventRecord(from, stream[0][0]));
        MUST(cudaGraphLaunch(exec, stream[0][0]));
        MUST(cudaEventRecord(to, stream[0][0]));
        float us = elapsed();
        best = us < best ? us : best;
    }
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaGraphDestroy(graph));
    return best;
}

static void print_row(const char *how, float (*time)(int, enum place, enum work), enum place place,
                      enum work work)
{
    float few = time(SHORT, place, work), many = time(LONG, place, work);
    float each = (many - few) / (LONG - SHORT);
    printf("%-7s %-12s %-12s  %7.2f us a hop, %7.2f us besides\n", how, place_names[place],
           work_names[work], each, few - (SHORT + 1) * each);
}

// What the calls cost the host.
static void print_calls()
{
    enum { CALLS = 500 };
    double start, wait, record, copy;
    for (int warm = 0; warm < 2; warm++) {
        MUST(cudaSetDevice(0));
        MUST(cudaEventRecord(hop[0][0], stream[0][0]));
        start = now_us();
        for (int i = 0; i < CALLS; i++)
            MUST(cudaStreamWaitEvent(stream[1][0], hop[0][0], 0));
        wait = (now_us() - start) / CALLS;
        MUST(cudaDeviceSynchronize());
        start = now_us();
        for (int i = 0; i < CALLS; i++)
            MUST(cudaEventRecord(hop[0][0], stream[0][0]));
        record = (now_us() - start) / CALLS;
        MUST(cudaDeviceSynchronize());
        start = now_us();
        for (int i = 0; i < CALLS; i++)
            MUST(cudaMemcpyAsync(memory[1], memory[0], 16, cudaMemcpyDefault, stream[0][0]));
        copy = (now_us() - start) / CALLS;
        MUST(cudaDeviceSynchronize());
    }
    printf("calls: wait for another GPU's event %.2f us, record %.2f us, peer copy %.2f us\n", wait,
           record, copy);
}

int main(void)
{
    make();
    print_calls();
    for (int place = 0; place < PLACES; place++)
        for (int work = 0; work < WORKS; work++) {
            print_row("streams", by_streams, (enum place)place, (enum work)work);
            print_row("graph", by_graph, (enum place)place, (enum work)work);
        }
    return 0;
}
