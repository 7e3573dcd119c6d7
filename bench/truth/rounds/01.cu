// SPDX-License-Identifier: MIT
// 01.cu: thirty timings on two GPUs, chosen before any of them was asked of a machine: sizes and
// patterns that no constant of the virtual clock was fitted to. rounds.py predicts and measures.
#include "../rows.h"

enum { GPUS = 2, MOST = 200 };

static cudaStream_t stream[GPUS], other[GPUS]; // `other` for a second direction at the same time
static cudaEvent_t start[GPUS], stop[GPUS], join[GPUS];
static char *buffer[GPUS], *second[GPUS], *host[GPUS];

__global__ void nothing() {}

__global__ void axpy(float *y, const float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

__global__ void copy_kernel(float4 *to, const float4 *from, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        to[i] = from[i];
}

__global__ void one_block(const float *in, float *out, int n)
{
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += in[i];
    atomicAdd(out, sum);
}

template <typename T> __global__ void multiply_add(T *out, T factor, int rounds)
{
    T a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
    for (int i = 0; i < rounds; i++) {
        a = a * factor + b;
        b = b * factor + c;
        c = c * factor + d;
        d = d * factor + a;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}

__global__ void one_address(int *counter)
{
    atomicAdd(counter, 1);
}

__global__ void transpose(float *out, const float *in, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    out[(size_t)x * n + y] = in[(size_t)y * n + x];
}

__global__ void chase(const int *next, int steps, int *end)
{
    int at = 0;
    for (int i = 0; i < steps; i++)
        at = next[at];
    *end = at;
}

// The time of what `work` queues in stream[gpu], by events on that GPU.
static double on_gpu(int gpu, const std::function<void()> &work)
{
    return median([&] {
        CHECK(cudaSetDevice(gpu));
        CHECK(cudaEventRecord(start[gpu], stream[gpu]));
        work();
        CHECK(cudaEventRecord(stop[gpu], stream[gpu]));
        CHECK(cudaEventSynchronize(stop[gpu]));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, start[gpu], stop[gpu]));
        return static_cast<double>(ms) * 1e3;
    });
}

// The same by the host's clock; `work` ends with a wait.
static double on_host(const std::function<void()> &work)
{
    return median([&] {
        double begin = host_us();
        work();
        return host_us() - begin;
    });
}

// What `left` and `right` queue, each in a stream of its own that begins and ends with stream[0].
static double together(const std::function<void()> &left, cudaStream_t beside,
                       const std::function<void()> &right, int gpu)
{
    return on_gpu(0, [&] {
        CHECK(cudaStreamWaitEvent(beside, start[0], 0));
        left();
        CHECK(cudaSetDevice(gpu));
        right();
        CHECK(cudaEventRecord(join[gpu], beside));
        CHECK(cudaSetDevice(0));
        CHECK(cudaStreamWaitEvent(stream[0], join[gpu], 0));
    });
}

static double gbs(size_t bytes, double us)
{
    return static_cast<double>(bytes) / us * 1e-3;
}

static void to_peer(int from, size_t bytes, cudaStream_t in)
{
    CHECK(cudaMemcpyPeerAsync(second[1 - from], 1 - from, buffer[from], from, bytes, in));
}

static void copy(void *to, const void *from, size_t bytes, cudaStream_t in)
{
    CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, in));
}

static void between_gpus()
{
    row(on_gpu(0, [] { to_peer(0, 3 * MIB, stream[0]); }), "peer.one_way.3MiB.us");
    row(on_gpu(0, [] { to_peer(0, 24 * MIB, stream[0]); }), "peer.one_way.24MiB.us");
    row(gbs(100 * MIB, on_gpu(0, [] { to_peer(0, 100 * MIB, stream[0]); })),
        "peer.one_way.100MiB.gbs");
    row(gbs(200 * MIB, together([] { to_peer(0, 100 * MIB, stream[0]); }, stream[1],
                                [] { to_peer(1, 100 * MIB, stream[1]); }, 1)),
        "peer.both_ways.100MiB.gbs");
    row(on_gpu(0,
               [] {
                   CHECK(cudaMemcpy2DAsync(second[1], 4096, buffer[0], 4096, 1000, 2048,
                                           cudaMemcpyDefault, stream[0]));
               }),
        "peer.rows.2048x1000.us");
    row(on_gpu(0,
               [] {
                   for (int i = 0; i < 16; i++)
                       to_peer(0, 300000, stream[0]);
               }),
        "peer.queue.16x300000.us");
    auto kernel = [](char *to, const char *from) {
        copy_kernel<<<528, 512, 0, stream[0]>>>(reinterpret_cast<float4 *>(to),
                                                reinterpret_cast<const float4 *>(from), 4 << 20);
    };
    row(gbs(64 * MIB, on_gpu(0, [&] { kernel(buffer[0], second[1]); })), "peer.reads.64MiB.gbs");
    row(gbs(64 * MIB, on_gpu(0, [&] { kernel(second[1], buffer[0]); })), "peer.writes.64MiB.gbs");
    row(on_gpu(0,
               [] { // half of 12 MB there, added, and back
                   CHECK(cudaMemcpyPeerAsync(second[1], 1, buffer[0], 0, 6000000, stream[0]));
                   CHECK(cudaEventRecord(join[0], stream[0]));
                   CHECK(cudaSetDevice(1));
                   CHECK(cudaStreamWaitEvent(stream[1], join[0], 0));
                   axpy<<<5860, 256, 0, stream[1]>>>(reinterpret_cast<float *>(buffer[1]),
                                                     reinterpret_cast<float *>(second[1]), 1,
                                                     1500000);
                   CHECK(cudaMemcpyPeerAsync(second[0], 0, buffer[1], 1, 6000000, stream[1]));
                   CHECK(cudaEventRecord(join[1], stream[1]));
                   CHECK(cudaSetDevice(0));
                   CHECK(cudaStreamWaitEvent(stream[0], join[1], 0));
               }),
        "peer.exchange_add.12MB.us");
}

static void with_host()
{
    size_t half = 48 * MIB;
    row(on_gpu(0, [] { copy(buffer[0], host[0], 5000000, stream[0]); }), "host.to.5MB.us");
    row(gbs(half, on_gpu(0, [&] { copy(host[0], buffer[0], half, stream[0]); })),
        "host.from.48MiB.gbs");
    row(gbs(2 * half, together([&] { copy(host[0], buffer[0], half, stream[0]); }, other[0],
                               [&] { copy(second[0], host[1], half, other[0]); }, 0)),
        "host.both_ways.48MiB.gbs");
    row(gbs(2 * half, together([&] { copy(host[0], buffer[0], half, stream[0]); }, stream[1],
                               [&] { copy(host[1], buffer[1], half, stream[1]); }, 1)),
        "host.from_two.48MiB.gbs");
    row(gbs(2 * half, together([&] { copy(buffer[0], host[0], half, stream[0]); }, stream[1],
                               [&] { copy(buffer[1], host[1], half, stream[1]); }, 1)),
        "host.to_two.48MiB.gbs");
    std::vector<char> pageable(8 * MIB, 1);
    row(on_host([&] {
            CHECK(cudaMemcpy(buffer[0], pageable.data(), 8 * MIB, cudaMemcpyHostToDevice));
        }),
        "host.pageable.8MiB.us");
}

static void kernels()
{
    float *x = reinterpret_cast<float *>(buffer[0]), *y = reinterpret_cast<float *>(second[0]);
    row(gbs(200 * MIB, on_gpu(0, [] { copy(second[0], buffer[0], 200 * MIB, stream[0]); })),
        "inside.copy.200MiB.gbs");
    row(gbs(96 * MIB, on_gpu(0, [] { CHECK(cudaMemsetAsync(buffer[0], 0, 96 * MIB, stream[0])); })),
        "inside.set.96MiB.gbs");
    row(on_gpu(0, [&] { axpy<<<39063, 256, 0, stream[0]>>>(y, x, 2, 10000000); }),
        "kernel.axpy.10000000.us");
    row(on_gpu(0, [&] { axpy<<<1172, 256, 0, stream[0]>>>(y, x, 2, 300000); }),
        "kernel.axpy.300000.us");
    row(on_gpu(0, [&] { one_block<<<1, 256, 0, stream[0]>>>(x, y, 262144); }),
        "kernel.one_block.1MiB.us");
    row(on_gpu(0, [&] { multiply_add<<<1056, 256, 0, stream[0]>>>(y, 0.5f, 4096); }),
        "kernel.float_fma.us");
    row(on_gpu(0,
               [&] {
                   multiply_add<<<1056, 256, 0, stream[0]>>>(reinterpret_cast<double *>(y), 0.5,
                                                             4096);
               }),
        "kernel.double_fma.us");
    row(on_gpu(0, [&] { one_address<<<4096, 256, 0, stream[0]>>>(reinterpret_cast<int *>(y)); }),
        "kernel.one_address.us");
    row(on_gpu(0, [&] { transpose<<<dim3(128, 512), dim3(32, 8), 0, stream[0]>>>(y, x, 4096); }),
        "kernel.transpose.4096.us");
    std::vector<int> next(1 << 20);
    for (size_t i = 0; i < next.size(); i++)
        next[i] = static_cast<int>((i + 4099) % next.size());
    CHECK(cudaMemcpy(buffer[0], next.data(), next.size() * sizeof(int), cudaMemcpyDefault));
    row(on_gpu(0,
               [&] {
                   chase<<<1, 1, 0, stream[0]>>>(reinterpret_cast<int *>(buffer[0]), 4096,
                                                 reinterpret_cast<int *>(y));
               }),
        "kernel.chase.4096.us");
}

static void calls()
{
    row(on_host([] {
            for (int i = 0; i < 50; i++)
                nothing<<<1, 32, 0, stream[0]>>>();
            CHECK(cudaStreamSynchronize(stream[0]));
        }),
        "call.launches.50.us");
    row(on_host([] {
            nothing<<<1, 32, 0, stream[0]>>>();
            CHECK(cudaStreamSynchronize(stream[0]));
        }),
        "call.launch_and_wait.us");
    row(on_gpu(0,
               [] { // each GPU's kernel waits for that of the other
                   for (int i = 0; i < 20; i++) {
                       CHECK(cudaSetDevice(i % 2));
                       nothing<<<1, 32, 0, stream[i % 2]>>>();
                       CHECK(cudaEventRecord(join[i % 2], stream[i % 2]));
                       CHECK(cudaStreamWaitEvent(stream[1 - i % 2], join[i % 2], 0));
                   }
                   CHECK(cudaSetDevice(0));
               }),
        "call.turns.20.us");
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 10; i++)
        nothing<<<1, 32, 0, stream[0]>>>();
    CHECK(cudaStreamEndCapture(stream[0], &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    row(on_host([&] {
            CHECK(cudaGraphLaunch(exec, stream[0]));
            CHECK(cudaStreamSynchronize(stream[0]));
        }),
        "call.graph.10.us");
    row(on_host([] {
            void *memory;
            CHECK(cudaMallocAsync(&memory, MIB, stream[0]));
            CHECK(cudaFreeAsync(memory, stream[0]));
            CHECK(cudaStreamSynchronize(stream[0]));
        }),
        "call.malloc_async.1MiB.us");
}

int main()
{
    for (int g = 0; g < GPUS; g++) {
        CHECK(cudaSetDevice(g));
        CHECK(cudaDeviceEnablePeerAccess(1 - g, 0));
        CHECK(cudaStreamCreateWithFlags(&stream[g], cudaStreamNonBlocking));
        CHECK(cudaStreamCreateWithFlags(&other[g], cudaStreamNonBlocking));
        CHECK(cudaEventCreate(&start[g]));
        CHECK(cudaEventCreate(&stop[g]));
        CHECK(cudaEventCreateWithFlags(&join[g], cudaEventDisableTiming));
        CHECK(cudaMalloc(&buffer[g], MOST * MIB));
        CHECK(cudaMalloc(&second[g], MOST * MIB));
        CHECK(cudaMallocHost(&host[g], 48 * MIB));
        CHECK(cudaMemset(buffer[g], 0, MOST * MIB));
        CHECK(cudaMemset(second[g], 0, MOST * MIB));
    }
    CHECK(cudaSetDevice(0));
    between_gpus();
    with_host();
    kernels();
    calls();
    return 0;
}
