// SPDX-License-Identifier: MIT
// 10.cu: timings on two GPUs, chosen before any of them was asked of a machine: copies that queue
// for an engine, waits for events with and without timing, a halo, a pipeline of copies and
// kernels, reductions, lab 05's ring of two processes. rounds.py predicts and measures.
enum { GPUS = 2 };
#include "lab05.h"
#include "round.h"

static const size_t KB = 1000, MB = 1000 * KB;
static char *block[GPUS], *other[GPUS], *host;

// ---- two processes ----

static int of_rank(struct peers *peers, void *)
{
    const int ROUNDS = 15;
    const size_t MOST = 3 * MB;
    struct ring ring;
    char *data;
    LAB(ring_open(&ring, peers, MOST));
    CHECK(cudaMalloc(&data, MOST));
    for (size_t bytes : {100 * KB, MOST}) {
        size_t got;
        double us = median([&] {
            double begin = host_us();
            for (int i = 0; i < ROUNDS; i++) {
                if (peers->rank == 1)
                    LAB(ring_take(&ring, data, MOST, &got));
                LAB(ring_put(&ring, data, bytes));
                if (peers->rank == 0)
                    LAB(ring_take(&ring, data, MOST, &got));
            }
            CHECK(cudaStreamSynchronize(ring.stream));
            return (host_us() - begin) / ROUNDS;
        });
        if (peers->rank == 0)
            row(us, "ipc.ring.%zuKB.us", bytes / KB);
    }
    LAB(ipc_close(&ring));
    CHECK(cudaFree(data));
    return 0;
}

// ---- copies ----

static void send(int from, char *to, size_t bytes)
{
    CHECK(cudaSetDevice(from));
    CHECK(cudaMemcpyAsync(to, block[from], bytes, cudaMemcpyDefault, stream[from]));
}

static void copies()
{
    for (size_t bytes : {20 * KB, 600 * KB, 5 * MB, 50 * MB})
        row(on_gpu([=] { send(0, other[1], bytes); }), "peer.%zuKB.us", bytes / KB);
    for (int count : {3, 12})
        row(on_gpu([=] {
                for (int i = 0; i < count; i++)
                    send(0, other[1] + i * MB, MB);
            }),
            "peer.queued.%dx1000KB.us", count);
    row(on_gpu([] {
            for (int i = 0; i < 4; i++) {
                CHECK(cudaMemcpyAsync(host + i * 2 * MB, block[0], 2 * MB, cudaMemcpyDefault,
                                      stream[0]));
                CHECK(cudaMemcpyAsync(other[0], host + i * 2 * MB, 2 * MB, cudaMemcpyDefault,
                                      stream[0]));
            }
        }),
        "host.out_and_in.4x2000KB.us");
    row(on_gpu(
            [] { CHECK(cudaMemcpyAsync(host, block[0], 150 * KB, cudaMemcpyDefault, stream[0])); }),
        "host.from.150KB.us");
    row(on_gpu(
            [] { CHECK(cudaMemcpyAsync(block[0], host, 9 * MB, cudaMemcpyDefault, stream[0])); }),
        "host.to.9000KB.us");
    row(on_gpu([] {
            CHECK(cudaMemcpyAsync(other[0], block[0], 60 * MB, cudaMemcpyDefault, stream[0]));
        }),
        "inside.60000KB.us");
}

// Both GPUs send `count` times at once; stream 0 waits for the other one.
static void exchange(int count, size_t bytes)
{
    wait_for(1, 0);
    for (int i = 0; i < count; i++)
        for (int g = 0; g < GPUS; g++)
            send(g, other[1 - g] + i * bytes, bytes);
    wait_for(0, 1);
}

static void exchanges()
{
    row(on_gpu([] { exchange(1, 300 * KB); }), "exchange.1x300KB.us");
    row(on_gpu([] { exchange(8, 300 * KB); }), "exchange.8x300KB.us");
    row(on_gpu([] { exchange(3, 10 * MB); }), "exchange.3x10000KB.us");
}

// ---- streams that wait for each other ----

static void ping_pong(cudaEvent_t *event, int times)
{
    for (int i = 0; i < times; i++)
        for (int g = 0; g < GPUS; g++) {
            send(g, other[1 - g], 8 * KB);
            CHECK(cudaEventRecord(event[g], stream[g]));
            CHECK(cudaSetDevice(1 - g));
            CHECK(cudaStreamWaitEvent(stream[1 - g], event[g], 0));
        }
}

static void events()
{
    cudaEvent_t timed[GPUS];
    for (int g = 0; g < GPUS; g++) {
        CHECK(cudaSetDevice(g));
        CHECK(cudaEventCreate(&timed[g]));
    }
    row(on_gpu([] { ping_pong(last, 6); }), "ping_pong.6x8KB.us");
    row(on_gpu([&] { ping_pong(timed, 6); }), "ping_pong.timed.6x8KB.us");
}

// ---- copies and kernels ----

static __global__ void scale(float *x, float factor, size_t count)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        x[i] *= factor;
}

static __global__ void add_up(const float *x, float *sum, size_t count)
{
    __shared__ float part[256];
    float mine = 0;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        mine += x[i];
    part[threadIdx.x] = mine;
    __syncthreads();
    for (unsigned d = 128; d > 0; d /= 2) {
        if (threadIdx.x < d)
            part[threadIdx.x] += part[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(sum, part[0]);
}

static void scale_on(int gpu, char *data, size_t bytes)
{
    CHECK(cudaSetDevice(gpu));
    scale<<<528, 256, 0, stream[gpu]>>>(reinterpret_cast<float *>(data), 1.5f, bytes / 4);
}

// GPU 0 scales a chunk and sends it, GPU 1 scales it again, while the next one comes.
static void pass_chunks(int chunks, size_t bytes)
{
    wait_for(1, 0);
    for (int i = 0; i < chunks; i++) {
        char *at = other[1] + i * bytes;
        scale_on(0, block[0] + i * bytes, bytes);
        CHECK(cudaMemcpyAsync(at, block[0] + i * bytes, bytes, cudaMemcpyDefault, stream[0]));
        wait_for(1, 0);
        scale_on(1, at, bytes);
    }
    wait_for(0, 1);
}

static void kernels()
{
    for (size_t bytes : {400 * KB, 12 * MB, 90 * MB})
        row(on_gpu([=] { scale_on(0, block[0], bytes); }), "kernel.scale.%zuKB.us", bytes / KB);
    for (size_t count : {700 * KB, 20 * MB})
        row(on_gpu([=] {
                add_up<<<396, 256, 0, stream[0]>>>(reinterpret_cast<float *>(block[0]),
                                                   reinterpret_cast<float *>(other[0]), count);
            }),
            "kernel.add_up.%zu.us", count);
    row(on_gpu([] { pass_chunks(6, 500 * KB); }), "chunks.6x500KB.us");
    row(on_gpu([] { pass_chunks(6, 14 * MB); }), "chunks.6x14000KB.us");
}

static void in_graph()
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeGlobal));
    pass_chunks(9, 800 * KB);
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamEndCapture(stream[0], &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    row(on_gpu([=] { CHECK(cudaGraphLaunch(exec, stream[0])); }), "chunks.graph.9x800KB.us");
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
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
    CHECK(cudaMallocHost(&host, 10 * MB));
    copies();
    exchanges();
    events();
    kernels();
    in_graph();
    return 0;
}
