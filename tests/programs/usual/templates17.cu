// SPDX-License-Identifier: MIT
// Histogram, transpose, prefix scan and dot product in C++17, one host thread a GPU.
#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <cstdio>

#include <cuda_runtime.h>

static void check(cudaError_t status, const char *what)
{
    if (status != cudaSuccess)
        throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}
#define CHECK(call) check((call), #call)

template <typename T> struct device_delete {
    void operator()(T *p) const
    {
        cudaFree(p);
    }
};
template <typename T> using device_ptr = std::unique_ptr<T[], device_delete<T>>;

template <typename T> device_ptr<T> make_device(const std::vector<T> &from)
{
    static_assert(std::is_trivially_copyable_v<T>);
    T *p = nullptr;
    CHECK(cudaMalloc(&p, from.size() * sizeof(T)));
    device_ptr<T> owner(p);
    CHECK(cudaMemcpy(p, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
    return owner;
}

template <typename T> std::vector<T> to_host(const device_ptr<T> &p, std::size_t n)
{
    std::vector<T> host(n);
    CHECK(cudaMemcpy(host.data(), p.get(), n * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}

template <int Bins> __global__ void histogram(const unsigned char *data, int n, unsigned int *out)
{
    __shared__ unsigned int local[Bins];
    for (int b = threadIdx.x; b < Bins; b += blockDim.x)
        local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[data[i] % Bins], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < Bins; b += blockDim.x)
        atomicAdd(&out[b], local[b]);
}

template <typename T, int Tile, int Rows>
__global__ void transpose(T *__restrict__ out, const T *__restrict__ in, int width, int height)
{
    __shared__ T tile[Tile][Tile + 1];
    int x = blockIdx.x * Tile + threadIdx.x, y = blockIdx.y * Tile + threadIdx.y;
    for (int j = 0; j < Tile; j += Rows)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * Tile + threadIdx.x;
    y = blockIdx.x * Tile + threadIdx.y;
    for (int j = 0; j < Tile; j += Rows)
        if (x < height && y + j < width)
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

template <typename T> __global__ void scan_block(T *data, T *sums, int n)
{
    extern __shared__ unsigned char raw[];
    T *temp = reinterpret_cast<T *>(raw);
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int in = 1, out = 0;
    temp[threadIdx.x] = i < n ? data[i] : T{};
    __syncthreads();
    for (unsigned int offset = 1; offset < blockDim.x; offset *= 2) {
        out = 1 - out;
        in = 1 - out;
        T value = temp[in * blockDim.x + threadIdx.x];
        if (threadIdx.x >= offset)
            value += temp[in * blockDim.x + threadIdx.x - offset];
        temp[out * blockDim.x + threadIdx.x] = value;
        __syncthreads();
    }
    if (i < n)
        data[i] = temp[out * blockDim.x + threadIdx.x];
    if (sums != nullptr && threadIdx.x == blockDim.x - 1)
        sums[blockIdx.x] = temp[out * blockDim.x + threadIdx.x];
}

template <typename T> __global__ void add_before(T *data, const T *sums, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x > 0 && i < n)
        data[i] += sums[blockIdx.x - 1];
}

template <typename T> __inline__ __device__ T warp_sum(T value)
{
#pragma unroll
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;
}

template <typename T, typename Op>
__global__ void dot(const T *a, const T *b, int n, T *result, Op op)
{
    __shared__ T warps[32];
    T mine{};
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        mine += op(a[i], b[i]);
    mine = warp_sum(mine);
    if (threadIdx.x % warpSize == 0)
        warps[threadIdx.x / warpSize] = mine;
    __syncthreads();
    if (threadIdx.x < warpSize) {
        mine = threadIdx.x < blockDim.x / warpSize ? warps[threadIdx.x] : T{};
        mine = warp_sum(mine);
        if (threadIdx.x == 0)
            atomicAdd(result, mine);
    }
}

struct multiply {
    template <typename T> __host__ __device__ constexpr T operator()(T a, T b) const
    {
        return a * b;
    }
};

static bool check_histogram()
{
    std::vector<unsigned char> data(10007);
    std::vector<unsigned int> want(64);
    for (std::size_t i = 0; i < data.size(); i++)
        want[(data[i] = static_cast<unsigned char>(i * i + 3 * i)) % 64]++;
    auto in = make_device(data);
    auto out = make_device(std::vector<unsigned int>(64));
    histogram<64><<<8, 128>>>(in.get(), static_cast<int>(data.size()), out.get());
    return to_host(out, 64) == want;
}

template <typename T> static bool check_transpose(int width, int height)
{
    std::vector<T> data(width * height);
    std::iota(data.begin(), data.end(), T{1});
    auto in = make_device(data), out = make_device(std::vector<T>(data.size()));
    dim3 grid((width + 15) / 16, (height + 15) / 16), block(16, 4);
    transpose<T, 16, 4><<<grid, block>>>(out.get(), in.get(), width, height);
    const auto got = to_host(out, data.size());
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            if (got[x * height + y] != data[y * width + x])
                return false;
    return true;
}

template <typename T> static bool check_scan(int n)
{
    constexpr int threads = 128;
    const int blocks = (n + threads - 1) / threads;
    std::vector<T> data(n), want(n);
    for (int i = 0; i < n; i++)
        data[i] = static_cast<T>(i % 11 - 4);
    std::partial_sum(data.begin(), data.end(), want.begin());
    auto values = make_device(data), sums = make_device(std::vector<T>(blocks));
    scan_block<T><<<blocks, threads, 2 * threads * sizeof(T)>>>(values.get(), sums.get(), n);
    scan_block<T><<<1, threads, 2 * threads * sizeof(T)>>>(sums.get(), nullptr, blocks);
    add_before<<<blocks, threads>>>(values.get(), sums.get(), n);
    return to_host(values, n) == want;
}

template <typename T> static bool check_dot(int n)
{
    std::vector<T> a(n), b(n);
    for (int i = 0; i < n; i++) {
        a[i] = static_cast<T>(i % 5);
        b[i] = static_cast<T>(i % 3);
    }
    auto da = make_device(a), db = make_device(b), sum = make_device(std::vector<T>(1));
    dot<<<6, 256>>>(da.get(), db.get(), n, sum.get(), multiply{});
    return to_host(sum, 1)[0] == std::inner_product(a.begin(), a.end(), b.begin(), T{});
}

static bool on(int device)
{
    CHECK(cudaSetDevice(device));
    bool right = check_histogram() && check_transpose<float>(50, 33) &&
                 check_transpose<double>(16, 64) && check_scan<int>(3000) &&
                 check_scan<long long>(77) && check_dot<float>(5000) && check_dot<double>(999) &&
                 check_dot<int>(1 << 12);
    CHECK(cudaDeviceSynchronize());
    return right;
}

int main()
{
    int count = 0;
    std::atomic<int> right{0};
    CHECK(cudaGetDeviceCount(&count));
    std::vector<std::thread> threads;
    for (int d = 0; d < count; d++)
        threads.emplace_back([d, &right] {
            try {
                right += on(d);
            } catch (const std::exception &error) {
                std::fprintf(stderr, "GPU %d: %s\n", d, error.what());
            }
        });
    for (auto &thread : threads)
        thread.join();
    std::printf("%d of %d GPUs: %s\n", right.load(), count, right == count ? "PASS" : "FAIL");
    return right == count ? 0 : 1;
}
