// SPDX-License-Identifier: MIT
// nccl.cu: NCCL's collectives as nccl-tests sweeps them, one thread for all GPUs: `calls` is back
// to back by the host's clock, `graph` a graph on each GPU. In us per call.
//     truth-nccl [GPUS [MOST]] [SIZE ...]
// MOST: the greatest size in bytes (default 1 GiB); sizes: these, instead of all powers of two.
#include "rows.h"

#include <nccl.h>

static const int MOST_GPUS = 8;
static const size_t LEAST = 8;
static int gpus = 2;
static ncclComm_t comm[MOST_GPUS];
static cudaStream_t stream[MOST_GPUS];
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
    NCCL(ncclAllReduce(from[g], to[g], bytes / 4, ncclFloat, ncclSum, comm[g], stream[g]));
}

static void all_gather(int g, size_t bytes)
{
    NCCL(ncclAllGather(from[g], to[g], bytes / 4 / gpus, ncclFloat, comm[g], stream[g]));
}

static void reduce_scatter(int g, size_t bytes)
{
    size_t count = bytes / 4 / gpus;
    NCCL(ncclReduceScatter(from[g], to[g], count, ncclFloat, ncclSum, comm[g], stream[g]));
}

static void broadcast(int g, size_t bytes)
{
    NCCL(ncclBroadcast(from[g], to[g], bytes / 4, ncclFloat, 0, comm[g], stream[g]));
}

static void all_to_all(int g, size_t bytes)
{
    size_t block = bytes / gpus;
    for (int peer = 0; peer < gpus; peer++) {
        NCCL(ncclSend(from[g] + peer * block, block, ncclInt8, peer, comm[g], stream[g]));
        NCCL(ncclRecv(to[g] + peer * block, block, ncclInt8, peer, comm[g], stream[g]));
    }
}

static void send_recv(int g, size_t bytes) // around the ring
{
    int left = (g + gpus - 1) % gpus, right = (g + 1) % gpus;
    NCCL(ncclSend(from[g], bytes, ncclInt8, right, comm[g], stream[g]));
    NCCL(ncclRecv(to[g], bytes, ncclInt8, left, comm[g], stream[g]));
}

static const struct collective {
    const char *name;
    void (*call)(int gpu, size_t bytes);
} COLLECTIVES[] = {{"all_reduce", all_reduce},         {"all_gather", all_gather},
                   {"reduce_scatter", reduce_scatter}, {"broadcast", broadcast},
                   {"all_to_all", all_to_all},         {"send_recv", send_recv}};

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
        CHECK(cudaStreamSynchronize(stream[g]));
    }
}

// ---- timing ----

static int turns_of(size_t bytes)
{
    if (VIRTUAL)
        return bytes <= MIB ? 8 : 2;
    return bytes <= MIB ? 40 : bytes <= 64 * MIB ? 16 : 4;
}

static double calls(const collective &c, size_t bytes)
{
    int turns = turns_of(bytes);
    wait_all();
    double begin = host_us();
    for (int i = 0; i < turns; i++)
        on_all(c, bytes);
    wait_all();
    return (host_us() - begin) / turns;
}

// Each GPU replays its own graph of `turns` calls between two events; the slowest GPU counts.
static double graph(const collective &c, size_t bytes)
{
    static cudaEvent_t start[MOST_GPUS], stop[MOST_GPUS];
    cudaGraphExec_t exec[MOST_GPUS];
    int turns = turns_of(bytes);
    for (int g = 0; g < gpus; g++) {
        CHECK(cudaSetDevice(g));
        if (!start[g]) {
            CHECK(cudaEventCreate(&start[g]));
            CHECK(cudaEventCreate(&stop[g]));
        }
        CHECK(cudaStreamBeginCapture(stream[g], cudaStreamCaptureModeRelaxed));
    }
    for (int i = 0; i < turns; i++)
        on_all(c, bytes);
    for (int g = 0; g < gpus; g++) {
        cudaGraph_t captured;
        CHECK(cudaSetDevice(g));
        CHECK(cudaStreamEndCapture(stream[g], &captured));
        CHECK(cudaGraphInstantiate(&exec[g], captured, 0));
        CHECK(cudaGraphDestroy(captured));
    }
    auto replay = [&] {
        for (int g = 0; g < gpus; g++) {
            CHECK(cudaSetDevice(g));
            CHECK(cudaEventRecord(start[g], stream[g]));
            CHECK(cudaGraphLaunch(exec[g], stream[g]));
            CHECK(cudaEventRecord(stop[g], stream[g]));
        }
        wait_all();
        float ms;
        CHECK(cudaEventElapsedTime(&ms, start[gpus - 1], stop[gpus - 1]));
        return static_cast<double>(ms) * 1e3 / turns;
    };
    double least = replay(); // the last GPU was launched last, and waited for nobody
    for (int i = 0; i < (VIRTUAL ? 1 : 5); i++)
        least = std::min(least, replay());
    for (int g = 0; g < gpus; g++)
        CHECK(cudaGraphExecDestroy(exec[g]));
    return least;
}

static void measure(size_t bytes)
{
    for (const collective &c : COLLECTIVES) {
        if (c.call != all_reduce && c.call != broadcast && c.call != send_recv && bytes < 4u * gpus)
            continue;
        on_all(c, bytes);
        double best = calls(c, bytes);
        for (int i = 0; i < (VIRTUAL ? 0 : 4); i++)
            best = std::min(best, calls(c, bytes));
        row(best, "nccl.%s.%d.calls.%zu.us", c.name, gpus, bytes);
        row(graph(c, bytes), "nccl.%s.%d.graph.%zu.us", c.name, gpus, bytes);
    }
}

int main(int count, char **words)
{
    int list[MOST_GPUS];
    gpus = count > 1 ? atoi(words[1]) : 2;
    size_t most = count > 2 ? strtoull(words[2], nullptr, 10) : 1024 * MIB;
    for (int g = 0; g < gpus; g++) {
        list[g] = g;
        CHECK(cudaSetDevice(g));
        CHECK(cudaStreamCreateWithFlags(&stream[g], cudaStreamNonBlocking));
        CHECK(cudaMalloc(&from[g], most));
        CHECK(cudaMalloc(&to[g], most));
        CHECK(cudaMemset(from[g], 0, most));
    }
    NCCL(ncclCommInitAll(comm, gpus, list));
    for (int i = 3; i < count; i++)
        measure(strtoull(words[i], nullptr, 10));
    for (size_t bytes = LEAST; count <= 3 && bytes <= most; bytes *= 2)
        measure(bytes);
    for (int g = 0; g < gpus; g++)
        NCCL(ncclCommDestroy(comm[g]));
    return 0;
}
