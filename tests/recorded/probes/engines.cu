// SPDX-License-Identifier: MIT
// engines.cu: how many copies of one kind a GPU carries out at a time, and what caches keep.
// Copies of equal size, each in a stream of its own, held back by one kernel: copies that take
// place one after the other end one after the other. Then kernels that read an array over and over.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define MUST(call) must((call), #call, __LINE__)

enum kind { UP, DOWN, PEER, PEERS, PULL, FAN_IN, LOCAL, BOTH_WAYS, ALL_WAYS, KINDS };
static const char *const kind_names[] = {"from host",
                                         "to host",
                                         "to one peer",
                                         "to all peers",
                                         "from a peer",
                                         "by peers",
                                         "inside",
                                         "from and to host, in turn",
                                         "from host, to host, to a peer, inside, in turn"};

enum { GPUS = 4, COPIES = 8 };
static const size_t BYTES = (size_t)64 << 20;

static cudaStream_t stream[GPUS][COPIES];
static cudaEvent_t begun, end[GPUS][COPIES];
static char *memory[GPUS], *host[COPIES];
static int gpus, repeats = 5;

static void must(cudaError_t error, const char *call, int line)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "engines.cu:%d: %s: %s\n", line, call, cudaGetErrorString(error));
    exit(1);
}

static __global__ void spin(long long cycles)
{
    long long start = clock64();
    while (clock64() - start < cycles)
        ;
}

static void make()
{
    MUST(cudaGetDeviceCount(&gpus));
    gpus = gpus < GPUS ? gpus : GPUS;
    for (int g = 0; g < gpus; g++) {
        MUST(cudaSetDevice(g));
        for (int p = 0; p < gpus; p++)
            if (p != g)
                MUST(cudaDeviceEnablePeerAccess(p, 0));
        MUST(cudaMalloc((void **)&memory[g], 2 * COPIES * BYTES));
        for (int i = 0; i < COPIES; i++) {
            MUST(cudaStreamCreateWithFlags(&stream[g][i], cudaStreamNonBlocking));
            MUST(cudaEventCreate(&end[g][i]));
        }
    }
    for (int i = 0; i < COPIES; i++)
        MUST(cudaMallocHost((void **)&host[i], BYTES));
    MUST(cudaSetDevice(0));
    MUST(cudaEventCreate(&begun));
}

static void queue_one(enum kind kind, int i)
{
    char *mine = memory[0] + (size_t)i * BYTES, *other = mine + COPIES * BYTES;
    char *theirs =
        memory[kind == PEERS || kind == FAN_IN ? 1 + i % (gpus - 1) : 1] + (size_t)i * BYTES;
    static const enum kind turns[] = {UP, DOWN, PEER, LOCAL};
    if (kind == BOTH_WAYS || kind == ALL_WAYS)
        kind = turns[i % (kind == BOTH_WAYS ? 2 : 4)];
    char *to = kind == DOWN ? host[i] : kind == PEER || kind == PEERS ? theirs : mine;
    char *from = kind == UP                       ? host[i]
                 : kind == PULL || kind == FAN_IN ? theirs
                 : kind == LOCAL                  ? other
                                                  : mine;
    int g = kind == FAN_IN ? 1 + i % (gpus - 1) : 0;
    MUST(cudaStreamWaitEvent(stream[g][i], begun, 0));
    MUST(cudaMemcpyAsync(to, from, BYTES, cudaMemcpyDefault, stream[g][i]));
    if (g != 0) // timed by GPU 0
        MUST(cudaEventRecord(end[g][i], stream[g][i]));
    if (g != 0)
        MUST(cudaStreamWaitEvent(stream[0][i], end[g][i], 0));
    MUST(cudaEventRecord(end[0][i], stream[0][i]));
}

static void print_ends(enum kind kind, int copies)
{
    float best[COPIES] = {0};
    for (int run = 0; run < repeats; run++) {
        spin<<<1, 1, 0, stream[0][0]>>>(1000000);
        MUST(cudaEventRecord(begun, stream[0][0]));
        for (int i = 0; i < copies; i++)
            queue_one(kind, i);
        MUST(cudaDeviceSynchronize());
        float ms, last[COPIES];
        for (int i = 0; i < copies; i++) {
            MUST(cudaEventElapsedTime(&ms, begun, end[0][i]));
            last[i] = ms;
        }
        float a = 0, b = 0;
        for (int i = 0; i < copies; i++) {
            a += last[i];
            b += best[i];
        }
        if (run == 0 || a < b)
            for (int i = 0; i < copies; i++)
                best[i] = last[i];
    }
    printf("%d copies %s, end after us:", copies, kind_names[kind]);
    for (int i = 0; i < copies; i++)
        printf(" %.0f", best[i] * 1e3);
    printf("\n");
    fflush(stdout);
}

// ---- caches ----

static __device__ float kept;

// The whole grid reads the array together, `passes` times; L2: what L1 holds is not used.
template <bool L2> static __global__ void together(const float *a, size_t count, int passes)
{
    float sum = 0;
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (int p = 0; p < passes; p++)
        for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
            sum += L2 ? __ldcg(a + i) : a[i];
    if (sum == 12345.0f)
        kept = sum;
}

// Every block reads all of the array.
static __global__ void each_block(const float *a, size_t count, int passes)
{
    float sum = 0;
    for (int p = 0; p < passes; p++)
        for (size_t i = threadIdx.x; i < count; i += blockDim.x)
            sum += __ldcg(a + i);
    if (sum == 12345.0f)
        kept = sum;
}

enum reader { TOGETHER, TOGETHER_L2, EACH_BLOCK, READERS };
static const char *const reader_names[] = {"together", "together, not by L1", "each block"};

static double read_us(enum reader reader, const float *a, size_t count, int passes, int blocks)
{
    float ms, best = 1e9f;
    for (int run = 0; run < repeats; run++) {
        MUST(cudaEventRecord(begun, stream[0][0]));
        if (reader == TOGETHER)
            together<false><<<blocks, 512, 0, stream[0][0]>>>(a, count, passes);
        else if (reader == TOGETHER_L2)
            together<true><<<blocks, 512, 0, stream[0][0]>>>(a, count, passes);
        else
            each_block<<<blocks, 512, 0, stream[0][0]>>>(a, count, passes);
        MUST(cudaEventRecord(end[0][0], stream[0][0]));
        MUST(cudaEventSynchronize(end[0][0]));
        MUST(cudaEventElapsedTime(&ms, begun, end[0][0]));
        best = ms < best ? ms : best;
    }
    return best * 1e3;
}

static void print_reads(const char *whose, const float *a, enum reader reader, size_t bytes)
{
    const int blocks = 528;
    const size_t total = (size_t)1 << 30;
    size_t at_once = reader == EACH_BLOCK ? bytes * blocks : bytes;
    int passes = at_once < total ? (int)(total / at_once) : 1;
    double us = read_us(reader, a, bytes / 4, passes, blocks);
    printf("%s memory, %6.2f MiB, %-20s %4d times: %8.1f us, %7.0f GB/s\n", whose,
           (double)bytes / (1 << 20), reader_names[reader], passes, us,
           (double)at_once * passes / us / 1e3);
    fflush(stdout);
}

static void print_caches()
{
    static const double mib[] = {0.25, 1, 4, 8, 16, 24, 32, 48, 64, 128, 256};
    for (int reader = 0; reader < READERS; reader++)
        for (size_t i = 0; i < sizeof mib / sizeof *mib; i++)
            print_reads("own", (const float *)memory[0], (enum reader)reader,
                        (size_t)(mib[i] * (1 << 20)));
    for (int reader = 1; reader < READERS; reader++)
        for (size_t i = 0; i < 9; i += 2)
            print_reads("a peer's", (const float *)memory[1], (enum reader)reader,
                        (size_t)(mib[i] * (1 << 20)));
}

// "copies": once, and without the caches, for a clock that says the same every time.
int main(int argc, char **)
{
    make();
    repeats = argc == 1 ? repeats : 1;
    for (int kind = 0; kind < KINDS; kind++)
        for (int copies = 1; copies <= COPIES; copies += copies < 4 ? 1 : 4)
            print_ends((enum kind)kind, copies);
    if (argc == 1)
        print_caches();
    return 0;
}
