// SPDX-License-Identifier: MIT
// 07.cu: timings on four GPUs, chosen before any of them was asked of a machine, for a description
// that ./lab calibrate had fitted to another machine of the kind: copies of all paths, alone, in
// rows, after kernels and of several GPUs; pools; kernels that move bytes. rounds.py predicts and
// measures.
enum { GPUS = 4 };
#include "round.h"

static const size_t MB = 1000000, KB = 1000;
static char *block[GPUS], *other[GPUS], *host;

static void copy(void *to, const void *from, size_t bytes, int gpu)
{
    CHECK(cudaSetDevice(gpu));
    CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream[gpu]));
}

// `work` queues on all GPUs' streams; they begin and end together.
static double together(const std::function<void()> &work)
{
    return on_gpu([&] {
        for (int g = 1; g < GPUS; g++)
            wait_for(g, 0);
        work();
        for (int g = 1; g < GPUS; g++)
            wait_for(0, g);
    });
}

static __global__ void nothing() {}

static __global__ void scale(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = 2 * from[i];
}

static __global__ void swap_halves(float4 *a, float4 *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

static void launch()
{
    nothing<<<2, 96, 0, stream[0]>>>();
}

static void one_copy_each()
{
    for (size_t bytes : {12 * KB, 150 * KB, 1500 * KB, 35 * MB})
        row(on_gpu([=] { copy(block[2], block[0], bytes, 0); }), "peer.%zuKB.us", bytes / KB);
    for (size_t bytes : {2 * KB, 120 * KB, 13 * MB})
        row(on_gpu([=] { copy(host, block[0], bytes, 0); }), "host.from.%zuKB.us", bytes / KB);
    for (size_t bytes : {3 * KB, 700 * KB, 21 * MB})
        row(on_gpu([=] { copy(block[0], host, bytes, 0); }), "host.to.%zuKB.us", bytes / KB);
    for (size_t bytes : {70 * KB, 6 * MB, 80 * MB})
        row(on_gpu([=] { copy(other[0], block[0], bytes, 0); }), "inside.%zuKB.us", bytes / KB);
}

static void in_rows()
{
    row(on_gpu([] {
            for (int i = 0; i < 12; i++)
                copy(other[0] + i * MB, block[0] + i * MB, 900 * KB, 0);
        }),
        "inside.12x900KB.us");
    row(on_gpu([] {
            for (int i = 0; i < 10; i++) {
                launch();
                copy(host, block[0], 8 * KB, 0);
            }
        }),
        "kernel_and_from.10x8KB.us");
    row(on_gpu([] {
            for (int i = 0; i < 10; i++) {
                launch();
                copy(block[0], host, 512, 0);
            }
        }),
        "kernel_and_to.10x512B.us");
    row(on_gpu([] {
            for (int i = 0; i < 10; i++) {
                copy(block[0], host, 100 * KB, 0);
                launch();
                copy(host, block[0], 100 * KB, 0);
            }
        }),
        "to_kernel_from.10x100KB.us");
    row(on_gpu([] {
            for (int i = 0; i < 8; i++)
                copy(block[1] + i * MB, block[0] + i * MB, 500 * KB, 0);
        }),
        "peer.8x500KB.us");
}

static void of_several()
{
    row(gbs(75 * MB, together([] {
                for (int g = 0; g < 3; g++)
                    copy(host + g * 25 * MB, block[g], 25 * MB, g);
            })),
        "host.from_three.25MB.gbs");
    row(gbs(80 * MB, together([] {
                for (int g = 0; g < GPUS; g++)
                    copy(block[g], host + g * 20 * MB, 20 * MB, g);
            })),
        "host.to_four.20MB.gbs");
    row(gbs(96 * MB, together([] {
                for (int g = 0; g < GPUS; g++)
                    copy(other[(g + 1) % GPUS], block[g], 24 * MB, g);
            })),
        "peer.around.24MB.gbs");
    row(gbs(48 * MB, together([] {
                for (int g = 1; g < GPUS; g++)
                    copy(block[0] + g * 20 * MB, block[g], 16 * MB, g);
            })),
        "peer.from_three.16MB.gbs");
}

static void graphs_and_pools()
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 18; i++) {
        launch();
        copy(other[0], block[0], 1024, 0);
    }
    CHECK(cudaStreamEndCapture(stream[0], &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    row(on_host([=] {
            CHECK(cudaGraphLaunch(exec, stream[0]));
            CHECK(cudaStreamSynchronize(stream[0]));
        }),
        "graph.kernel_and_1KB.18.us");
    void *p;
    row(on_host([&] {
            CHECK(cudaMallocAsync(&p, 45 * MB, stream[0]));
            CHECK(cudaFreeAsync(p, stream[0]));
            CHECK(cudaStreamSynchronize(stream[0]));
        }),
        "call.pool.45MB.us");
}

static void kernels()
{
    auto *x = reinterpret_cast<float *>(block[0]), *y = reinterpret_cast<float *>(other[0]);
    auto *far = reinterpret_cast<float *>(block[3]);
    cudaStream_t s = stream[0];
    for (int n : {40000, 2200000, 18000000})
        row(on_gpu([=] { scale<<<static_cast<unsigned>((n + 255) / 256), 256, 0, s>>>(y, x, n); }),
            "kernel.scale.%d.us", n);
    row(on_gpu([=] {
            swap_halves<<<5860, 512, 0, s>>>(reinterpret_cast<float4 *>(x),
                                             reinterpret_cast<float4 *>(y), 3000000);
        }),
        "kernel.swap.3000000.us");
    row(on_gpu([=] { scale<<<15625, 256, 0, s>>>(y, far, 4000000); }), "peer.scale.16MB.us");
}

int main()
{
    set_up();
    for (int g = 0; g < GPUS; g++) {
        block[g] = on<char>(g, 120 * MB);
        other[g] = on<char>(g, 120 * MB);
    }
    CHECK(cudaMallocHost(&host, 120 * MB));
    one_copy_each();
    in_rows();
    of_several();
    graphs_and_pools();
    kernels();
    return 0;
}
