// SPDX-License-Identifier: MIT
// 04.cu: timings on four GPUs, chosen before any of them was asked of a machine: NCCL's collectives
// on three and four GPUs at sizes that no sweep has, several GPUs and the host, rings and graphs of
// copies. rounds.py predicts and measures.
enum { GPUS = 4 };
#include "../collectives.h"
#include "round.h"

// ---- collectives ----

static void in_graph(int number, void (*call)(int, size_t), const char *name, size_t bytes)
{
    row(graph({name, call}, bytes), "nccl.%s.%d.%zu.us", name, number, bytes);
}

static void collectives_of(int number)
{
    gpus = number;
    room = 160000000;
    begin();
    if (number == 3) {
        for (size_t bytes : {6000, 300000, 3000000, 39000000, 150000000})
            in_graph(3, all_reduce, "all_reduce", bytes);
        for (size_t bytes : {720000, 30000000})
            in_graph(3, reduce_scatter, "reduce_scatter", bytes);
        for (size_t bytes : {100000, 50000000})
            in_graph(3, broadcast, "broadcast", bytes);
        for (size_t bytes : {96000, 60000000})
            in_graph(3, all_to_all, "all_to_all", bytes);
        in_graph(3, reduce, "reduce", 12000000);
    } else {
        for (size_t bytes : {40000, 1500000, 90000000})
            in_graph(4, all_reduce, "all_reduce", bytes);
        for (size_t bytes : {24000, 5000000, 120000000})
            in_graph(4, all_gather, "all_gather", bytes);
        in_graph(4, all_to_all, "all_to_all", 6000000);
        in_graph(4, send_recv, "send_recv", 2000000);
        in_graph(4, reduce_scatter, "reduce_scatter", 200000);
        for (size_t bytes : {3000, 20000000})
            row(calls({"", all_reduce}, bytes), "nccl.all_reduce.4.calls.%zu.us", bytes);
    }
    end();
}

// ---- copies with the host ----

static char *block[GPUS], *other[GPUS], *host;
static cudaStream_t back[GPUS];
static const size_t MB = 1000000;

static void copy(void *to, const void *from, size_t bytes, int gpu, cudaStream_t s)
{
    CHECK(cudaSetDevice(gpu));
    CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, s));
}

static void after(cudaStream_t waits, int waiting, cudaStream_t first, int gpu)
{
    CHECK(cudaSetDevice(gpu));
    CHECK(cudaEventRecord(join[gpu], first));
    CHECK(cudaSetDevice(waiting));
    CHECK(cudaStreamWaitEvent(waits, join[gpu], 0));
}

// `work` queues on all GPUs' streams; they begin and end together.
static double together(const std::function<void()> &work)
{
    return on_gpu([&] {
        for (int g = 0; g < GPUS; g++) {
            if (g > 0)
                after(stream[g], g, stream[0], 0);
            after(back[g], g, stream[0], 0);
        }
        work();
        for (int g = 0; g < GPUS; g++) {
            if (g > 0)
                after(stream[0], 0, stream[g], g);
            after(stream[0], 0, back[g], g);
        }
    });
}

// Each GPU of `from` copies to the host, each of `to` from it.
static void with_host(std::initializer_list<int> from, std::initializer_list<int> to, size_t bytes,
                      const char *name)
{
    double us = together([&] {
        for (int g : from)
            copy(host + g * bytes, block[g], bytes, g, stream[g]);
        for (int g : to)
            copy(other[g], host + (GPUS + g) * bytes, bytes, g, back[g]);
    });
    row(gbs(bytes * (from.size() + to.size()), us), "host.%s.gbs", name);
}

static void host_copies()
{
    with_host({0, 1, 2}, {}, 40 * MB, "from_three.40MB");
    with_host({}, {1, 2, 3}, 40 * MB, "to_three.40MB");
    with_host({3}, {0, 1, 2}, 20 * MB, "from_one_to_three.20MB");
    with_host({2}, {2}, 30 * MB, "both_ways.30MB");
    with_host({0, 2}, {0, 2}, 12 * MB, "both_ways_of_two.12MB");
    with_host({0, 1, 2, 3}, {}, 6 * MB, "from_four.6MB");
}

// ---- peers, rings, graphs ----

__global__ void add(float *to, const float *from, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        to[i] += from[i];
}

// A reduce-scatter around `number` GPUs, n numbers each, by copies, events and additions.
static void around(int number, int n)
{
    int chunk = n / number;
    for (int step = 0; step < number - 1; step++) {
        for (int g = 0; g < number; g++) {
            int which = ((g - step) % number + number) % number, next = (g + 1) % number;
            copy((float *)other[next] + which * chunk, (float *)block[g] + which * chunk,
                 chunk * sizeof(float), g, stream[g]);
            CHECK(cudaEventRecord(last[g], stream[g]));
        }
        for (int g = 0; g < number; g++) {
            int left = (g + number - 1) % number;
            int which = ((left - step) % number + number) % number;
            CHECK(cudaSetDevice(g));
            CHECK(cudaStreamWaitEvent(stream[g], last[left], 0));
            add<<<264, 256, 0, stream[g]>>>((float *)block[g] + which * chunk,
                                            (float *)other[g] + which * chunk, chunk);
        }
    }
}

static void peers()
{
    row(together([] {
            copy(other[3], block[1], 12 * MB, 1, stream[1]);
            copy(other[1], block[3], 12 * MB, 3, stream[3]);
        }),
        "peer.both_ways.12MB.us");
    row(together([] {
            for (int g = 0; g < GPUS; g++)
                copy(other[(g + 3) % GPUS], block[g], 6 * MB, g, stream[g]);
        }),
        "peer.around.6MB.us");
    row(on_host([] {
            CHECK(cudaSetDevice(0));
            CHECK(cudaMemcpyPeerAsync(other[1], 1, block[0], 0, 2 * MB, nullptr));
            CHECK(cudaStreamSynchronize(nullptr));
        }),
        "call.default_stream.2MB.us");
    row(together([] { around(3, 300000); }), "ring.three.1200KB.us");
    row(together([] { around(4, 20000); }), "ring.four.80KB.us");
    row(together([] { around(4, 4000000); }), "ring.four.16MB.us");
    cudaGraph_t captured;
    cudaGraphExec_t exec;
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeGlobal));
    for (int g = 1; g < 3; g++)
        wait_for(g, 0);
    around(3, 1500000);
    for (int g = 1; g < 3; g++)
        wait_for(0, g);
    CHECK(cudaStreamEndCapture(stream[0], &captured));
    CHECK(cudaGraphInstantiate(&exec, captured, 0));
    row(on_host([&] {
            CHECK(cudaSetDevice(0));
            CHECK(cudaGraphLaunch(exec, stream[0]));
            CHECK(cudaStreamSynchronize(stream[0]));
        }),
        "ring.graph.three.6MB.us");
}

int main()
{
    set_up();
    for (int g = 0; g < GPUS; g++) {
        block[g] = on<char>(g, 40 * MB);
        other[g] = on<char>(g, 40 * MB);
        CHECK(cudaSetDevice(g));
        CHECK(cudaStreamCreateWithFlags(&back[g], cudaStreamNonBlocking));
    }
    CHECK(cudaMallocHost(&host, 8 * 40 * MB));
    host_copies();
    peers();
    collectives_of(3);
    collectives_of(4);
    return 0;
}
