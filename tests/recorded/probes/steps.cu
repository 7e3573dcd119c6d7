// SPDX-License-Identifier: MIT
// steps.cu: what a step of a ring takes, by its bytes: chains of copies from GPU to GPU, without
// and with adding in between, one chain alone and as many as GPUs at once; and what launching a
// graph of them costs the host. The time of a step is the slope between a short and a long chain.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MUST(call) must((call), #call, __LINE__)

enum kind { FORWARD, TOUCH, ADD, KERNELS, STAY, STAY_ADD, KINDS };
static const char *const kind_names[] = {
    "forward",            // copy to the next GPU, which copies to its next, ...
    "forward, touch",     // an empty kernel there in between
    "forward, add",       // a kernel that adds what came in
    "kernels",            // an empty kernel, then one on the next GPU, ...
    "copies of one GPU",  // one stream, nothing waits for another GPU
    "adding of one GPU"}; // one stream, the inbox and the chunk as they are

enum { GPUS = 4, SHORT = 4, LONG = 20, REPEATS = 15, THREADS = 256, BLOCKS = 2048 };
static const size_t MOST = (size_t)64 << 20;

static cudaStream_t stream[GPUS];
static cudaEvent_t sent[GPUS], begun, over[GPUS], from, to;
static char *chunk[GPUS], *inbox[GPUS][2];

static void must(cudaError_t error, const char *call, int line)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "steps.cu:%d: %s: %s\n", line, call, cudaGetErrorString(error));
    exit(1);
}

static __global__ void nothing() {}

static __global__ void spin(long long cycles)
{
    long long start = clock64();
    while (clock64() - start < cycles)
        ;
}

// Lab 07's ring_reduce.
static __global__ void add(float *dst, const float *src, size_t count)
{
    size_t stride = (size_t)gridDim.x * THREADS;
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += stride)
        dst[i] = dst[i] + src[i];
}

static double now_us()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static void make(int n)
{
    for (int g = 0; g < n; g++) {
        MUST(cudaSetDevice(g));
        for (int p = 0; p < n; p++)
            if (p != g)
                MUST(cudaDeviceEnablePeerAccess(p, 0));
        MUST(cudaMalloc((void **)&chunk[g], MOST));
        MUST(cudaMalloc((void **)&inbox[g][0], MOST));
        MUST(cudaMalloc((void **)&inbox[g][1], MOST));
        MUST(cudaStreamCreateWithFlags(&stream[g], cudaStreamNonBlocking));
        MUST(cudaEventCreateWithFlags(&sent[g], cudaEventDisableTiming));
        MUST(cudaEventCreateWithFlags(&over[g], cudaEventDisableTiming));
    }
    MUST(cudaSetDevice(0));
    MUST(cudaEventCreateWithFlags(&begun, cudaEventDisableTiming));
    MUST(cudaEventCreate(&from));
    MUST(cudaEventCreate(&to));
}

static void queue_add(int g, int step, size_t bytes, enum kind kind)
{
    MUST(cudaSetDevice(g));
    size_t count = bytes / 4, blocks = (count + THREADS - 1) / THREADS;
    if (kind == ADD || kind == STAY_ADD)
        add<<<(int)(blocks < BLOCKS ? blocks : BLOCKS), THREADS, 0, stream[g]>>>(
            (float *)chunk[g], (const float *)inbox[g][step % 2], count);
    else
        nothing<<<1, 1, 0, stream[g]>>>();
}

// Chain c is at GPU (c + step) % n.
static void queue_step(int n, int chains, int step, size_t bytes, enum kind kind)
{
    bool stays = kind == STAY || kind == STAY_ADD;
    for (int c = 0; c < chains; c++) {
        int g = stays ? c : (c + step) % n, next = (g + 1) % n;
        if (kind == KERNELS || kind == STAY_ADD)
            queue_add(g, step, bytes, kind);
        else
            MUST(cudaMemcpyAsync(inbox[next][step % 2], chunk[g], bytes, cudaMemcpyDefault,
                                 stream[g]));
        if (!stays)
            MUST(cudaEventRecord(sent[g], stream[g]));
    }
    for (int c = 0; c < chains && !stays; c++) {
        int g = (c + step) % n, next = (g + 1) % n;
        MUST(cudaStreamWaitEvent(stream[next], sent[g], 0));
        if (kind == ADD || kind == TOUCH)
            queue_add(next, step, bytes, kind);
    }
}

static void queue(int n, int chains, int steps, size_t bytes, enum kind kind)
{
    MUST(cudaEventRecord(begun, stream[0]));
    for (int g = 1; g < n; g++)
        MUST(cudaStreamWaitEvent(stream[g], begun, 0));
    for (int step = 0; step < steps; step++)
        queue_step(n, chains, step, bytes, kind);
    for (int g = 1; g < n; g++) {
        MUST(cudaEventRecord(over[g], stream[g]));
        MUST(cudaStreamWaitEvent(stream[0], over[g], 0));
    }
}

static double elapsed(double best)
{
    float ms;
    MUST(cudaEventSynchronize(to));
    MUST(cudaEventElapsedTime(&ms, from, to));
    return ms * 1e3 < best ? ms * 1e3 : best;
}

// Queued behind a kernel that is longer than the queueing.
static double by_streams(int n, int chains, int steps, size_t bytes, enum kind kind)
{
    double best = 1e9;
    for (int run = 0; run < REPEATS; run++) {
        MUST(cudaSetDevice(0));
        spin<<<1, 1, 0, stream[0]>>>(2000000);
        MUST(cudaEventRecord(from, stream[0]));
        queue(n, chains, steps, bytes, kind);
        MUST(cudaSetDevice(0));
        MUST(cudaEventRecord(to, stream[0]));
        best = elapsed(best);
    }
    return best;
}

static cudaGraphExec_t capture(int n, int chains, int steps, size_t bytes, enum kind kind)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    MUST(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeThreadLocal));
    queue(n, chains, steps, bytes, kind);
    MUST(cudaStreamEndCapture(stream[0], &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaSetDevice(0));
    return exec;
}

// `call`: what the launching call takes the host; `again`: each of ten launches in a row.
static double by_graph(int n, int chains, int steps, size_t bytes, enum kind kind, double *call,
                       double *again)
{
    cudaGraphExec_t exec = capture(n, chains, steps, bytes, kind);
    double best = 1e9;
    *call = *again = 1e9;
    for (int run = 0; run < REPEATS; run++) {
        MUST(cudaEventRecord(from, stream[0]));
        double start = now_us();
        MUST(cudaGraphLaunch(exec, stream[0]));
        double took = now_us() - start;
        *call = took < *call ? took : *call;
        MUST(cudaEventRecord(to, stream[0]));
        best = elapsed(best);
    }
    for (int run = 0; run < 3; run++) {
        MUST(cudaEventRecord(from, stream[0]));
        for (int i = 0; i < 10; i++)
            MUST(cudaGraphLaunch(exec, stream[0]));
        MUST(cudaEventRecord(to, stream[0]));
        *again = elapsed(*again * 10) / 10;
    }
    MUST(cudaGraphExecDestroy(exec));
    return best;
}

static void print_row(int n, int chains, size_t bytes, enum kind kind)
{
    double few_call, many_call, few_again, many_again;
    double few = by_streams(n, chains, SHORT, bytes, kind);
    double many = by_streams(n, chains, LONG, bytes, kind), steps = LONG - SHORT;
    double few_g = by_graph(n, chains, SHORT, bytes, kind, &few_call, &few_again);
    double many_g = by_graph(n, chains, LONG, bytes, kind, &many_call, &many_again);
    double each = (many - few) / steps, each_g = (many_g - few_g) / steps;
    printf("%d GPUs %d chains %8zu bytes  %-18s streams %7.2f + %6.2f  graph %7.2f + %6.2f  "
           "call %6.2f + %6.2f  again %7.2f + %6.2f\n",
           n, chains, bytes, kind_names[kind], each, few - SHORT * each, each_g,
           few_g - SHORT * each_g, (many_call - few_call) / steps,
           few_call - SHORT * (many_call - few_call) / steps, (many_again - few_again) / steps,
           few_again - SHORT * (many_again - few_again) / steps);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {16, 65536, 131072, 262144, 1048576, 4194304, 16777216, 67108864};
    int n = argc > 1 ? atoi(argv[1]) : GPUS;
    make(n);
    printf("# us a step + us besides; call: of cudaGraphLaunch; again: of ten launches in a row\n");
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int chains = 1; chains <= n; chains += n - 1)
                if (kind != KERNELS || i == 0)
                    print_row(n, chains, sizes[i], (enum kind)kind);
    return 0;
}
