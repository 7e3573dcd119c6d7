// SPDX-License-Identifier: MIT
// timed_edges.cu: does a wait for an event with timing end later than one for an event without?
// Hops from one GPU to the other and back (or from one stream to another), each a wait for the
// event of the hop before, perhaps a copy between the GPUs, and an event; held until all is queued.
//
//   timed_edges    us a hop (of 40 and of 20 hops, the difference), and us of two hops
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_) {                                                                              \
            fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(error_));         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static const int MOST = 40;
static char *memory[2];
static cudaStream_t stream[2][2];
static cudaEvent_t event[2][2][MOST], began, ended; // [timed][gpu]

__global__ void hold(long long cycles)
{
    long long begin = clock64();
    while (clock64() - begin < cycles) {
    }
}

__global__ void nothing() {}

static double median(std::vector<double> v)
{
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

enum { NONE, COPY, KERNEL };

static double hops_us(bool gpus, bool timed, int work, int hops, bool held)
{
    std::vector<double> v;
    for (int r = 0; r < 31; r++) {
        float ms;
        for (int g = 1; g >= 0; g--) {
            CHECK(cudaSetDevice(g));
            CHECK(cudaDeviceSynchronize());
        }
        if (held)
            hold<<<1, 1, 0, stream[0][0]>>>(1500000);
        CHECK(cudaEventRecord(began, stream[0][0]));
        for (int i = 0; i < hops; i++) {
            int g = gpus ? i % 2 : 0, before = gpus ? (i + 1) % 2 : 0;
            cudaStream_t s = gpus ? stream[g][0] : stream[0][i % 2];
            CHECK(cudaSetDevice(g));
            if (i > 0)
                CHECK(cudaStreamWaitEvent(s, event[timed][before][i - 1], 0));
            if (work == COPY)
                CHECK(cudaMemcpyPeerAsync(memory[1 - g], 1 - g, memory[g] + 4096, g, 16, s));
            if (work == KERNEL)
                nothing<<<1, 32, 0, s>>>();
            CHECK(cudaEventRecord(event[timed][g][i], s));
        }
        CHECK(cudaStreamWaitEvent(stream[0][0], event[timed][gpus ? (hops - 1) % 2 : 0][hops - 1],
                                  0));
        CHECK(cudaSetDevice(0));
        CHECK(cudaEventRecord(ended, stream[0][0]));
        CHECK(cudaEventSynchronize(ended));
        CHECK(cudaEventElapsedTime(&ms, began, ended));
        v.push_back(ms * 1e3);
    }
    return median(v);
}

int main()
{
    for (int g = 0; g < 2; g++) {
        CHECK(cudaSetDevice(g));
        CHECK(cudaDeviceEnablePeerAccess(1 - g, 0));
        CHECK(cudaMalloc(&memory[g], 1 << 20));
        for (int i = 0; i < 2; i++)
            CHECK(cudaStreamCreateWithFlags(&stream[g][i], cudaStreamNonBlocking));
        for (int i = 0; i < MOST; i++) {
            CHECK(cudaEventCreateWithFlags(&event[0][g][i], cudaEventDisableTiming));
            CHECK(cudaEventCreate(&event[1][g][i]));
        }
    }
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventCreate(&began));
    CHECK(cudaEventCreate(&ended));
    static const char *const works[] = {"nothing", "copies", "kernels"};
    for (int gpus = 1; gpus >= 0; gpus--)
        for (int work = NONE; work <= KERNEL; work++)
            for (int timed = 0; timed < 2; timed++) {
                double two = hops_us(gpus, timed, work, 2, true),
                       alone = hops_us(gpus, timed, work, 2, false);
                double some = hops_us(gpus, timed, work, 20, true),
                       many = hops_us(gpus, timed, work, 40, true);
                printf("%-11s %-8s %-8s %6.2f us a hop, %6.2f two hops held, %6.2f not held\n",
                       gpus ? "two GPUs" : "two streams", works[work], timed ? "timed" : "untimed",
                       (many - some) / 20, two, alone);
                fflush(stdout);
            }
    return 0;
}
