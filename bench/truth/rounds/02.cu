// SPDX-License-Identifier: MIT
// 02.cu: thirty-two timings on two GPUs, chosen before any of them was asked of a machine: kernels
// of many kinds (docs/virtual-time.md has their model), copies, a ring, a stencil, memory of
// another process, calls. rounds.py predicts and measures.
#include "../rows.h"

#include <sys/wait.h>
#include <unistd.h>

enum { GPUS = 2, TILE = 32, BINS = 64 };

static cudaStream_t stream[GPUS];
static cudaEvent_t start, stop, join[GPUS], last[GPUS];

static double on_gpu(const std::function<void()> &work)
{
    return median([&] {
        CHECK(cudaSetDevice(0));
        CHECK(cudaEventRecord(start, stream[0]));
        work();
        CHECK(cudaEventRecord(stop, stream[0]));
        CHECK(cudaEventSynchronize(stop));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        return static_cast<double>(ms) * 1e3;
    });
}

static double on_host(const std::function<void()> &work)
{
    return median([&] {
        double begin = host_us();
        work();
        return host_us() - begin;
    });
}

template <typename T> static T *on(int gpu, size_t count)
{
    T *p;
    CHECK(cudaSetDevice(gpu));
    CHECK(cudaMalloc(&p, count * sizeof(T)));
    CHECK(cudaMemset(p, 0, count * sizeof(T)));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaSetDevice(0));
    return p;
}

static double gbs(size_t bytes, double us)
{
    return static_cast<double>(bytes) / us * 1e-3;
}

static void wait_for(int gpu, int other)
{
    CHECK(cudaSetDevice(other));
    CHECK(cudaEventRecord(join[other], stream[other]));
    CHECK(cudaSetDevice(gpu));
    CHECK(cudaStreamWaitEvent(stream[gpu], join[other], 0));
}

// ---- kernels ----

__global__ void dot(const float *x, const float *y, float *sum, int n)
{
    __shared__ float part[256];
    float own = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        own += x[i] * y[i];
    part[threadIdx.x] = own;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (threadIdx.x < d)
            part[threadIdx.x] += part[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(sum, part[0]);
}

__global__ void count_shared(const unsigned *in, unsigned *bin, int n)
{
    __shared__ unsigned own[BINS];
    if (threadIdx.x < BINS)
        own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[in[i] % BINS], 1);
    __syncthreads();
    if (threadIdx.x < BINS)
        atomicAdd(&bin[threadIdx.x], own[threadIdx.x]);
}

__global__ void count_global(const unsigned *in, unsigned *bin, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bin[in[i] % 1000], 1);
}

__global__ void multiply_tiles(const float *x, const float *y, float *z, int n)
{
    __shared__ float p[TILE][TILE], q[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += TILE) {
        p[threadIdx.y][threadIdx.x] = x[row * n + k + threadIdx.x];
        q[threadIdx.y][threadIdx.x] = y[(k + threadIdx.y) * n + col];
        __syncthreads();
        for (int m = 0; m < TILE; m++)
            sum += p[threadIdx.y][m] * q[m][threadIdx.x];
        __syncthreads();
    }
    z[row * n + col] = sum;
}

__global__ void multiply(const double *x, const double *y, double *z, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0;
    for (int k = 0; k < n; k++)
        sum += x[row * n + k] * y[k * n + col];
    z[row * n + col] = sum;
}

__global__ void seven_points(float *to, const float *from, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    for (int z = 1; z < n - 1; z++) {
        size_t i = ((size_t)z * n + y) * n + x;
        to[i] = 0.4f * from[i] + 0.1f * (from[i - 1] + from[i + 1] + from[i - n] + from[i + n] +
                                         from[i - n * n] + from[i + n * n]);
    }
}

__global__ void options(const float *price, float *call, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float s = price[i] + 1, d = (logf(s) + 0.06f) / 0.3f;
    float w = 1 / (1 + expf(-1.702f * d)), v = 1 / (1 + expf(-1.702f * (d - 0.3f)));
    call[i] = s * w - expf(-0.02f) * v;
}

__global__ void attract(const float4 *body, float4 *force, int n)
{
    __shared__ float4 tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 own = body[i];
    float x = 0, y = 0, z = 0;
    for (int k = 0; k < n; k += 128) {
        tile[threadIdx.x] = body[k + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 128; j++) {
            float dx = tile[j].x - own.x, dy = tile[j].y - own.y, dz = tile[j].z - own.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), f = tile[j].w * r * r * r;
            x += dx * f;
            y += dy * f;
            z += dz * f;
        }
        __syncthreads();
    }
    force[i] = make_float4(x, y, z, 0);
}

__global__ void double_axpy(double *y, const double *x, double a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

__global__ void escape(int *rounds, int side, int most)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    float a = 3.0f * i / side - 2, b = 3.0f * j / side - 1.5f, x = 0, y = 0;
    int k = 0;
    while (k < most && x * x + y * y < 4) {
        float t = x * x - y * y + a;
        y = 2 * x * y + b;
        x = t;
        k++;
    }
    rounds[j * side + i] = k;
}

__global__ void hash(unsigned *out, int rounds)
{
    unsigned h = blockIdx.x * blockDim.x + threadIdx.x, first = h;
    for (int i = 0; i < rounds; i++) {
        h ^= h >> 16;
        h *= 0x85ebca6bu;
        h ^= h >> 13;
        h *= 0xc2b2ae35u;
    }
    out[first] = h;
}

__global__ void transpose(float *to, const float *from, int n)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (x < n && y + k < n)
            tile[threadIdx.y + k][threadIdx.x] = from[(size_t)(y + k) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (x < n && y + k < n)
            to[(size_t)(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}

__global__ void pick(float *to, const float *from, const int *which, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[which[i]];
}

__global__ void follow(const int *next, int steps, int *end)
{
    int at = threadIdx.x * 32;
    for (int i = 0; i < steps; i++)
        at = next[at];
    end[threadIdx.x] = at;
}

__global__ void rows_of_sparse(const int *column, const float *value, const float *x, float *y,
                               int rows, int each)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int k = 0; k < each; k++)
        sum += value[(size_t)k * rows + row] * x[column[(size_t)k * rows + row]];
    y[row] = sum;
}

__global__ void sum_by(const float4 *in, float *out, int n)
{
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float4 v = in[i];
        sum += v.x + v.y + v.z + v.w;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void scan(float *x, int n) // one block, a warp's sums by shuffles
{
    __shared__ float of_warp[32];
    float before = 0;
    for (int from = 0; from < n; from += blockDim.x) {
        float v = x[from + threadIdx.x];
        for (int d = 1; d < 32; d *= 2) {
            float w = __shfl_up_sync(~0u, v, d);
            if (threadIdx.x % 32 >= d)
                v += w;
        }
        if (threadIdx.x % 32 == 31)
            of_warp[threadIdx.x / 32] = v;
        __syncthreads();
        float left = before, all = before;
        for (int i = 0; i < 32; i++) {
            left += i < threadIdx.x / 32 ? of_warp[i] : 0;
            all += of_warp[i];
        }
        x[from + threadIdx.x] = v + left;
        before = all;
        __syncthreads();
    }
}

__global__ void root(double *out, int rounds)
{
    double s = threadIdx.x + 2, x = s;
    for (int i = 0; i < rounds; i++)
        x = 0.5 * (x + s / x);
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

__global__ void add(float *to, const float *from, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        to[i] += from[i];
}

static void with_bytes()
{
    float *x = on<float>(0, 7000000), *y = on<float>(0, 7000000), *z = on<float>(0, 7000000);
    cudaStream_t s = stream[0];
    row(on_gpu([&] { dot<<<1024, 256, 0, s>>>(x, y, z, 5000000); }), "kernel.dot.5M.us");
    row(on_gpu([&] { options<<<5860, 256, 0, s>>>(x, y, 1500000); }), "kernel.options.1500000.us");
    row(on_gpu([&] { transpose<<<dim3(82, 82), dim3(32, 8), 0, s>>>(y, x, 2600); }),
        "kernel.transpose.2600.us");
    row(on_gpu([&] { seven_points<<<dim3(6, 24), dim3(32, 8), 0, s>>>(y, x, 190); }),
        "kernel.seven_points.190.us");
    row(on_gpu([&] { sum_by<<<40, 64, 0, s>>>((float4 *)x, z, 500000); }),
        "kernel.forty_blocks.8MB.us");
    row(on_gpu([&] { sum_by<<<1, 1024, 0, s>>>((float4 *)x, z, 20000); }),
        "kernel.one_block.320KB.us");
    row(on_gpu([&] { scan<<<1, 1024, 0, s>>>(x, 65536); }), "kernel.scan.65536.us");
    double *d = on<double>(0, 14000000);
    row(on_gpu([&] { double_axpy<<<54688, 128, 0, s>>>(d + 7000000, d, 2, 7000000); }),
        "kernel.double_axpy.7M.us");
}

static void with_indices()
{
    enum { N = 2000000, ROWS = 200000, EACH = 16 };
    std::vector<int> which(ROWS * EACH);
    unsigned h = 1;
    for (int &w : which)
        w = static_cast<int>((h = h * 1664525u + 1013904223u) >> 8) % N;
    int *index = on<int>(0, which.size());
    float *x = on<float>(0, N), *y = on<float>(0, N), *value = on<float>(0, ROWS * EACH);
    CHECK(cudaMemcpy(index, which.data(), which.size() * sizeof(int), cudaMemcpyDefault));
    cudaStream_t s = stream[0];
    row(on_gpu([&] { pick<<<7813, 256, 0, s>>>(y, x, index, N); }), "kernel.pick.2M.us");
    row(on_gpu([&] { rows_of_sparse<<<1563, 128, 0, s>>>(index, value, x, y, ROWS, EACH); }),
        "kernel.sparse.200000x16.us");
    unsigned *bin = on<unsigned>(0, 1000);
    row(on_gpu([&] { count_shared<<<264, 512, 0, s>>>((unsigned *)index, bin, 3000000); }),
        "kernel.count_shared.3M.us");
    row(on_gpu([&] { count_global<<<3907, 256, 0, s>>>((unsigned *)index, bin, 1000000); }),
        "kernel.count_global.1M.us");
    std::vector<int> next(6 << 20);
    for (size_t i = 0; i < next.size(); i++)
        next[i] = static_cast<int>((i + 12345 * 32) % next.size());
    int *chain = on<int>(0, next.size());
    CHECK(cudaMemcpy(chain, next.data(), next.size() * sizeof(int), cudaMemcpyDefault));
    row(on_gpu([&] { follow<<<1, 32, 0, s>>>(chain, 3000, index); }), "kernel.follow.32x3000.us");
}

static void with_numbers()
{
    enum { SIDE = 768, SMALL = 384 };
    float *x = on<float>(0, SIDE * SIDE), *y = on<float>(0, SIDE * SIDE),
          *z = on<float>(0, SIDE * SIDE);
    double *d = on<double>(0, 3 * SMALL * SMALL);
    cudaStream_t s = stream[0];
    row(on_gpu([&] { multiply_tiles<<<dim3(24, 24), dim3(32, 32), 0, s>>>(x, y, z, SIDE); }),
        "kernel.multiply_tiles.768.us");
    row(on_gpu([&] {
            multiply<<<dim3(24, 24), dim3(16, 16), 0, s>>>(d, d + SMALL * SMALL,
                                                           d + 2 * SMALL * SMALL, SMALL);
        }),
        "kernel.multiply_double.384.us");
    row(on_gpu([&] { attract<<<48, 128, 0, s>>>((float4 *)x, (float4 *)y, 6144); }),
        "kernel.attract.6144.us");
    row(on_gpu([&] { escape<<<dim3(48, 48), dim3(16, 16), 0, s>>>((int *)x, 768, 200); }),
        "kernel.escape.768.us");
    row(on_gpu([&] { hash<<<1500, 192, 0, s>>>((unsigned *)x, 300); }), "kernel.hash.300.us");
    row(on_gpu([&] { root<<<300, 128, 0, s>>>((double *)x, 100); }), "kernel.root.100.us");
}

// ---- several GPUs and the host ----

static void copies()
{
    char *a = on<char>(0, 50000000), *b = on<char>(1, 50000000), *host;
    char *c = on<char>(1, 50000000), *d = on<char>(0, 50000000);
    CHECK(cudaMallocHost(&host, 50000000));
    auto copy = [](void *to, const void *from, size_t bytes, int gpu) {
        CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream[gpu]));
    };
    row(on_gpu([&] { copy(b, a, 700000, 0); }), "peer.one_way.700KB.us");
    row(gbs(80000000, on_gpu([&] {
                wait_for(1, 0);
                copy(d, c, 40000000, 1);
                CHECK(cudaSetDevice(0));
                copy(b, a, 40000000, 0);
                wait_for(0, 1);
            })),
        "peer.both_ways.40MB.gbs");
    row(on_gpu([&] { copy(d, a, 12000000, 0); }), "inside.copy.12MB.us");
    row(on_gpu([&] { copy(host, a, 900000, 0); }), "host.from.900KB.us");
    row(gbs(40000000, on_gpu([&] {
                wait_for(1, 0);
                copy(c, host + 20000000, 20000000, 1);
                CHECK(cudaSetDevice(0));
                copy(host, a, 20000000, 0);
                wait_for(0, 1);
            })),
        "host.from_and_to_two.20MB.gbs");
    row(on_host([&] {
            CHECK(cudaMemcpyPeerAsync(b, 1, a, 0, 200000, nullptr));
            CHECK(cudaDeviceSynchronize());
        }),
        "call.default_stream.200KB.us");
    row(on_gpu([&] { add<<<200, 256, 0, stream[0]>>>((float *)a, (const float *)b, 2000000); }),
        "peer.add.8MB.us");
    CHECK(cudaFreeHost(host));
}

// An all-reduce of two GPUs: halves there, added, and back.
static void ring()
{
    enum { HALF = 1100000 };
    float *x[GPUS], *y[GPUS];
    for (int g = 0; g < GPUS; g++) {
        x[g] = on<float>(g, 2 * HALF);
        y[g] = on<float>(g, HALF);
    }
    row(on_gpu([&] {
            wait_for(1, 0);
            for (int g = 0; g < GPUS; g++) {
                CHECK(cudaSetDevice(g));
                CHECK(cudaMemcpyAsync(y[1 - g], x[g] + g * HALF, HALF * 4, cudaMemcpyDefault,
                                      stream[g]));
                CHECK(cudaEventRecord(last[g], stream[g]));
            }
            for (int g = 0; g < GPUS; g++) {
                CHECK(cudaSetDevice(g));
                CHECK(cudaStreamWaitEvent(stream[g], last[1 - g], 0));
                add<<<528, 256, 0, stream[g]>>>(x[g] + (1 - g) * HALF, y[g], HALF);
                CHECK(cudaMemcpyAsync(x[1 - g] + (1 - g) * HALF, x[g] + (1 - g) * HALF, HALF * 4,
                                      cudaMemcpyDefault, stream[g]));
            }
            wait_for(0, 1);
        }),
        "ring.8800KB.us");
}

__global__ void five_points(float *to, const float *from, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;
    const float *at = from + (size_t)y * width + x;
    to[(size_t)y * width + x] = 0.25f * (at[-1] + at[1] + at[-width] + at[width]);
}

// Six steps on two halves of 3072 x 1538, each with its neighbour's edge.
static void stencil()
{
    enum { WIDTH = 3072, HEIGHT = 1538, STEPS = 6 };
    float *at[GPUS][2];
    for (int g = 0; g < GPUS; g++)
        for (int i = 0; i < 2; i++)
            at[g][i] = on<float>(g, WIDTH * HEIGHT);
    row(on_gpu([&] {
            wait_for(1, 0);
            for (int i = 0; i < STEPS; i++)
                for (int g = 0; g < GPUS; g++) {
                    size_t mine = g == 0 ? HEIGHT - 2 : 1, theirs = g == 0 ? 0 : HEIGHT - 1;
                    CHECK(cudaSetDevice(g));
                    if (i > 0)
                        CHECK(cudaStreamWaitEvent(stream[g], last[1 - g], 0));
                    five_points<<<dim3(WIDTH / 32, (HEIGHT + 7) / 8), dim3(32, 8), 0, stream[g]>>>(
                        at[g][1 - i % 2], at[g][i % 2], WIDTH, HEIGHT);
                    CHECK(cudaMemcpyAsync(at[1 - g][1 - i % 2] + theirs * WIDTH,
                                          at[g][1 - i % 2] + mine * WIDTH, WIDTH * 4,
                                          cudaMemcpyDefault, stream[g]));
                    CHECK(cudaEventRecord(last[g], stream[g]));
                }
            wait_for(0, 1);
        }),
        "stencil.6x3072.us");
}

__global__ void nothing() {}

static void calls()
{
    row(on_host([] {
            for (int i = 0; i < 150; i++)
                nothing<<<4, 64, 0, stream[0]>>>();
            CHECK(cudaStreamSynchronize(stream[0]));
        }),
        "call.launches.150.us");
    row(on_host([] {
            void *memory;
            CHECK(cudaMallocAsync(&memory, 5000000, stream[0]));
            CHECK(cudaMemsetAsync(memory, 0, 5000000, stream[0]));
            CHECK(cudaFreeAsync(memory, stream[0]));
            CHECK(cudaStreamSynchronize(stream[0]));
        }),
        "call.malloc_async.5MB.us");
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeGlobal));
    wait_for(1, 0);
    for (int i = 0; i < 24; i++) {
        CHECK(cudaSetDevice(i % 2));
        nothing<<<4, 64, 0, stream[i % 2]>>>();
    }
    wait_for(0, 1);
    CHECK(cudaStreamEndCapture(stream[0], &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    row(on_host([&] {
            CHECK(cudaGraphLaunch(exec, stream[0]));
            CHECK(cudaStreamSynchronize(stream[0]));
        }),
        "call.graph.two_gpus.24.us");
}

// Another process, on GPU 1, gives its memory away and waits until it may end.
static void lend(int to, int until)
{
    void *memory;
    cudaIpcMemHandle_t handle;
    char byte;
    CHECK(cudaSetDevice(1));
    CHECK(cudaMalloc(&memory, 20000000));
    CHECK(cudaIpcGetMemHandle(&handle, memory));
    if (write(to, &handle, sizeof handle) != sizeof handle || read(until, &byte, 1) < 0)
        exit(1);
    CHECK(cudaFree(memory));
    exit(0);
}

static void across(int from)
{
    cudaIpcMemHandle_t handle;
    void *theirs;
    char *own = on<char>(0, 20000000);
    if (read(from, &handle, sizeof handle) != sizeof handle)
        exit(1);
    CHECK(cudaSetDevice(1));
    CHECK(cudaIpcOpenMemHandle(&theirs, handle, cudaIpcMemLazyEnablePeerAccess));
    CHECK(cudaSetDevice(0));
    row(on_gpu(
            [&] { CHECK(cudaMemcpyAsync(theirs, own, 17000000, cudaMemcpyDefault, stream[0])); }),
        "process.to.17MB.us");
    CHECK(cudaSetDevice(1));
    CHECK(cudaIpcCloseMemHandle(theirs));
}

int main()
{
    int handle[2], done[2];
    if (pipe(handle) != 0 || pipe(done) != 0)
        return 1;
    pid_t child = fork(); // before the first call of CUDA
    if (child == 0) {
        close(done[1]);
        lend(handle[1], done[0]);
    }
    close(done[0]);
    for (int g = 0; g < GPUS; g++) {
        CHECK(cudaSetDevice(g));
        CHECK(cudaDeviceEnablePeerAccess(1 - g, 0));
        CHECK(cudaStreamCreateWithFlags(&stream[g], cudaStreamNonBlocking));
        CHECK(cudaEventCreateWithFlags(&join[g], cudaEventDisableTiming));
        CHECK(cudaEventCreateWithFlags(&last[g], cudaEventDisableTiming));
    }
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    with_bytes();
    with_indices();
    with_numbers();
    copies();
    ring();
    stencil();
    calls();
    across(handle[0]);
    close(done[1]);
    int status;
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}
