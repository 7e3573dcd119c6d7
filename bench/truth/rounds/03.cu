// SPDX-License-Identifier: MIT
// 03.cu: thirty timings on four GPUs, chosen before any of them was asked of a machine: kernels of
// many shapes, copies of several GPUs at once, with each other and with the host, small rings,
// memory of another process, graphs. rounds.py predicts and measures.
enum { GPUS = 4 };
#include "round.h"

#include <sys/wait.h>
#include <unistd.h>

// ---- kernels ----

__global__ void gelu(float *y, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        y[i] = 0.5f * v * (1 + tanhf(0.7978846f * (v + 0.044715f * v * v * v)));
    }
}

__device__ float sum_of_warp(float v)
{
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_xor_sync(~0u, v, d);
    return v;
}

__global__ void normalise(float *y, const float *x, int width) // a warp a row
{
    size_t row = (size_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x % 32; i < width; i += 32) {
        float v = x[row * width + i];
        sum += v;
        squares += v * v;
    }
    float mean = sum_of_warp(sum) / width, square = sum_of_warp(squares) / width;
    float scale = rsqrtf(square - mean * mean + 1e-5f);
    for (int i = threadIdx.x % 32; i < width; i += 32)
        y[row * width + i] = (x[row * width + i] - mean) * scale;
}

__global__ void softmax(float *y, const float *x, int width) // a block a row
{
    __shared__ float part[8];
    float sum = 0;
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        sum += expf(x[(size_t)blockIdx.x * width + i]);
    sum = sum_of_warp(sum);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int i = 0; i < 8; i++)
        sum += part[i];
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        y[(size_t)blockIdx.x * width + i] = expf(x[(size_t)blockIdx.x * width + i]) / sum;
}

__global__ void count(unsigned *bin, int bins, int n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bin[(i * 2654435761u >> 7) % bins], 1);
}

__global__ void times_vector(float *y, const float *matrix, const float *x, int width)
{
    size_t row = (size_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    float sum = 0;
    for (int i = threadIdx.x % 32; i < width; i += 32)
        sum += matrix[row * width + i] * x[i];
    sum = sum_of_warp(sum);
    if (threadIdx.x % 32 == 0)
        y[row] = sum;
}

__global__ void divisors(int *out, int most)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x + 100000, found = 0;
    for (int d = 2; d < most; d++)
        found += n % d == 0;
    out[n - 100000] = found;
}

__global__ void take_rows(float *to, const float *from, int rows) // rows of 32 numbers
{
    unsigned row = blockIdx.x * blockDim.y + threadIdx.y;
    unsigned source = (row * 2654435761u >> 3) % rows;
    to[row * 32 + threadIdx.x] = from[source * 32 + threadIdx.x];
}

__global__ void series(double *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = x[i] * x[i] * (1 - x[i] * x[i] / 6) + sqrt(x[i] + 2);
}

__global__ void edges(unsigned char *to, const unsigned char *from, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;
    const unsigned char *at = from + (size_t)y * width + x;
    int across = at[1] - at[-1], down = at[width] - at[-width];
    to[(size_t)y * width + x] = (unsigned char)min(255, abs(across) + abs(down));
}

__global__ void add(float *to, const float *from, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        to[i] += from[i];
}

__global__ void multiply_tiles(const double *x, const double *y, double *z, int n)
{
    __shared__ double p[16][16], q[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    double sum = 0;
    for (int k = 0; k < n; k += 16) {
        p[threadIdx.y][threadIdx.x] = x[row * n + k + threadIdx.x];
        q[threadIdx.y][threadIdx.x] = y[(k + threadIdx.y) * n + col];
        __syncthreads();
        for (int m = 0; m < 16; m++)
            sum += p[threadIdx.y][m] * q[m][threadIdx.x];
        __syncthreads();
    }
    z[row * n + col] = sum;
}

static void kernels()
{
    enum { MOST = 17000000 };
    float *x = on<float>(0, MOST), *y = on<float>(0, MOST), *z = on<float>(0, 1 << 20);
    auto *bytes = reinterpret_cast<unsigned char *>(x);
    auto *others = reinterpret_cast<unsigned char *>(y);
    auto *d = reinterpret_cast<double *>(x), *e = reinterpret_cast<double *>(y);
    cudaStream_t s = stream[0];
    row(on_gpu([&] { gelu<<<12000, 250, 0, s>>>(y, x, 3000000); }), "kernel.gelu.3M.us");
    row(on_gpu([&] { normalise<<<2048, 128, 0, s>>>(y, x, 1024); }), "kernel.norm.8192x1024.us");
    row(on_gpu([&] { softmax<<<1800, 256, 0, s>>>(y, x, 500); }), "kernel.softmax.1800x500.us");
    row(on_gpu([&] { count<<<7813, 256, 0, s>>>((unsigned *)z, 65536, 2000000); }),
        "kernel.count.65536.us");
    row(on_gpu([&] { times_vector<<<1000, 128, 0, s>>>(z, x, y, 4000); }),
        "kernel.times_vector.4000.us");
    row(on_gpu([&] { divisors<<<400, 256, 0, s>>>((int *)z, 150); }), "kernel.divisors.150.us");
    row(on_gpu([&] { take_rows<<<30000, dim3(32, 8), 0, s>>>(y, x, 500000); }),
        "kernel.take_rows.240000.us");
    row(on_gpu([&] { series<<<15625, 192, 0, s>>>(d, 3000000); }), "kernel.series.3M.us");
    row(on_gpu([&] { edges<<<dim3(94, 375), dim3(32, 8), 0, s>>>(others, bytes, 3000, 3000); }),
        "kernel.edges.3000.us");
    row(on_gpu([&] { add<<<3, 256, 0, s>>>(y, x, 600000); }), "kernel.three_blocks.2400KB.us");
    row(on_gpu(
            [&] { multiply_tiles<<<dim3(30, 30), dim3(16, 16), 0, s>>>(d, d + 230400, e, 480); }),
        "kernel.multiply_tiles.480.us");
    row(on_gpu([&] { add<<<66, 1024, 0, s>>>(y, x, 16000000); }), "kernel.half_full.64MB.us");
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    CHECK(cudaFree(z));
}

// ---- copies ----

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

static void copies()
{
    const size_t MB = 1000000;
    for (int g = 0; g < GPUS; g++) {
        block[g] = on<char>(g, 120 * MB);
        other[g] = on<char>(g, 120 * MB);
    }
    CHECK(cudaMallocHost(&host, 200 * MB));
    row(on_gpu([&] { copy(block[1], block[0], 5 * MB, 0); }), "peer.one_way.5MB.us");
    row(gbs(18 * MB, together([&] {
                copy(other[0], other[2], 9 * MB, 2);
                copy(block[2], block[0], 9 * MB, 0);
            })),
        "peer.both_ways.9MB.gbs");
    row(gbs(90 * MB, together([&] {
                for (int g = 1; g < GPUS; g++)
                    copy(block[0] + g * 30 * MB, block[g], 30 * MB, g);
            })),
        "peer.from_three.30MB.gbs");
    row(gbs(160 * MB, together([&] {
                for (int g = 0; g < GPUS; g++)
                    copy(other[(g + 1) % GPUS], block[g], 40 * MB, g);
            })),
        "peer.around.40MB.gbs");
    row(gbs(100 * MB, together([&] {
                for (int g = 0; g < GPUS; g++)
                    copy(host + g * 25 * MB, block[g], 25 * MB, g);
            })),
        "host.from_four.25MB.gbs");
    row(gbs(100 * MB, together([&] {
                for (int g = 0; g < GPUS; g++)
                    copy(block[g], host + g * 25 * MB, 25 * MB, g);
            })),
        "host.to_four.25MB.gbs");
    row(gbs(64 * MB, together([&] {
                for (int g = 0; g < GPUS; g++)
                    if (g % 2 == 0)
                        copy(host + g * 16 * MB, block[g], 16 * MB, g);
                    else
                        copy(block[g], host + g * 16 * MB, 16 * MB, g);
            })),
        "host.from_two_to_two.16MB.gbs");
    row(on_gpu([&] { copy(other[0], block[0], 70 * MB, 0); }), "inside.copy.70MB.us");
    row(on_host([&] {
            for (int i = 0; i < 30; i++)
                copy(block[0] + i * 4096, host + i * 4096, 4096, 0);
            CHECK(cudaStreamSynchronize(stream[0]));
        }),
        "host.to.30x4KB.us");
}

// ---- rings ----

// An all-reduce around all GPUs, n numbers each, by copies, events and additions.
static void around(int n)
{
    int chunk = n / GPUS;
    for (int step = 0; step < 2 * (GPUS - 1); step++) {
        for (int g = 0; g < GPUS; g++) {
            int which = ((g - step) % GPUS + GPUS) % GPUS, next = (g + 1) % GPUS;
            auto *from = reinterpret_cast<float *>(block[g]) + which * chunk;
            auto *to = step < GPUS - 1 ? other[next] : block[next];
            copy(reinterpret_cast<float *>(to) + which * chunk, from, chunk * sizeof(float), g);
            CHECK(cudaEventRecord(last[g], stream[g]));
        }
        for (int g = 0; g < GPUS; g++) {
            int left = (g + GPUS - 1) % GPUS, which = ((left - step) % GPUS + GPUS) % GPUS;
            CHECK(cudaSetDevice(g));
            CHECK(cudaStreamWaitEvent(stream[g], last[left], 0));
            if (step < GPUS - 1)
                add<<<264, 256, 0, stream[g]>>>(reinterpret_cast<float *>(block[g]) + which * chunk,
                                                reinterpret_cast<float *>(other[g]) + which * chunk,
                                                chunk);
        }
    }
}

__global__ void add_three(float *to, const float *a, const float *b, const float *c, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        to[i] += a[i] + b[i] + c[i];
}

static void rings()
{
    row(together([] { around(32768); }), "ring.four.128KB.us");
    row(together([] { around(3000000); }), "ring.four.12MB.us");
    row(together([] {
            for (int g = 0; g < GPUS; g++) {
                CHECK(cudaSetDevice(g));
                add_three<<<132, 512, 0, stream[g]>>>(
                    (float *)other[g], (float *)block[(g + 1) % GPUS],
                    (float *)block[(g + 2) % GPUS], (float *)block[(g + 3) % GPUS], 300000);
            }
        }),
        "peer.add_three.1200KB.us");
}

// ---- graphs and another process ----

__global__ void nothing() {}

static cudaGraphExec_t captured(const std::function<void()> &work)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeGlobal));
    work();
    CHECK(cudaStreamEndCapture(stream[0], &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
}

static void launch_and_wait(cudaGraphExec_t exec)
{
    CHECK(cudaSetDevice(0));
    CHECK(cudaGraphLaunch(exec, stream[0]));
    CHECK(cudaStreamSynchronize(stream[0]));
}

static void graphs()
{
    cudaGraphExec_t chain = captured([] {
        for (int i = 0; i < 80; i++)
            nothing<<<8, 128, 0, stream[0]>>>();
    });
    row(on_host([&] { launch_and_wait(chain); }), "call.graph.chain.80.us");
    cudaGraphExec_t four = captured([] {
        for (int g = 1; g < GPUS; g++)
            wait_for(g, 0);
        for (int i = 0; i < 40; i++) {
            CHECK(cudaSetDevice(i % GPUS));
            nothing<<<8, 128, 0, stream[i % GPUS]>>>();
        }
        for (int g = 1; g < GPUS; g++)
            wait_for(0, g);
    });
    row(on_host([&] { launch_and_wait(four); }), "call.graph.four_gpus.40.us");
    cudaGraphExec_t ring = captured([] {
        for (int g = 1; g < GPUS; g++)
            wait_for(g, 0);
        around(600000);
        for (int g = 1; g < GPUS; g++)
            wait_for(0, g);
    });
    row(on_host([&] { launch_and_wait(ring); }), "ring.graph.2400KB.us");
}

// Another process, on GPU 1, gives its memory away and waits until it may end.
static void lend(int to, int until)
{
    void *memory;
    cudaIpcMemHandle_t handle;
    char byte;
    CHECK(cudaSetDevice(1));
    CHECK(cudaMalloc(&memory, 40000000));
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
    if (read(from, &handle, sizeof handle) != sizeof handle)
        exit(1);
    CHECK(cudaSetDevice(0));
    CHECK(cudaIpcOpenMemHandle(&theirs, handle, cudaIpcMemLazyEnablePeerAccess));
    row(on_gpu([&] { copy(theirs, block[0], 3000000, 0); }), "process.to.3MB.us");
    row(on_gpu([&] { copy(block[0], theirs, 33000000, 0); }), "process.from.33MB.us");
    row(on_gpu(
            [&] { add<<<528, 256, 0, stream[0]>>>((float *)block[0], (float *)theirs, 1000000); }),
        "process.add.4MB.us");
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
    set_up();
    kernels();
    copies();
    rings();
    graphs();
    across(handle[0]);
    close(done[1]);
    int status;
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}
