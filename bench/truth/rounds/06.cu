// SPDX-License-Identifier: MIT
// 06.cu: timings on four GPUs, chosen before any of them was asked of a machine: small copies
// beside kernels in streams and graphs, pools, copies of several GPUs, threads, rings, and kernels
// of other shapes and sizes. rounds.py predicts and measures.
enum { GPUS = 4 };
#include "round.h"

#include <cstring>
#include <thread>

static const size_t MB = 1000000, KB = 1000;
static char *block[GPUS], *other[GPUS], *host;
static cudaStream_t back[GPUS];

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
            after(back[g], g, stream[g], g);
        }
        work();
        for (int g = 0; g < GPUS; g++) {
            after(stream[g], g, back[g], g);
            if (g > 0)
                after(stream[0], 0, stream[g], g);
        }
    });
}

static __global__ void nothing() {}

static __global__ void add(float *to, const float *from, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        to[i] += from[i];
}

static void launch(int g)
{
    CHECK(cudaSetDevice(g));
    nothing<<<4, 64, 0, stream[g]>>>();
}

// ---- between GPUs, before they have access to each other ----

static void staged()
{
    for (size_t bytes : {90 * KB, 7 * MB})
        row(on_gpu([=] { CHECK(cudaMemcpyPeerAsync(block[1], 1, block[0], 0, bytes, stream[0])); }),
            "staged.%zuKB.us", bytes / KB);
}

// ---- copies ----

static void copies_of_peers()
{
    for (size_t bytes : {20 * KB, 700 * KB, 22 * MB})
        row(on_gpu([=] { copy(block[1], block[0], bytes, 0, stream[0]); }), "peer.one_way.%zuKB.us",
            bytes / KB);
    row(on_gpu([] {
            for (int i = 0; i < 25; i++)
                copy(block[1] + i * 6000, block[0] + i * 6000, 6000, 0, stream[0]);
        }),
        "peer.25x6KB.us");
    row(gbs(44 * MB, together([] {
                copy(other[3], other[1], 22 * MB, 1, stream[1]);
                copy(block[1], block[3], 22 * MB, 3, stream[3]);
            })),
        "peer.both_ways.22MB.gbs");
    row(gbs(28 * MB, together([] {
                copy(block[1], block[0], 14 * MB, 0, stream[0]);
                copy(block[2], block[0], 14 * MB, 0, back[0]);
            })),
        "peer.to_two.14MB.gbs");
    row(together([] {
            for (int g = 0; g < GPUS - 1; g++) { // from hand to hand
                copy(block[g + 1], block[g], 4 * MB, g, stream[g]);
                after(stream[g + 1], g + 1, stream[g], g);
            }
        }),
        "peer.relay.4MB.us");
    for (size_t bytes : {600 * KB, 9 * MB})
        row(on_host([=] {
                copy(block[1], block[0], bytes, 0, nullptr);
                CHECK(cudaStreamSynchronize(nullptr));
            }),
            "call.default_stream.%zuKB.us", bytes / KB);
}

static void copies_of_the_host()
{
    static char plain[4 * 1000 * 1000];
    row(gbs(60 * MB, together([] {
                for (int g = 0; g < 2; g++)
                    copy(host + g * 30 * MB, block[g], 30 * MB, g, stream[g]);
            })),
        "host.from_two.30MB.gbs");
    row(gbs(60 * MB, together([] {
                for (int g = 0; g < 2; g++)
                    copy(block[g], host + g * 30 * MB, 30 * MB, g, stream[g]);
            })),
        "host.to_two.30MB.gbs");
    row(gbs(144 * MB, together([] {
                for (int g = 0; g < GPUS; g++) {
                    copy(host + g * 18 * MB, block[g], 18 * MB, g, stream[g]);
                    copy(other[g], host + (4 + g) * 18 * MB, 18 * MB, g, back[g]);
                }
            })),
        "host.both_ways_of_four.18MB.gbs");
    memset(plain, 1, sizeof plain);
    row(on_host([] { CHECK(cudaMemcpy(block[0], plain, 3 * MB, cudaMemcpyHostToDevice)); }),
        "host.pageable.to.3MB.us");
    row(on_host([] { CHECK(cudaMemcpy(plain, block[0], 3 * MB, cudaMemcpyDeviceToHost)); }),
        "host.pageable.from.3MB.us");
    row(on_gpu([] { copy(block[0], host, 300 * KB, 0, stream[0]); }), "host.to.300KB.us");
}

static void copies_inside()
{
    for (size_t bytes : {500 * KB, 9 * MB, 50 * MB})
        row(on_gpu([=] { copy(other[0], block[0], bytes, 0, stream[0]); }), "inside.%zuKB.us",
            bytes / KB);
    row(on_gpu([] {
            for (int i = 0; i < 20; i++)
                copy(other[0] + i * 40 * KB, block[0] + i * 40 * KB, 40 * KB, 0, stream[0]);
        }),
        "inside.20x40KB.us");
    row(on_gpu([] {
            for (int i = 0; i < 15; i++) {
                launch(0);
                copy(other[0], block[0], 256, 0, stream[0]);
            }
        }),
        "inside.kernel_and_256B.15.us");
    row(on_gpu([] { CHECK(cudaMemsetAsync(block[0], 1, 45 * MB, stream[0])); }), "set.45MB.us");
}

// ---- calls, pools, threads, graphs ----

static void calls()
{
    row(on_host([] {
            for (int i = 0; i < 120; i++)
                launch(0);
            CHECK(cudaStreamSynchronize(stream[0]));
        }),
        "call.launches.120.us");
    row(on_host([] {
            for (int i = 0; i < 15; i++)
                for (int g : {0, 2}) {
                    launch(g);
                    after(stream[2 - g], 2 - g, stream[g], g);
                }
            CHECK(cudaStreamSynchronize(stream[0]));
        }),
        "call.turns.15.us");
    void *p, *q;
    row(on_host([&] {
            CHECK(cudaMallocAsync(&p, 3 * MB, stream[0]));
            CHECK(cudaFreeAsync(p, stream[0]));
            CHECK(cudaStreamSynchronize(stream[0]));
        }),
        "call.pool.3MB.us");
    row(on_host([&] {
            for (int i = 0; i < 10; i++) {
                CHECK(cudaMallocAsync(&p, 5 * MB, stream[0]));
                CHECK(cudaMallocAsync(&q, MB, stream[0]));
                CHECK(cudaFreeAsync(p, stream[0]));
                CHECK(cudaFreeAsync(q, stream[0]));
            }
            CHECK(cudaStreamSynchronize(stream[0]));
        }),
        "call.pool.10x6MB.us");
    row(on_host([] {
            std::vector<std::thread> threads;
            for (int g = 0; g < GPUS; g++)
                threads.emplace_back([g] {
                    for (int i = 0; i < 60; i++)
                        launch(g);
                    CHECK(cudaStreamSynchronize(stream[g]));
                });
            for (auto &thread : threads)
                thread.join();
        }),
        "call.threads.four.60.us");
}

static cudaGraphExec_t captured(const std::function<void()> &work)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeGlobal));
    work();
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamEndCapture(stream[0], &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
}

static void in_graph(const char *name, const std::function<void()> &work)
{
    cudaGraphExec_t exec = captured(work);
    row(on_host([=] {
            CHECK(cudaSetDevice(0));
            CHECK(cudaGraphLaunch(exec, stream[0]));
            CHECK(cudaStreamSynchronize(stream[0]));
        }),
        "%s", name);
}

// An all-gather around all GPUs, so many bytes each, by copies and events.
static void gather(size_t bytes)
{
    for (int step = 0; step < GPUS - 1; step++) {
        for (int g = 0; g < GPUS; g++) {
            size_t part = static_cast<size_t>((g - step + GPUS) % GPUS) * bytes;
            copy(other[(g + 1) % GPUS] + part, other[g] + part, bytes, g, stream[g]);
            CHECK(cudaEventRecord(last[g], stream[g]));
        }
        for (int g = 0; g < GPUS; g++) {
            CHECK(cudaSetDevice(g));
            CHECK(cudaStreamWaitEvent(stream[g], last[(g + GPUS - 1) % GPUS], 0));
        }
    }
}

static void fork_and_join(const std::function<void()> &work)
{
    for (int g = 1; g < GPUS; g++)
        after(stream[g], g, stream[0], 0);
    work();
    for (int g = 1; g < GPUS; g++)
        after(stream[0], 0, stream[g], g);
}

static void graphs()
{
    in_graph("graph.kernel_and_256B.15.us", [] {
        for (int i = 0; i < 15; i++) {
            launch(0);
            copy(other[0], block[0], 256, 0, stream[0]);
        }
    });
    in_graph("graph.kernel_and_to_host.12.us", [] {
        for (int i = 0; i < 12; i++) {
            launch(0);
            copy(host, block[0], 64, 0, stream[0]);
        }
    });
    in_graph("graph.turns.16.us", [] {
        for (int i = 0; i < 16; i++)
            for (int g : {0, 3}) {
                launch(g);
                after(stream[3 - g], 3 - g, stream[g], g);
            }
    });
    in_graph("graph.gather.1MB.us", [] { fork_and_join([] { gather(MB); }); });
    row(together([] { gather(30 * KB); }), "gather.30KB.us");
    row(together([] { gather(10 * MB); }), "gather.10MB.us");
}

// ---- kernels ----

static __global__ void triad(double *a, const double *b, const double *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = b[i] + 3.0 * c[i];
}

static __global__ void dot(float *sum, const float *a, const float *b, int n)
{
    __shared__ float part[256];
    float mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine += a[i] * b[i];
    part[threadIdx.x] = mine;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (static_cast<int>(threadIdx.x) < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        atomicAdd(sum, part[0]);
}

static __global__ void nine_taps(float *y, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 4 || i >= n - 4)
        return;
    float sum = 0;
    for (int k = -4; k <= 4; k++)
        sum += x[i + k] * (0.2f - 0.03f * static_cast<float>(k * k));
    y[i] = sum;
}

static __global__ void horner(float *y, const float *x, int n, int degree)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float value = 1, at = x[i];
    for (int k = 0; k < degree; k++)
        value = value * at + 0.5f;
    y[i] = value;
}

static __global__ void scatter(float *to, const float *from, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[(i * 2654435761u >> 5) % n] = from[i];
}

static __global__ void five_points(float *to, const float *from, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;
    const float *at = from + static_cast<size_t>(y) * width + x;
    to[static_cast<size_t>(y) * width + x] = 0.25f * (at[1] + at[-1] + at[width] + at[-width]);
}

static __global__ void tiles(float *z, const float *x, const float *y, int n)
{
    __shared__ float p[32][32], q[32][32];
    int at = blockIdx.y * 32 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += 32) {
        p[threadIdx.y][threadIdx.x] = x[at * n + k + threadIdx.x];
        q[threadIdx.y][threadIdx.x] = y[(k + threadIdx.y) * n + col];
        __syncthreads();
        for (int m = 0; m < 32; m++)
            sum += p[threadIdx.y][m] * q[m][threadIdx.x];
        __syncthreads();
    }
    z[at * n + col] = sum;
}

static __global__ void bins(unsigned *bin, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bin[(static_cast<unsigned>(i) * 40503u + static_cast<unsigned>(x[i])) % 512], 1);
}

static void kernels()
{
    auto *x = reinterpret_cast<float *>(block[0]), *y = reinterpret_cast<float *>(other[0]);
    auto *a = reinterpret_cast<double *>(x), *b = reinterpret_cast<double *>(y);
    cudaStream_t s = stream[0];
    CHECK(cudaSetDevice(0));
    row(on_gpu([=] { triad<<<14063, 256, 0, s>>>(a, b, b + 3600000, 3600000); }),
        "kernel.triad.3600000.us");
    row(on_gpu([=] { dot<<<528, 256, 0, s>>>(y, x, x + 5000000, 5000000); }),
        "kernel.dot.5000000.us");
    row(on_gpu([=] { nine_taps<<<10157, 256, 0, s>>>(y, x, 2600000); }),
        "kernel.nine_taps.2600000.us");
    for (int degree : {12, 200})
        row(on_gpu([=] { horner<<<11719, 256, 0, s>>>(y, x, 3000000, degree); }),
            "kernel.horner.%d.us", degree);
    row(on_gpu([=] { scatter<<<5860, 256, 0, s>>>(y, x, 1500000); }), "kernel.scatter.1500000.us");
    row(on_gpu([=] { five_points<<<dim3(79, 313), dim3(32, 8), 0, s>>>(y, x, 2500, 2500); }),
        "kernel.five_points.2500.us");
    row(on_gpu([=] { tiles<<<dim3(20, 20), dim3(32, 32), 0, s>>>(y, x, x + 640 * 640, 640); }),
        "kernel.tiles.640.us");
    row(on_gpu([=] { bins<<<4688, 256, 0, s>>>(reinterpret_cast<unsigned *>(y), x, 1200000); }),
        "kernel.bins.1200000.us");
    row(on_gpu([=] { add<<<40, 512, 0, s>>>(y, x, 4000000); }), "kernel.forty_blocks.16MB.us");
    row(on_gpu([=] { add<<<264, 512, 0, s>>>(y, reinterpret_cast<float *>(block[2]), 3000000); }),
        "peer.add.12MB.us");
}

int main()
{
    for (int g = 0; g < GPUS; g++) {
        block[g] = on<char>(g, 160 * MB);
        other[g] = on<char>(g, 160 * MB);
    }
    CHECK(cudaMallocHost(&host, 160 * MB));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaStreamCreate(&stream[0]));
    staged();
    CHECK(cudaStreamDestroy(stream[0]));
    set_up();
    for (int g = 0; g < GPUS; g++) {
        CHECK(cudaSetDevice(g));
        CHECK(cudaStreamCreateWithFlags(&back[g], cudaStreamNonBlocking));
    }
    copies_of_peers();
    copies_of_the_host();
    copies_inside();
    calls();
    graphs();
    kernels();
    return 0;
}
