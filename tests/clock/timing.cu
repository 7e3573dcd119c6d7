// SPDX-License-Identifier: MIT
// timing.cu: the loops behind tests/recorded/hgx-h200-4/timing.txt and pageable.txt, a figure a
// line:
//
//   NAME MICROSECONDS
//
// What was timed by events is timed by events here, what was timed by the host by the host's clock:
// the virtual one on the virtual node, the real one on real GPUs. There each figure is the median
// of several repetitions; virtual time is the same in all of them, so one is enough.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <functional>
#include <vector>

#if __has_include(<vgpu_time.h>)
#include <vgpu_time.h>
static const int REPETITIONS = 1;
static const size_t KERNEL_BYTES = 256 << 20; // recorded with 1 GiB; flat by then
static double host_us()
{
    return static_cast<double>(vgpu_time()) * 1e-6;
}
#else
#include <chrono>
static const int REPETITIONS = 9;
static const size_t KERNEL_BYTES = 1 << 30;
static double host_us()
{
    auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::micro>(now).count();
}
#endif

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                          \
                    cudaGetErrorString(error_));                                                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

typedef std::function<void()> Work;

static const size_t GIB = 1ull << 30;
static int devices;
static cudaStream_t stream[4], second[4];
static char *a[4], *b[4];

__global__ void nop() {}

__global__ void copy_kernel(float4 *to, const float4 *from, size_t n)
{
    size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
    for (; i < n; i += gridDim.x * static_cast<size_t>(blockDim.x))
        to[i] = from[i];
}

__global__ void sum_kernel(const float4 *from, size_t n, float *to)
{
    float sum = 0;
    size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
    for (; i < n; i += gridDim.x * static_cast<size_t>(blockDim.x)) {
        float4 v = from[i];
        sum += v.x + v.y + v.z + v.w;
    }
    if (sum == 12345.678f)
        *to = sum;
}

static double median(std::vector<double> v)
{
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

static void figure(const char *name, double us)
{
    printf("%s %.3f\n", name, us);
}

static void figure(const char *name, size_t bytes, double us)
{
    printf("%s.%zu %.3f\n", name, bytes, us);
}

static void finish_all()
{
    for (int i = 0; i < devices; i++) {
        CHECK(cudaSetDevice(i));
        CHECK(cudaDeviceSynchronize());
    }
}

// From a common start until all devices are idle.
static double host_timed(const Work &issue)
{
    std::vector<double> us;
    for (int r = 0; r < REPETITIONS; r++) {
        finish_all();
        double begin = host_us();
        issue();
        finish_all();
        us.push_back(host_us() - begin);
    }
    return median(us);
}

// The mean of `count` times the same, back to back on device 0's stream.
static double event_timed(int count, const Work &work)
{
    cudaEvent_t begin, end;
    std::vector<double> us;
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    for (int r = 0; r < REPETITIONS; r++) {
        float ms;
        CHECK(cudaEventRecord(begin, stream[0]));
        for (int i = 0; i < count; i++)
            work();
        CHECK(cudaEventRecord(end, stream[0]));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        us.push_back(ms * 1000 / static_cast<float>(count));
    }
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    return median(us);
}

static double mean_of_calls(int count, const Work &call)
{
    double begin = host_us();
    for (int i = 0; i < count; i++)
        call();
    double us = (host_us() - begin) / count;
    CHECK(cudaDeviceSynchronize());
    return us;
}

static void basic()
{
    CHECK(cudaSetDevice(0));
    nop<<<1, 1, 0, stream[0]>>>();
    CHECK(cudaDeviceSynchronize());
    figure("basic.launch_and_wait", mean_of_calls(200, [] {
               nop<<<1, 1, 0, stream[0]>>>();
               CHECK(cudaStreamSynchronize(stream[0]));
           }));
    auto launch = [] { nop<<<1, 1, 0, stream[0]>>>(); };
    figure("basic.launch", mean_of_calls(500, launch));
    figure("basic.kernels_back_to_back", event_timed(100, launch));
    cudaEvent_t event;
    CHECK(cudaEventCreate(&event));
    figure("basic.record", mean_of_calls(500, [&] { CHECK(cudaEventRecord(event, stream[0])); }));
    int next = 0;
    figure("basic.set_device", mean_of_calls(2000, [&] { CHECK(cudaSetDevice(next++ & 1)); }));
    CHECK(cudaSetDevice(0));
    void *p;
    double before = host_us();
    CHECK(cudaMalloc(&p, 64 << 20));
    double between = host_us();
    CHECK(cudaFree(p));
    figure("basic.malloc", between - before);
    figure("basic.free", host_us() - between);
}

static void peers(bool on)
{
    for (int i = 0; i < devices; i++)
        for (int j = 0; j < devices; j++)
            if (i != j) {
                CHECK(cudaSetDevice(i));
                CHECK(on ? cudaDeviceEnablePeerAccess(j, 0) : cudaDeviceDisablePeerAccess(j));
            }
    CHECK(cudaSetDevice(0));
}

static void copies()
{
    char *pinned, *pageable = static_cast<char *>(malloc(GIB / 4));
    CHECK(cudaMallocHost(reinterpret_cast<void **>(&pinned), GIB / 4));
    memset(pageable, 1, GIB / 4);
    for (size_t n : {4ul, 1024ul, 16ul << 10, 256ul << 10, 1ul << 20, 4ul << 20, 16ul << 20,
                     64ul << 20, 256ul << 20}) {
        int count = n < 1 << 20 ? 50 : 5;
        auto copy = [&](const char *name, void *to, const void *from, cudaMemcpyKind kind) {
            figure(name, n, event_timed(count, [&] {
                       CHECK(cudaMemcpyAsync(to, from, n, kind, stream[0]));
                   }));
        };
        auto peer = [&] { CHECK(cudaMemcpyPeerAsync(b[1], 1, a[0], 0, n, stream[0])); };
        copy("copy.h2d_pinned", a[0], pinned, cudaMemcpyHostToDevice);
        copy("copy.d2h_pinned", pinned, a[0], cudaMemcpyDeviceToHost);
        copy("copy.h2d_pageable", a[0], pageable, cudaMemcpyHostToDevice);
        copy("copy.local", b[0], a[0], cudaMemcpyDeviceToDevice);
        figure("copy.staged", n, event_timed(count, peer));
        peers(true);
        figure("copy.peer", n, event_timed(count, peer));
        peers(false);
    }
    CHECK(cudaFreeHost(pinned));
    free(pageable);
}

struct Hop {
    int from, to;
    bool other; // the second stream, and the second pair of buffers
};

static void pattern(const char *name, const std::vector<Hop> &hops)
{
    figure(name, host_timed([&] {
               for (const Hop &h : hops)
                   CHECK(cudaMemcpyPeerAsync(h.other ? a[h.to] : b[h.to], h.to,
                                             h.other ? b[h.from] : a[h.from], h.from, GIB,
                                             h.other ? second[h.from] : stream[h.from]));
           }));
}

static void contention()
{
    pattern("contention.one", {{0, 1, false}});
    pattern("contention.both_ways", {{0, 1, false}, {1, 0, true}});
    pattern("contention.same_way", {{0, 1, false}, {0, 1, true}});
    pattern("contention.disjoint", {{0, 1, false}, {2, 3, false}});
    pattern("contention.fan_out", {{0, 1, false}, {0, 2, true}});
    pattern("contention.fan_in", {{0, 1, false}, {2, 1, true}});
    cudaStream_t third;
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking));
    figure("contention.fan_out_3", host_timed([&] {
               CHECK(cudaMemcpyPeerAsync(b[1], 1, a[0], 0, GIB, stream[0]));
               CHECK(cudaMemcpyPeerAsync(b[2], 2, a[0], 0, GIB, second[0]));
               CHECK(cudaMemcpyPeerAsync(b[3], 3, a[0], 0, GIB, third));
           }));
    CHECK(cudaStreamDestroy(third));
    pattern("contention.ring", {{0, 1, false}, {1, 2, false}, {2, 3, false}, {3, 0, false}});
    pattern("contention.ring_both_ways", {{0, 1, false},
                                          {0, 3, true},
                                          {1, 2, false},
                                          {1, 0, true},
                                          {2, 3, false},
                                          {2, 1, true},
                                          {3, 0, false},
                                          {3, 2, true}});
}

static void kernels()
{
    size_t n = KERNEL_BYTES / sizeof(float4);
    auto copy = [&](const char *name, char *to, char *from, double bytes) {
        figure(name, bytes / 1e3 / event_timed(2, [&] {
                         copy_kernel<<<132 * 4, 512, 0, stream[0]>>>(
                             reinterpret_cast<float4 *>(to), reinterpret_cast<float4 *>(from), n);
                     }));
    };
    auto sum = [&](const char *name, char *from) {
        figure(name, static_cast<double>(KERNEL_BYTES) / 1e3 / event_timed(2, [&] {
                         sum_kernel<<<132 * 8, 512, 0, stream[0]>>>(
                             reinterpret_cast<float4 *>(from), n, reinterpret_cast<float *>(b[0]));
                     }));
    };
    double bytes = static_cast<double>(KERNEL_BYTES);
    copy("kernel_gbs.push", b[1], a[0], bytes);
    copy("kernel_gbs.pull", b[0], a[1], bytes);
    copy("kernel_gbs.copy", b[0], a[0], 2 * bytes);
    sum("kernel_gbs.sum", a[0]);
    sum("kernel_gbs.peer_sum", a[1]);
}

// One copy on an idle device between two events; the legacy default stream, as recorded.
static void alone()
{
    char *device, *pinned, *pageable = static_cast<char *>(malloc(GIB / 2));
    cudaEvent_t begin, end;
    CHECK(cudaMalloc(reinterpret_cast<void **>(&device), GIB / 2));
    CHECK(cudaMallocHost(reinterpret_cast<void **>(&pinned), GIB / 2));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    memset(pageable, 1, GIB / 2);
    static const char *const names[] = {"alone.h2d_pageable", "alone.d2h_pageable",
                                        "alone.h2d_pinned", "alone.d2h_pinned"};
    for (size_t n = 4096; n <= GIB / 2; n *= 2)
        for (int k = 0; k < 4; k++) {
            std::vector<double> us;
            for (int r = 0; r < REPETITIONS; r++) {
                char *host = k < 2 ? pageable : pinned;
                float ms;
                CHECK(cudaDeviceSynchronize());
                CHECK(cudaEventRecord(begin));
                if (k & 1)
                    CHECK(cudaMemcpyAsync(host, device, n, cudaMemcpyDeviceToHost));
                else
                    CHECK(cudaMemcpyAsync(device, host, n, cudaMemcpyHostToDevice));
                CHECK(cudaEventRecord(end));
                CHECK(cudaEventSynchronize(end));
                CHECK(cudaEventElapsedTime(&ms, begin, end));
                us.push_back(ms * 1000);
            }
            figure(names[k], n, median(us));
        }
    CHECK(cudaFree(device));
    CHECK(cudaFreeHost(pinned));
    free(pageable);
}

int main()
{
    CHECK(cudaGetDeviceCount(&devices));
    devices = std::min(devices, 4);
    for (int i = 0; i < devices; i++) {
        CHECK(cudaSetDevice(i));
        CHECK(cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking));
        CHECK(cudaStreamCreateWithFlags(&second[i], cudaStreamNonBlocking));
        CHECK(cudaMalloc(reinterpret_cast<void **>(&a[i]), GIB));
        CHECK(cudaMalloc(reinterpret_cast<void **>(&b[i]), GIB));
    }
    basic();
    if (devices >= 2)
        copies();
    alone();
    if (devices >= 4) {
        peers(true);
        contention();
        kernels();
    }
    return 0;
}
