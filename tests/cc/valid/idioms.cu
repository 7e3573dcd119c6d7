// SPDX-License-Identifier: MIT
// Idioms of real CUDA code, as people write them.
// prints: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18
#include <stdio.h>
#include <thread>
#include <vector>
#include <cuda_runtime.h>

#if 0
this is not code <<<
#endif
static const int between = 1;
#if 0
nor is this
#endif

cudaEvent_t start, stop; /* `start` is what a linker looks for by itself */
static const int BLOCK = 64;
static constexpr unsigned MASK = 0xffffffffu;

/* Shared memory of any type without clashing names. */
template <class T> struct SharedMemory {
    __device__ inline operator T *()
    {
        extern __shared__ int raw_memory[];
        return (T *)raw_memory;
    }
    __device__ inline operator const T *() const
    {
        extern __shared__ int raw_memory[];
        return (T *)raw_memory;
    }
};
template <> struct SharedMemory<double> {
    __device__ inline operator double *()
    {
        extern __shared__ double raw_memory_d[];
        return (double *)raw_memory_d;
    }
};

template <class T, unsigned int blockSize, bool nIsPow2>
__global__ void reduce(const T *__restrict__ in, T *__restrict__ const out, unsigned int n)
{
    T *sdata = SharedMemory<T>();
    unsigned int tid = threadIdx.x, gridSize = blockSize * gridDim.x;
    unsigned int i = blockIdx.x * blockSize + threadIdx.x;
    T mine = 0;

#pragma unroll 4
    for (; i < n; i += gridSize) {
        mine += in[i];
        if (nIsPow2 || i + blockSize < n)
            mine += T(0);
    }
    sdata[tid] = mine;
    __syncthreads();
#pragma unroll
    for (unsigned int s = blockSize / 2; s > 0; s >>= 1) {
        if (tid < s)
            sdata[tid] = mine = mine + sdata[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = mine;
}

template <class T> void launch_reduce(int threads, dim3 dimGrid, dim3 dimBlock, int smem, T *in, T *out, int n)
{
    switch (threads) {
    case 64: reduce<T, 64, true><<<dimGrid, dimBlock, smem>>>(in, out, n); break;
    case 32:
        reduce<T, 32, true><<<dimGrid, dimBlock, smem>>>(in, out, n);
        break;
    default: break;
    }
}

typedef int (*op_t)(int);
__device__ int triple(int n) { return 3 * n; }
__device__ int quadruple(int n) { return 4 * n; }
__device__ op_t operations[2] = {::triple, &quadruple};
static __device__ int (*one_operation)(int) = triple, (*more[])(int) = {triple, quadruple};
__constant__ float lut[] = {0.5f, 1.5f, 2.5f, 3.5f};
static __device__ const int steps[4] = {1, 2, 3, 4};
__device__ unsigned int retirementCount = 0;

namespace detail { namespace impl {
template <typename T> struct plus_one {
    __host__ __device__ T operator()(T x) const { return x + T(1); }
};
template <typename T, typename Op = plus_one<T>> __global__ void transform(T *p, Op op)
{
    *p = op(*p);
}
} }

class Solver {
  public:
    explicit Solver(int *p) : p_(p), stream_(nullptr) { cudaStreamCreate(&stream_); }
    ~Solver() { cudaStreamDestroy(stream_); }
    void run(int value);
    template <typename Op> Solver &apply(Op op)
    {
        detail::impl::transform<int, Op><<<1, 1, 0, this->stream_>>>(this->p_, op);
        return *this;
    }

  private:
    friend __global__ void set(int *, int);
    int *p_;
    cudaStream_t stream_;
    union {
        int a;
        float b;
    };
};

__global__ void set(int *p, int value)
{
    *p = value;
}

void Solver::run(int value)
{
    value > 0 ? set<<<1, 1, 0, stream_>>>(p_, value) : set<<<1, 1, 0, stream_>>>(p_, -value);
}

__global__ void __launch_bounds__(BLOCK) tables(int *out, int which)
{
    enum class kind { a = 1, b };
    using pointer = op_t;
    constexpr int fixed[2] = {9, 10};
    pointer f = operations[which];
    const auto k = kind::b;
    int r = f(1) + one_operation(0) + more[1](0);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 600
    r += 1;
#else
    r += 1000;
#endif
    switch (k) {
    case kind::a:
        r += 100;
        [[fallthrough]];
    case kind::b:
        r += steps[threadIdx.x & 3] - 1;
    }
    goto end;
end:
    *out = r + (fixed[0] - 9) + between - 1 + (int)lut[0];
    if (atomicInc(&retirementCount, gridDim.x) == gridDim.x - 1)
        retirementCount = 0;
}

__global__ void warp_scan(int *data)
{
    int lane = threadIdx.x & 31, value = data[threadIdx.x];
    for (int offset = 1; offset < warpSize; offset *= 2) {
        int other = __shfl_up_sync(MASK, value, offset);
        if (lane >= offset)
            value += other;
    }
    data[threadIdx.x] = value;
}

__global__ void transpose(const float4 *in, float4 *out)
{
    __shared__ float4 tile[2][2 + 1];
    auto x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[y * blockDim.x + x];
    __syncthreads();
    out[y * blockDim.x + x] = tile[x][y];
}

extern "C" {
__global__ void c_kernel(int *p) { *p += 1; }
int c_function(int *p)
{
    c_kernel<<<1, 1>>>(p);
    return 0;
}
}

template <typename F> void twice(F f)
{
    f();
    f();
}

static int get(const int *p)
{
    int host = -1;
    cudaMemcpy(&host, p, sizeof host, cudaMemcpyDeviceToHost);
    return host;
}

template <typename T> T reduced(int threads)
{
    std::vector<T> ones(32, T(1));
    T *in, *out, host = 0;
    cudaMalloc(&in, 32 * sizeof(T));
    cudaMalloc(&out, sizeof(T));
    cudaMemcpy(in, ones.data(), 32 * sizeof(T), cudaMemcpyHostToDevice);
    dim3 dimBlock(threads, 1, 1), dimGrid = {1, 1, 1};
    launch_reduce<T>(threads, dimGrid, dimBlock, threads * sizeof(T), in, out, threads == 64 ? 2 : 1);
    cudaMemcpy(&host, out, sizeof(T), cudaMemcpyDeviceToHost);
    cudaFree(in), cudaFree(out);
    return host;
}

int main()
{
    int *p;
    cudaMalloc(&p, 256);
    printf("%d %g ", reduced<int>(32), reduced<double>(64));
    Solver s(p);
    s.run(3);
    printf("%d ", get(p));
    s.run(-4);
    printf("%d ", get(p));
    printf("%d ", get((s.apply(detail::impl::plus_one<int>()), p)));
    tables<<<dim3(1), BLOCK>>>(p, 1);
    cudaDeviceSynchronize();
    set<<<1, 1>>>(p, 5);
    c_function(p);
    printf("%d ", get(p));
    twice([p] { c_kernel<<<1, 1>>>(p); });
    printf("%d ", get(p) - 1);
    std::thread([=]() { cudaSetDevice(0); (c_kernel)<<<1, 1 >>> /* ? */ (p); cudaDeviceSynchronize(); }).join();
    ((void (*)(int *))c_kernel)<<<1, 1>>>(p);
    printf("%d ", get(p) - 2);
    void (*table[])(int *) = {c_kernel, &c_kernel};
    for (auto k : table) k<<<1, 1>>>(p);
    table[1]<<<1, 1>>>(p);
    printf("%d ", get(p) - 4);
    auto generic = [](auto kernel, auto... args) { kernel<<<1, 1>>>(args...); };
    generic(set, p, 10);
    printf("%d ", get(p));
    int ones[64];
    for (int &one : ones)
        one = 1;
    cudaMemcpy(p, ones, sizeof ones, cudaMemcpyHostToDevice);
    warp_scan<<<1, 64>>>(p);
    printf("%d %d ", get(p + 10), get(p + 43));
    float4 *in, *out, host[4];
    cudaMalloc(&in, sizeof host), cudaMalloc(&out, sizeof host);
    for (int i = 0; i < 4; i++)
        host[i] = make_float4(13.f + i, 0, 0, 0);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    transpose<<<1, dim3(2, 2)>>>(in, out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    printf("%g %g %g %g ", host[0].x, host[2].x, host[1].x, host[3].x);
    tables<<<1, 1>>>(p, 0);
    printf("%d ", get(p) + 13);
    if constexpr (sizeof(void *) == 8) set<<<1, 1>>>(p, 18); else set<<<1, 1>>>(p, 0);
    printf("%d\n", get(p));
    return 0;
}
