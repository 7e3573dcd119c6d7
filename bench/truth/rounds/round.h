// SPDX-License-Identifier: MIT
// round.h: what rounds from the third on time with. GPUS is defined before it is included.
#ifndef PEERLAB_ROUND_H
#define PEERLAB_ROUND_H

#include "../rows.h"

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

static void set_up()
{
    for (int g = 0; g < GPUS; g++) {
        CHECK(cudaSetDevice(g));
        for (int other = 0; other < GPUS; other++)
            if (other != g)
                CHECK(cudaDeviceEnablePeerAccess(other, 0));
        CHECK(cudaStreamCreateWithFlags(&stream[g], cudaStreamNonBlocking));
        CHECK(cudaEventCreateWithFlags(&join[g], cudaEventDisableTiming));
        CHECK(cudaEventCreateWithFlags(&last[g], cudaEventDisableTiming));
    }
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
}

#endif
