// SPDX-License-Identifier: MIT
// copies.cu: the copy matrix as p2pBandwidthLatencyTest defines it (copies one behind the other on
// a stream of the first GPU, both ways at once on two streams, small ones for the latency; with
// peer access off and on), host copies as nvbandwidth defines them, and curves over size. Then lab
// 03's own measurement.
#include "rows.h"

extern "C" {
#include "lab03.h"
}

static int gpus;
static char *from[16], *to[16], *host_in, *host_out;
static cudaStream_t stream[16], second[16];
static cudaEvent_t began, ended, joined;

static const size_t MOST = 256 * MIB;

// One kernel that keeps the stream busy while the host queues what is measured.
__global__ void hold(long long cycles)
{
    long long start = clock64();
    while (clock64() - start < cycles) {
    }
}

static void prepare()
{
    CHECK(cudaGetDeviceCount(&gpus));
    gpus = std::min(gpus, 16);
    for (int g = 0; g < gpus; g++) {
        CHECK(cudaSetDevice(g));
        CHECK(cudaMalloc(&from[g], MOST));
        CHECK(cudaMalloc(&to[g], MOST));
        CHECK(cudaMemset(from[g], 1, MOST));
        CHECK(cudaMemset(to[g], 2, MOST));
        CHECK(cudaStreamCreateWithFlags(&stream[g], cudaStreamNonBlocking));
        CHECK(cudaStreamCreateWithFlags(&second[g], cudaStreamNonBlocking));
        CHECK(cudaDeviceSynchronize());
    }
    CHECK(cudaSetDevice(0));
    CHECK(cudaMallocHost(&host_in, MOST));
    CHECK(cudaMallocHost(&host_out, MOST));
}

static void finish()
{
    for (int g = 0; g < gpus; g++) {
        CHECK(cudaSetDevice(g));
        CHECK(cudaFree(from[g]));
        CHECK(cudaFree(to[g]));
        CHECK(cudaStreamDestroy(stream[g]));
        CHECK(cudaStreamDestroy(second[g]));
    }
    CHECK(cudaFreeHost(host_in));
    CHECK(cudaFreeHost(host_out));
}

// Microseconds of `work` on GPU g's stream, queued behind a kernel that holds it.
static double timed(int g, const std::function<void()> &work)
{
    float ms;
    CHECK(cudaSetDevice(g));
    CHECK(cudaEventCreate(&began));
    CHECK(cudaEventCreate(&ended));
    CHECK(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
    hold<<<1, 1, 0, stream[g]>>>(1500000); // some 0.8 ms: hundreds of calls
    CHECK(cudaEventRecord(began, stream[g]));
    CHECK(cudaStreamWaitEvent(second[g], began, 0));
    work();
    CHECK(cudaEventRecord(joined, second[g]));
    CHECK(cudaStreamWaitEvent(stream[g], joined, 0));
    CHECK(cudaEventRecord(ended, stream[g]));
    CHECK(cudaEventSynchronize(ended));
    CHECK(cudaEventElapsedTime(&ms, began, ended));
    CHECK(cudaEventDestroy(began));
    CHECK(cudaEventDestroy(ended));
    CHECK(cudaEventDestroy(joined));
    return ms * 1e3;
}

// ---- the matrix ----

static double one_way(int i, int j, size_t bytes, int repeats)
{
    double us = median([=] {
        return timed(i, [=] {
            for (int k = 0; k < repeats; k++)
                CHECK(cudaMemcpyPeerAsync(to[j], j, from[i], i, bytes, stream[i]));
        });
    });
    return us / repeats;
}

static double both_ways(int i, int j, size_t bytes, int repeats)
{
    double us = median([=] {
        return timed(i, [=] {
            for (int k = 0; k < repeats; k++) {
                CHECK(cudaMemcpyPeerAsync(to[j], j, from[i], i, bytes, stream[i]));
                CHECK(cudaMemcpyPeerAsync(to[i], i, from[j], j, bytes, second[i]));
            }
        });
    });
    return us / repeats;
}

static void matrix(const char *access, bool on)
{
    const size_t bytes = VIRTUAL ? 64 * MIB : 160 * 1000 * 1000; // flat by then
    const int repeats = 5, small = 100;
    for (int i = 0; i < gpus; i++)
        for (int j = 0; j < gpus; j++) {
            double gb = bytes / 1e3 * (i == j ? 2 : 1); // inside a GPU: read and written
            if (i == j && on)
                continue;
            row(gb / one_way(i, j, bytes, repeats), "matrix.%s.%s[%d,%d].gbs", access,
                i == j ? "inside" : "one_way", i, j);
            if (i != j)
                row(2 * gb / both_ways(i, j, bytes, repeats), "matrix.%s.both_ways[%d,%d].gbs",
                    access, i, j);
            row(one_way(i, j, 16, small), "matrix.%s.%s[%d,%d].us", access,
                i == j ? "latency_inside" : "latency", i, j);
        }
}

static void switch_access(bool on)
{
    for (int i = 0; i < gpus; i++) {
        CHECK(cudaSetDevice(i));
        for (int j = 0; j < gpus; j++)
            if (i != j)
                CHECK(on ? cudaDeviceEnablePeerAccess(j, 0) : cudaDeviceDisablePeerAccess(j));
    }
}

// ---- host copies, and curves ----

static void copy(char *dst, const char *src, size_t bytes, cudaStream_t s)
{
    CHECK(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDefault, s));
}

static double copies_us(char *dst, const char *src, size_t bytes, int repeats)
{
    double us = median([=] {
        return timed(0, [=] {
            for (int k = 0; k < repeats; k++)
                copy(dst, src, bytes, stream[0]);
        });
    });
    return us / repeats;
}

static void host_copies()
{
    const size_t bytes = VIRTUAL ? 64 * MIB : MOST;
    const int repeats = VIRTUAL ? 2 : 16;
    row(bytes / 1e3 / copies_us(from[0], host_in, bytes, repeats), "host.to_device.gbs");
    row(bytes / 1e3 / copies_us(host_out, from[0], bytes, repeats), "host.from_device.gbs");
    double both = median([=] {
        return timed(0, [=] {
            for (int k = 0; k < repeats; k++) {
                copy(from[0], host_in, bytes, stream[0]);
                copy(host_out, to[0], bytes, second[0]);
            }
        });
    });
    row(2 * bytes / 1e3 * repeats / both, "host.both_ways.gbs");
}

static void curves()
{
    for (size_t bytes = KIB; bytes <= 64 * MIB; bytes *= 4) {
        int repeats = bytes >= 16 * MIB ? 4 : 32;
        if (gpus > 1)
            row(copies_us(to[1], from[0], bytes, repeats), "curve.peer.%s.us", size_name(bytes));
        row(copies_us(to[0], host_in, bytes, repeats), "curve.host_to_device.%s.us",
            size_name(bytes));
        row(copies_us(host_out, from[0], bytes, repeats), "curve.device_to_host.%s.us",
            size_name(bytes));
    }
}

static void lab03()
{
    for (size_t bytes = 64 * KIB; gpus > 1 && bytes <= 64 * MIB; bytes *= 4) {
        for (int both = 0; both < 2; both++) {
            double us = median([=] {
                struct bw result;
                LAB(p2p_measure(0, 1, bytes, both, &result));
                return result.seconds * 1e6;
            });
            row(us, "lab03.%s.%s.us", both ? "both_ways" : "one_way", size_name(bytes));
        }
    }
}

int main()
{
    prepare();
    matrix("off", false);
    if (gpus > 1) {
        switch_access(true);
        matrix("on", true);
    }
    host_copies();
    curves();
    if (gpus > 1)
        switch_access(false);
    lab03();
    finish();
    return 0;
}
