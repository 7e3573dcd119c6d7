/* SPDX-License-Identifier: MIT
 * collectives.h: NCCL's collectives as nccl-tests times them, one thread for all GPUs: back to back
 * by the host's clock, and in a graph on each GPU. `gpus` and `room` are set before begin().
 */
#ifndef TRUTH_COLLECTIVES_H
#define TRUTH_COLLECTIVES_H

#include "rows.h"

#include <nccl.h>

static const int MOST_GPUS = 8;
static int gpus = 2;
static size_t room; // bytes of each GPU's two buffers
static ncclComm_t comm[MOST_GPUS];
static cudaStream_t lane[MOST_GPUS];
static char *from[MOST_GPUS], *to[MOST_GPUS];

#define NCCL(call)                                                                                 \
    do {                                                                                           \
        ncclResult_t result_ = (call);                                                             \
        if (result_ != ncclSuccess) {                                                              \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                          \
                    ncclGetErrorString(result_));                                                  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

// ---- the collectives, by nccl-tests' sizes: what the largest buffer of a rank holds ----

static void all_reduce(int g, size_t bytes)
{
    NCCL(ncclAllReduce(from[g], to[g], bytes / 4, ncclFloat, ncclSum, comm[g], lane[g]));
}

static void all_gather(int g, size_t bytes)
{
    NCCL(ncclAllGather(from[g], to[g], bytes / 4 / gpus, ncclFloat, comm[g], lane[g]));
}

static void reduce_scatter(int g, size_t bytes)
{
    size_t count = bytes / 4 / gpus;
    NCCL(ncclReduceScatter(from[g], to[g], count, ncclFloat, ncclSum, comm[g], lane[g]));
}

static void reduce(int g, size_t bytes)
{
    NCCL(ncclReduce(from[g], to[g], bytes / 4, ncclFloat, ncclSum, 0, comm[g], lane[g]));
}

static void broadcast(int g, size_t bytes)
{
    NCCL(ncclBroadcast(from[g], to[g], bytes / 4, ncclFloat, 0, comm[g], lane[g]));
}

static void all_to_all(int g, size_t bytes)
{
    size_t block = bytes / gpus;
    for (int peer = 0; peer < gpus; peer++) {
        NCCL(ncclSend(from[g] + peer * block, block, ncclInt8, peer, comm[g], lane[g]));
        NCCL(ncclRecv(to[g] + peer * block, block, ncclInt8, peer, comm[g], lane[g]));
    }
}

static void send_recv(int g, size_t bytes) // around the ring
{
    int left = (g + gpus - 1) % gpus, right = (g + 1) % gpus;
    NCCL(ncclSend(from[g], bytes, ncclInt8, right, comm[g], lane[g]));
    NCCL(ncclRecv(to[g], bytes, ncclInt8, left, comm[g], lane[g]));
}

struct collective {
    const char *name;
    void (*call)(int gpu, size_t bytes);
};
static const collective COLLECTIVES[] = {
    {"all_reduce", all_reduce}, {"all_gather", all_gather}, {"reduce_scatter", reduce_scatter},
    {"broadcast", broadcast},   {"reduce", reduce},         {"all_to_all", all_to_all},
    {"send_recv", send_recv}};

static void on_all(const collective &c, size_t bytes)
{
    NCCL(ncclGroupStart());
    for (int g = 0; g < gpus; g++)
        c.call(g, bytes);
    NCCL(ncclGroupEnd());
}

static void wait_all()
{
    for (int g = 0; g < gpus; g++) {
        CHECK(cudaSetDevice(g));
        CHECK(cudaStreamSynchronize(lane[g]));
    }
}

// ---- timing ----

static int turns_of(size_t bytes)
{
    if (VIRTUAL)
        return bytes <= 64 * KIB ? 24 : bytes <= MIB ? 6 : 2;
    return bytes <= MIB ? 40 : bytes <= 64 * MIB ? 16 : 4;
}

static double once(const collective &c, size_t bytes)
{
    int turns = turns_of(bytes);
    wait_all();
    double begin = host_us();
    for (int i = 0; i < turns; i++)
        on_all(c, bytes);
    wait_all();
    return (host_us() - begin) / turns;
}

// The best of five rounds, as nccl-tests averages of a quiet machine.
static double calls(const collective &c, size_t bytes)
{
    if (!VIRTUAL)
        on_all(c, bytes); // a warm-up
    double best = once(c, bytes);
    for (int i = 0; i < (VIRTUAL ? 0 : 4); i++)
        best = std::min(best, once(c, bytes));
    return best;
}

// The graphs of `turns` calls, one on each GPU, between two events; on the last GPU, which is
// launched last and waits for nobody. In us, the least of several.
static double replayed(const collective &c, size_t bytes, int turns)
{
    static cudaEvent_t start[MOST_GPUS], stop[MOST_GPUS];
    cudaGraphExec_t exec[MOST_GPUS];
    for (int g = 0; g < gpus; g++) {
        CHECK(cudaSetDevice(g));
        if (!start[g])
            CHECK(cudaEventCreate(&start[g]));
        if (!stop[g])
            CHECK(cudaEventCreate(&stop[g]));
        CHECK(cudaStreamBeginCapture(lane[g], cudaStreamCaptureModeRelaxed));
    }
    for (int i = 0; i < turns; i++)
        on_all(c, bytes);
    for (int g = 0; g < gpus; g++) {
        cudaGraph_t captured;
        CHECK(cudaSetDevice(g));
        CHECK(cudaStreamEndCapture(lane[g], &captured));
        CHECK(cudaGraphInstantiate(&exec[g], captured, 0));
        CHECK(cudaGraphDestroy(captured));
    }
    double least = 0;
    for (int i = 0; i < (VIRTUAL ? 1 : 6); i++) {
        for (int g = 0; g < gpus; g++) {
            CHECK(cudaSetDevice(g));
            CHECK(cudaEventRecord(start[g], lane[g]));
            CHECK(cudaGraphLaunch(exec[g], lane[g]));
            CHECK(cudaEventRecord(stop[g], lane[g]));
        }
        wait_all();
        float ms;
        CHECK(cudaEventElapsedTime(&ms, start[gpus - 1], stop[gpus - 1]));
        least =
            i == 0 ? static_cast<double>(ms) * 1e3 : std::min(least, static_cast<double>(ms) * 1e3);
    }
    for (int g = 0; g < gpus; g++)
        CHECK(cudaGraphExecDestroy(exec[g]));
    return least;
}

// A call in a graph. The launch of a graph is spread over 4 to 40 calls on real GPUs, and left out
// on the virtual node, where a call costs the host more.
static double graph(const collective &c, size_t bytes)
{
    if (VIRTUAL)
        return replayed(c, bytes, 2) - replayed(c, bytes, 1);
    return replayed(c, bytes, turns_of(bytes)) / turns_of(bytes);
}

static void begin()
{
    int list[MOST_GPUS];
    for (int g = 0; g < gpus; g++) {
        list[g] = g;
        CHECK(cudaSetDevice(g));
        CHECK(cudaStreamCreateWithFlags(&lane[g], cudaStreamNonBlocking));
        CHECK(cudaMalloc(&from[g], room));
        CHECK(cudaMalloc(&to[g], room));
        CHECK(cudaMemset(from[g], 0, room));
    }
    NCCL(ncclCommInitAll(comm, gpus, list));
}

static void end()
{
    for (int g = 0; g < gpus; g++) {
        NCCL(ncclCommDestroy(comm[g]));
        CHECK(cudaSetDevice(g));
        CHECK(cudaFree(from[g]));
        CHECK(cudaFree(to[g]));
        CHECK(cudaStreamDestroy(lane[g]));
    }
}

#endif
