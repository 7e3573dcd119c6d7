// SPDX-License-Identifier: MIT
// kernels.cu: microbenchmarks that the virtual clock's model of a kernel is fitted to, one kind of
// limit a group: latency of dependent loads, blocks and threads in flight, arithmetic, atomics on
// few addresses, shared memory and barriers, what L2 holds, sectors that are written in parts.
// `kernels` prints them all, `kernels GROUP...` some; one GPU.
#include "rows.h"

#include <cstring>

enum { SMS = 132 };

static cudaStream_t stream;
static cudaEvent_t start, stop;
static float *a, *b;
static const size_t MOST = 288 * MIB;

// Both arrays anew, as large as what follows needs: the virtual node takes them for what it works
// on.
static void allocate(size_t bytes)
{
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaMalloc(&a, bytes));
    CHECK(cudaMalloc(&b, bytes));
    CHECK(cudaMemset(a, 0, bytes));
    CHECK(cudaMemset(b, 0, bytes));
    CHECK(cudaDeviceSynchronize());
}

static double on_gpu(const std::function<void()> &work)
{
    return median([&] {
        CHECK(cudaEventRecord(start, stream));
        work();
        CHECK(cudaEventRecord(stop, stream));
        CHECK(cudaEventSynchronize(stop));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        return static_cast<double>(ms) * 1e3;
    });
}

__global__ void nothing() {}

static void group_launch()
{
    for (int blocks : {1, 132, 1056, 10000, 100000})
        for (int threads : {32, 256, 1024})
            row(on_gpu([&] { nothing<<<blocks, threads, 0, stream>>>(); }), "launch.%d.%d.us",
                blocks, threads);
    row(on_gpu([] {}), "launch.events.us");
    row(on_gpu([] {
            for (int i = 0; i < 20; i++)
                nothing<<<1, 32, 0, stream>>>();
        }),
        "launch.twenty.us");
}

// ---- dependent loads ----

__global__ void chase(const int *next, int steps, int *end)
{
    int at = 0;
    for (int i = 0; i < steps; i++)
        at = next[at];
    *end = at;
}

__global__ void chase_shared(int steps, int *end)
{
    __shared__ int next[1024];
    next[threadIdx.x] = (threadIdx.x + 33) % 1024;
    __syncthreads();
    int at = threadIdx.x;
    for (int i = 0; i < steps; i++)
        at = next[at];
    end[threadIdx.x] = at;
}

static void group_chase()
{
    for (size_t kib : {16, 128, 1024, 8192, 32768, 65536, 262144}) {
        size_t lines = kib * KIB / 128, stride = lines / 7 * 3 | 1;
        std::vector<int> next(lines * 32);
        while (lines % stride == 0)
            stride += 2;
        for (size_t i = 0, at = 0; i < lines; i++, at = (at + stride) % lines)
            next[at * 32] = static_cast<int>((at + stride) % lines * 32);
        CHECK(cudaMemcpy(a, next.data(), next.size() * 4, cudaMemcpyDefault));
        row(on_gpu([&] {
                chase<<<1, 1, 0, stream>>>(reinterpret_cast<int *>(a), 8192,
                                           reinterpret_cast<int *>(b));
            }),
            "chase.%zuKiB.8192.us", kib);
    }
    row(on_gpu([&] { chase_shared<<<1, 1024, 0, stream>>>(8192, reinterpret_cast<int *>(b)); }),
        "chase.shared.8192.us");
}

// ---- reads by few and by many ----

__global__ void sum_one(const float *in, float *out, int each)
{
    const float *from = in + (size_t)blockIdx.x * each;
    float sum = 0;
    for (int i = threadIdx.x; i < each; i += blockDim.x)
        sum += from[i];
    if (sum == 12345)
        *out = sum;
}

__global__ void sum_four(const float *in, float *out, int each)
{
    const float *from = in + (size_t)blockIdx.x * each;
    float s = 0, t = 0, u = 0, v = 0;
    for (int i = threadIdx.x; i < each; i += 4 * blockDim.x) {
        s += from[i];
        t += from[i + blockDim.x];
        u += from[i + 2 * blockDim.x];
        v += from[i + 3 * blockDim.x];
    }
    if (s + t + u + v == 12345)
        *out = s;
}

__global__ void sum_wide(const float4 *in, float *out, int each)
{
    const float4 *from = in + (size_t)blockIdx.x * each;
    float sum = 0;
    for (int i = threadIdx.x; i < each; i += blockDim.x) {
        float4 x = from[i];
        sum += x.x + x.y + x.z + x.w;
    }
    if (sum == 12345)
        *out = sum;
}

__global__ void sum_grid(const float *in, float *out, int n)
{
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    if (sum == 12345)
        *out = sum;
}

static void group_read()
{
    for (int threads : {32, 128, 512, 1024}) { // one block: 512 KiB stay in L2, 64 MiB do not
        row(on_gpu([&] { sum_one<<<1, threads, 0, stream>>>(a, b, 131072); }), "read.one.L2.%d.us",
            threads);
        row(on_gpu([&] { sum_four<<<1, threads, 0, stream>>>(a, b, 131072); }),
            "read.four.L2.%d.us", threads);
        row(on_gpu([&] { sum_wide<<<1, threads, 0, stream>>>((float4 *)a, b, 32768); }),
            "read.wide.L2.%d.us", threads);
    }
    for (int blocks :
         {8, 33, 66, 132, 264, 528, 1056, 2112}) { // 128 KiB a block, from memory or L2
        int each = 32768;
        row(on_gpu([&] { sum_one<<<blocks, 256, 0, stream>>>(a, b, each); }), "read.one.%d.256.us",
            blocks);
        row(on_gpu([&] { sum_four<<<blocks, 256, 0, stream>>>(a, b, each); }),
            "read.four.%d.256.us", blocks);
        row(on_gpu([&] { sum_wide<<<blocks, 256, 0, stream>>>((float4 *)a, b, each / 4); }),
            "read.wide.%d.256.us", blocks);
        row(on_gpu([&] { sum_one<<<blocks, 1024, 0, stream>>>(a, b, each); }),
            "read.one.%d.1024.us", blocks);
    }
    for (int blocks : {33, 66, 132, 264, 528, 1056, 2112}) { // 256 MiB
        row(on_gpu([&] { sum_grid<<<blocks, 256, 0, stream>>>(a, b, 64 << 20); }),
            "read.grid.256MiB.%d.256.us", blocks);
        row(on_gpu([&] { sum_grid<<<blocks, 1024, 0, stream>>>(a, b, 64 << 20); }),
            "read.grid.256MiB.%d.1024.us", blocks);
    }
    for (int mib : {4, 16, 24, 40, 48, 80})
        row(on_gpu([&] { sum_grid<<<1056, 256, 0, stream>>>(a, b, mib << 18); }),
            "read.grid.%dMiB.1056.256.us", mib);
}

// ---- one element a thread ----

__global__ void axpy(float *y, const float *x, float f, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = f * x[i] + y[i];
}

__global__ void fill(float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 1;
}

__global__ void copy(float4 *y, const float4 *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i];
}

static void group_each()
{
    for (int n : {1000, 30000, 100000, 1000000, 3000000, 30000000})
        for (int threads : {64, 256, 1024})
            row(on_gpu(
                    [&] { axpy<<<(n + threads - 1) / threads, threads, 0, stream>>>(b, a, 2, n); }),
                "each.axpy.%d.%d.us", n, threads);
    for (int n : {1000000, 4000000, 8000000, 50000000})
        row(on_gpu([&] { fill<<<(n + 255) / 256, 256, 0, stream>>>(b, n); }), "each.fill.%d.256.us",
            n);
    for (int n : {250000, 1000000, 2000000, 12500000})
        row(on_gpu([&] {
                copy<<<(n + 255) / 256, 256, 0, stream>>>((float4 *)b, (const float4 *)a, n);
            }),
            "each.copy.%d.256.us", n);
}

// ---- arithmetic ----

template <typename T> __global__ void fma_one(T *out, T f, int rounds)
{
    T s = threadIdx.x;
    for (int i = 0; i < rounds; i++)
        s = s * f + f;
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}

template <typename T> __global__ void fma_four(T *out, T f, int rounds)
{
    T s = threadIdx.x, t = s + 1, u = s + 2, v = s + 3;
    for (int i = 0; i < rounds; i++) {
        s = s * f + f;
        t = t * f + f;
        u = u * f + f;
        v = v * f + f;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = s + t + u + v;
}

__global__ void logic(unsigned *out, unsigned f, int rounds)
{
    unsigned s = threadIdx.x, t = s + 1, u = s + 2, v = s + 3;
    for (int i = 0; i < rounds; i++) {
        s = (s ^ f) + (s >> 3);
        t = (t ^ f) + (t >> 3);
        u = (u ^ f) + (u >> 3);
        v = (v ^ f) + (v >> 3);
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = s + t + u + v;
}

__global__ void special(float *out, float f, int rounds)
{
    float s = threadIdx.x, t = s + 1, u = s + 2, v = s + 3;
    for (int i = 0; i < rounds; i++) {
        s = rsqrtf(s + f);
        t = rsqrtf(t + f);
        u = rsqrtf(u + f);
        v = rsqrtf(v + f);
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = s + t + u + v;
}

__global__ void sine(float *out, float f, int rounds)
{
    float s = threadIdx.x;
    for (int i = 0; i < rounds; i++)
        s = sinf(s + f);
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}

__global__ void exponential(float *out, float f, int rounds)
{
    float s = threadIdx.x;
    for (int i = 0; i < rounds; i++)
        s = expf(-s * f);
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}

template <typename T> __global__ void divide(T *out, T f, int rounds)
{
    T s = threadIdx.x + 1000;
    for (int i = 0; i < rounds; i++)
        s = (s + 77777) / f;
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}

__global__ void root(float *out, float f, int rounds)
{
    float s = threadIdx.x;
    for (int i = 0; i < rounds; i++)
        s = sqrtf(s + f);
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}

static void group_math()
{
    struct shape {
        int blocks, threads;
    };
    int *i = reinterpret_cast<int *>(b);
    double *d = reinterpret_cast<double *>(b);
    for (shape g : {shape{1, 32}, {1, 128}, {1, 1024}, {132, 256}, {1056, 256}}) {
        auto time = [&](const char *name, const std::function<void()> &launch) {
            row(on_gpu(launch), "math.%s.%d.%d.us", name, g.blocks, g.threads);
        };
        time("float_one", [&] { fma_one<<<g.blocks, g.threads, 0, stream>>>(b, 0.5f, 4096); });
        time("float_four", [&] { fma_four<<<g.blocks, g.threads, 0, stream>>>(b, 0.5f, 1024); });
        time("double_one", [&] { fma_one<<<g.blocks, g.threads, 0, stream>>>(d, 0.5, 4096); });
        time("double_four", [&] { fma_four<<<g.blocks, g.threads, 0, stream>>>(d, 0.5, 1024); });
        time("int_four", [&] { fma_four<<<g.blocks, g.threads, 0, stream>>>(i, 5, 1024); });
        time("logic", [&] { logic<<<g.blocks, g.threads, 0, stream>>>((unsigned *)i, 5, 1024); });
        time("rsqrt", [&] { special<<<g.blocks, g.threads, 0, stream>>>(b, 0.5f, 256); });
        time("sin", [&] { sine<<<g.blocks, g.threads, 0, stream>>>(b, 0.5f, 256); });
        time("exp", [&] { exponential<<<g.blocks, g.threads, 0, stream>>>(b, 0.5f, 256); });
        time("sqrt", [&] { root<<<g.blocks, g.threads, 0, stream>>>(b, 0.5f, 256); });
        time("div_float", [&] { divide<<<g.blocks, g.threads, 0, stream>>>(b, 3.5f, 256); });
        time("div_int", [&] { divide<<<g.blocks, g.threads, 0, stream>>>(i, 7, 256); });
        time("div_double", [&] { divide<<<g.blocks, g.threads, 0, stream>>>(d, 3.5, 256); });
    }
    for (int blocks : {131, 133, 264, 265, 1057, 1100, 1584, 2112, 2113}) // waves
        row(on_gpu([&] { fma_one<<<blocks, 256, 0, stream>>>(b, 0.5f, 8192); }),
            "math.waves.%d.256.us", blocks);
    CHECK(
        cudaFuncSetAttribute(fma_one<float>, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    for (int blocks : {132, 264, 528}) // two blocks fit a processor
        row(on_gpu([&] { fma_one<<<blocks, 256, 100000, stream>>>(b, 0.5f, 8192); }),
            "math.two_fit.%d.256.us", blocks);
}

// ---- atomics ----

__global__ void add_same(int *to)
{
    atomicAdd(to, 1);
}

__global__ void add_float(float *to)
{
    atomicAdd(to, 1.0f);
}

__global__ void add_returning(int *to, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = atomicAdd(to, 1);
}

__global__ void add_apart(int *to, int stride, int mask)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(to + ((i & mask) * stride), 1);
}

__global__ void add_random(int *to, unsigned mask)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(to + ((i * 2654435761u >> 4) & mask), 1);
}

__global__ void add_shared(int *out, int mask, int rounds)
{
    __shared__ int bin[1024];
    bin[threadIdx.x] = 0;
    __syncthreads();
    for (int i = 0; i < rounds; i++)
        atomicAdd(&bin[(threadIdx.x + i) & mask], 1);
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = bin[threadIdx.x];
}

__global__ void swap_loop(int *to, int rounds)
{
    for (int i = 0; i < rounds; i++)
        atomicExch(to, i);
}

static void group_atomic()
{
    int *to = reinterpret_cast<int *>(b), *out = reinterpret_cast<int *>(a);
    for (int blocks : {1, 132, 1056, 8448}) {
        row(on_gpu([&] { add_same<<<blocks, 256, 0, stream>>>(to); }), "atomic.same.%d.us", blocks);
        row(on_gpu([&] { add_float<<<blocks, 256, 0, stream>>>(b); }), "atomic.float.%d.us",
            blocks);
        row(on_gpu([&] { add_returning<<<blocks, 256, 0, stream>>>(to, out); }),
            "atomic.returning.%d.us", blocks);
        row(on_gpu([&] { add_apart<<<blocks, 256, 0, stream>>>(to, 1, 0xffffff); }),
            "atomic.each.%d.us", blocks);
        row(on_gpu([&] { add_apart<<<blocks, 256, 0, stream>>>(to, 8, 0xffffff); }),
            "atomic.sector.%d.us", blocks);
        row(on_gpu([&] { add_apart<<<blocks, 256, 0, stream>>>(to, 1, 31); }),
            "atomic.thirtytwo.%d.us", blocks);
        row(on_gpu([&] { add_random<<<blocks, 256, 0, stream>>>(to, 255); }),
            "atomic.random.256.%d.us", blocks);
    }
    allocate(4 * MIB);
    to = reinterpret_cast<int *>(b);
    for (int blocks : {1, 132, 1056, 8448})
        row(on_gpu([&] { add_random<<<blocks, 256, 0, stream>>>(to, 0xfffff); }),
            "atomic.random.1M.%d.us", blocks);
    allocate(MOST);
    to = reinterpret_cast<int *>(b);
    row(on_gpu([&] { swap_loop<<<1, 1, 0, stream>>>(to, 1000); }), "atomic.chain.1000.us");
    for (int mask : {0, 31, 1023})
        for (int blocks : {1, 528})
            row(on_gpu([&] { add_shared<<<blocks, 1024, 0, stream>>>(to, mask, 256); }),
                "atomic.shared.%d.%d.us", mask + 1, blocks);
}

// ---- shared memory, barriers, shuffles ----

__global__ void barriers(int rounds)
{
    for (int i = 0; i < rounds; i++)
        __syncthreads();
}

__global__ void shuffles(int *out, int rounds)
{
    int x = threadIdx.x;
    for (int i = 0; i < rounds; i++)
        x += __shfl_xor_sync(~0u, x, 1);
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

__global__ void share(float *out, int rounds)
{
    __shared__ float tile[2048];
    tile[threadIdx.x] = threadIdx.x;
    tile[threadIdx.x + 1024] = 1;
    __syncthreads();
    float s = 0, t = 0, u = 0, v = 0;
    for (int i = 0; i < rounds; i++) {
        int at = threadIdx.x + i % 64 * 4;
        s += tile[at];
        t += tile[at + 32];
        u += tile[at + 64];
        v += tile[at + 96];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = s + t + u + v;
}

__global__ void reduce(const float *in, float *out)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

__global__ void multiply(const float *x, const float *y, float *z, int n) // 16 x 16 tiles
{
    __shared__ float p[16][16], q[16][16];
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        p[threadIdx.y][threadIdx.x] = x[i * n + k + threadIdx.x];
        q[threadIdx.y][threadIdx.x] = y[(k + threadIdx.y) * n + j];
        __syncthreads();
        for (int m = 0; m < 16; m++)
            sum += p[threadIdx.y][m] * q[m][threadIdx.x];
        __syncthreads();
    }
    z[i * n + j] = sum;
}

__global__ void multiply_plain(const float *x, const float *y, float *z, int n)
{
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += x[i * n + k] * y[k * n + j];
    z[i * n + j] = sum;
}

static void group_shared()
{
    for (int blocks : {1, 1056}) {
        for (int threads : {32, 256, 1024})
            row(on_gpu([&] { barriers<<<blocks, threads, 0, stream>>>(1000); }),
                "shared.barriers.%d.%d.us", blocks, threads);
        row(on_gpu([&] { shuffles<<<blocks, 256, 0, stream>>>((int *)b, 1000); }),
            "shared.shuffles.%d.256.us", blocks);
        row(on_gpu([&] { share<<<blocks, 1024, 0, stream>>>(b, 1024); }), "shared.loads.%d.1024.us",
            blocks);
        row(on_gpu([&] { share<<<blocks, 256, 0, stream>>>(b, 1024); }), "shared.loads.%d.256.us",
            blocks);
    }
    for (int blocks : {100, 4000, 40000})
        row(on_gpu([&] { reduce<<<blocks, 256, 0, stream>>>(a, b); }), "shared.reduce.%d.us",
            blocks);
    for (int n : {64, 256, 512, 1024}) {
        allocate((size_t)n * n * 8);
        row(on_gpu([&] {
                multiply<<<dim3(n / 16, n / 16), dim3(16, 16), 0, stream>>>(a, a + n * n, b, n);
            }),
            "shared.multiply.%d.us", n);
        row(on_gpu([&] {
                multiply_plain<<<dim3(n / 16, n / 16), dim3(16, 16), 0, stream>>>(a, a + n * n, b,
                                                                                  n);
            }),
            "shared.multiply_plain.%d.us", n);
    }
    allocate(MOST);
}

// ---- sectors ----

__global__ void read_stride(const float *in, float *out, int stride, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[(size_t)i * stride] == 12345)
        *out = 1;
}

__global__ void write_stride(float *out, int stride, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[(size_t)i * stride] = 1;
}

__global__ void gather(const float *in, float *out, unsigned mask)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[(i * 2654435761u >> 3) & mask];
}

__global__ void scatter(const float *in, float *out, unsigned mask)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[(i * 2654435761u >> 3) & mask] = in[i];
}

__global__ void transpose_read(float *out, const float *in, int n) // reads rows
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    out[(size_t)x * n + y] = in[(size_t)y * n + x];
}

__global__ void transpose_write(float *out, const float *in, int n) // writes rows
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    out[(size_t)y * n + x] = in[(size_t)x * n + y];
}

__global__ void stencil(float *out, const float *in, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1) {
        const float *at = in + (size_t)y * n + x;
        out[(size_t)y * n + x] = 0.25f * (at[-1] + at[1] + at[-n] + at[n]);
    }
}

static void group_sector()
{
    int n = 1 << 20;
    for (int stride : {1, 2, 4, 8, 16, 32}) {
        row(on_gpu([&] { read_stride<<<n / 256, 256, 0, stream>>>(a, b, stride, n); }),
            "sector.read.%d.us", stride);
        row(on_gpu([&] { write_stride<<<n / 256, 256, 0, stream>>>(b, stride, n); }),
            "sector.write.%d.us", stride);
    }
    for (int bits : {18, 22, 26}) {
        allocate(std::max((size_t)16 * MIB, (size_t)4 << bits));
        row(on_gpu([&] { gather<<<16384, 256, 0, stream>>>(a, b, (1u << bits) - 1); }),
            "sector.gather.%d.us", bits);
        row(on_gpu([&] { scatter<<<16384, 256, 0, stream>>>(a, b, (1u << bits) - 1); }),
            "sector.scatter.%d.us", bits);
    }
    allocate(MOST);
    for (int side : {512, 1024, 2048, 6144}) {
        dim3 grid(side / 32, side / 8), block(32, 8);
        row(on_gpu([&] { transpose_read<<<grid, block, 0, stream>>>(b, a, side); }),
            "sector.transpose_read.%d.us", side);
        row(on_gpu([&] { transpose_write<<<grid, block, 0, stream>>>(b, a, side); }),
            "sector.transpose_write.%d.us", side);
        row(on_gpu([&] { stencil<<<grid, block, 0, stream>>>(b, a, side); }),
            "sector.stencil.%d.us", side);
    }
}

int main(int count, char **word)
{
    static const struct {
        const char *name;
        void (*run)();
    } groups[] = {{"launch", group_launch}, {"chase", group_chase},  {"read", group_read},
                  {"each", group_each},     {"math", group_math},    {"atomic", group_atomic},
                  {"shared", group_shared}, {"sector", group_sector}};
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaMalloc(&a, MOST));
    CHECK(cudaMalloc(&b, MOST));
    CHECK(cudaMemset(a, 0, MOST));
    CHECK(cudaMemset(b, 0, MOST));
    for (const auto &group : groups) {
        bool wanted = count == 1;
        for (int i = 1; i < count; i++)
            wanted = wanted || strcmp(word[i], group.name) == 0;
        if (wanted)
            group.run();
    }
    return 0;
}
