// SPDX-License-Identifier: MIT
// 09.cu: timings on four GPUs, chosen before any of them was asked of a machine: lab 05's ring of
// two processes, calls on events that processes share, copies, rings in graphs and in streams,
// stencils, kernels. rounds.py predicts and measures.
enum { GPUS = 4 };
#include "lab05.h"
#include "round.h"

#include <cstring>

#define main main_of_stencil
#include "../stencil.cu"
#undef main

static const size_t MB = 1000000, KB = 1000;
static char *block[GPUS], *other[GPUS], *host;

// ---- two processes ----

static const size_t MOST_SENT = 6 * MB;

static void there_and_back(struct ring *ring, int rank, char *data, size_t bytes)
{
    size_t got;
    if (rank == 0)
        LAB(ring_put(ring, data, bytes));
    LAB(ring_take(ring, data, MOST_SENT, &got));
    if (rank == 1)
        LAB(ring_put(ring, data, bytes));
    CHECK(cudaStreamSynchronize(ring->stream));
}

static int of_rank(struct peers *peers, void *)
{
    const int ROUNDS = 12;
    struct ring ring;
    char *data;
    LAB(ring_open(&ring, peers, MOST_SENT));
    CHECK(cudaMalloc(&data, MOST_SENT));
    for (size_t bytes : {24 * KB, 900 * KB, MOST_SENT}) {
        double us = median([&] {
            double begin = host_us();
            for (int i = 0; i < ROUNDS; i++)
                there_and_back(&ring, peers->rank, data, bytes);
            return (host_us() - begin) / ROUNDS;
        });
        if (peers->rank == 0)
            row(us, "ipc.there_and_back.%zuKB.us", bytes / KB);
    }
    LAB(ipc_close(&ring));
    CHECK(cudaFree(data));
    return 0;
}

// ---- copies ----

static void copy(void *to, const void *from, size_t bytes, int gpu)
{
    CHECK(cudaSetDevice(gpu));
    CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream[gpu]));
}

static void fork_and_join(int gpus, const std::function<void()> &work)
{
    for (int g = 1; g < gpus; g++)
        wait_for(g, 0);
    work();
    for (int g = 1; g < gpus; g++)
        wait_for(0, g);
}

static double together(const std::function<void()> &work)
{
    return on_gpu([&] { fork_and_join(GPUS, work); });
}

static void copies()
{
    static char plain[500 * KB];
    memset(plain, 1, sizeof plain);
    for (size_t bytes : {7 * KB, 350 * KB, 13 * MB})
        row(on_gpu([=] { copy(block[2], block[0], bytes, 0); }), "peer.%zuKB.us", bytes / KB);
    row(on_gpu([] {
            for (int i = 0; i < 30; i++)
                CHECK(cudaMemcpyPeerAsync(block[1], 1, block[0], 0, 2 * KB, stream[0]));
        }),
        "peer.30x2KB.us");
    row(on_gpu([] {
            wait_for(1, 0);
            for (int i = 0; i < 10; i++) {
                CHECK(cudaMemcpyPeerAsync(block[1], 1, block[0], 0, 90 * KB, stream[0]));
                CHECK(cudaMemcpyPeerAsync(other[0], 0, other[1], 1, 90 * KB, stream[1]));
            }
            wait_for(0, 1);
        }),
        "peer.both_ways.10x90KB.us");
    for (size_t bytes : {26 * KB, 35 * MB})
        row(on_gpu([=] { copy(host, block[0], bytes, 0); }), "host.from.%zuKB.us", bytes / KB);
    row(on_gpu([] { copy(block[0], host, 700 * KB, 0); }), "host.to.700KB.us");
    row(gbs(36 * MB, together([] {
                for (int g = 0; g < 3; g++)
                    copy(host + g * 12 * MB, block[g], 12 * MB, g);
            })),
        "host.from_three.12MB.gbs");
    row(on_host([] { CHECK(cudaMemcpy(block[0], plain, 40 * KB, cudaMemcpyHostToDevice)); }),
        "host.pageable.to.40KB.us");
    row(on_host([] { CHECK(cudaMemcpy(plain, block[0], 500 * KB, cudaMemcpyDeviceToHost)); }),
        "host.pageable.from.500KB.us");
    row(on_gpu([] { copy(other[0], block[0], 3 * MB, 0); }), "inside.3000KB.us");
}

// ---- rings ----

static __global__ void add(float *sum, const float *more, size_t count)
{
    size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
    if (i < count)
        sum[i] += more[i];
}

// In each step every GPU sends so many bytes to the next one, which adds them to its own.
static void go_round(int gpus, int steps, size_t bytes)
{
    size_t count = bytes / sizeof(float);
    for (int step = 0; step < steps; step++) {
        for (int g = 0; g < gpus; g++) {
            size_t at = static_cast<size_t>(step % 2) * 10 * MB;
            copy(other[(g + 1) % gpus] + at, block[g], bytes, g);
            CHECK(cudaEventRecord(last[g], stream[g]));
        }
        for (int g = 0; g < gpus; g++) {
            size_t at = static_cast<size_t>(step % 2) * 10 * MB;
            CHECK(cudaSetDevice(g));
            CHECK(cudaStreamWaitEvent(stream[g], last[(g + gpus - 1) % gpus], 0));
            add<<<static_cast<unsigned>((count + 255) / 256), 256, 0, stream[g]>>>(
                reinterpret_cast<float *>(block[g]), reinterpret_cast<float *>(other[g] + at),
                count);
        }
    }
}

static void ring_in_graph(int gpus, int steps, size_t bytes)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeGlobal));
    fork_and_join(gpus, [=] { go_round(gpus, steps, bytes); });
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamEndCapture(stream[0], &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    row(on_gpu([=] { CHECK(cudaGraphLaunch(exec, stream[0])); }), "ring.graph.%d.%dx%zuKB.us", gpus,
        steps, bytes / KB);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}

static void rings()
{
    ring_in_graph(4, 5, 120 * KB);
    ring_in_graph(4, 5, 3 * MB);
    ring_in_graph(3, 8, 200 * KB);
    ring_in_graph(2, 4, 9 * MB);
    row(together([] { go_round(GPUS, 5, 500 * KB); }), "ring.streams.4.5x500KB.us");
}

// ---- stencils, kernels, calls ----

static void stencils()
{
    for (parts = 1; parts <= GPUS; parts *= 2) {
        for (int g = 0; g < parts; g++)
            open_part(g, 2600 / parts);
        row(median(step_us), "stencil.2600x%d.%d_gpus.us", WIDTH, parts);
        for (int g = 0; g < parts; g++)
            close_part(g);
    }
    CHECK(cudaSetDevice(0));
}

static __global__ void nothing() {}

static __global__ void triad(double *a, const double *b, const double *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = b[i] + 3.0 * c[i];
}

static __global__ void sum_up(const float *from, float *to, int n)
{
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += from[i];
    to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static void kernels()
{
    auto *x = reinterpret_cast<double *>(block[0]), *y = reinterpret_cast<double *>(other[0]);
    row(on_gpu([=] { triad<<<9766, 512, 0, stream[0]>>>(x, y, y + 6000000, 5000000); }),
        "kernel.triad.5000000.us");
    row(on_gpu([=] {
            auto *from = reinterpret_cast<float *>(block[0]);
            sum_up<<<1000, 256, 0, stream[0]>>>(from, reinterpret_cast<float *>(y), 5500000);
        }),
        "kernel.sum.5500000.us");
    row(on_gpu([] {
            for (int i = 0; i < 3; i++)
                nothing<<<8, 128, 0, stream[0]>>>();
        }),
        "kernel.nothing.3.us");
}

static void calls()
{
    const int CALLS = 40;
    cudaEvent_t shared;
    CHECK(cudaEventCreateWithFlags(&shared, cudaEventInterprocess | cudaEventDisableTiming));
    row(on_host([=] {
            for (int i = 0; i < CALLS; i++)
                CHECK(cudaEventRecord(shared, stream[0]));
        }) / CALLS,
        "call.record_shared.us");
    row(on_host([=] {
            for (int i = 0; i < CALLS; i++)
                CHECK(cudaStreamWaitEvent(stream[0], shared, 0));
        }) / CALLS,
        "call.wait_shared.us");
    row(on_host([] {
            copy(block[3], block[0], 3 * KB, 0);
            CHECK(cudaStreamSynchronize(stream[0]));
        }),
        "call.copy_and_wait.3KB.us");
    row(on_host([] {
            for (int g = GPUS - 1; g >= 0; g--) {
                CHECK(cudaSetDevice(g));
                CHECK(cudaDeviceSynchronize());
            }
        }),
        "call.wait_for_four_idle.us");
    CHECK(cudaEventDestroy(shared));
}

int main()
{
    int status[2];
    LAB(peers_start(2, of_rank, NULL, status)); // before any call of CUDA in this process
    if (status[0] || status[1])
        return 1;
    set_up();
    for (int g = 0; g < GPUS; g++) {
        block[g] = on<char>(g, 100 * MB);
        other[g] = on<char>(g, 100 * MB);
    }
    CHECK(cudaMallocHost(&host, 40 * MB));
    copies();
    rings();
    stencils();
    kernels();
    calls();
    return 0;
}
