// SPDX-License-Identifier: MIT
// widths.cu: what calls cost the host that go to one GPU or to several in turns, and what launching
// a graph costs: rings of copies with 1 to 4 lanes a GPU, with and without kernels.
//
//   widths      a figure a line: a name and us a call; of a graph what the call and the graph took
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>
#include <cuda_runtime.h>
#define CHECK(x)                                                                                   \
    do {                                                                                           \
        cudaError_t e_ = (x);                                                                      \
        if (e_) {                                                                                  \
            fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_));             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
static double now()
{
    return std::chrono::duration<double, std::micro>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}
static __global__ void spin(long long us)
{
    long long t0 = clock64();
    while (clock64() - t0 < us * 1700) {
    }
}
static __global__ void nothing() {}
static __global__ void add(float *a, const float *b, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        a[i] += b[i];
}
enum { G = 8, L = 4 };
static int gpus;
static cudaStream_t s[G][L];
static cudaEvent_t e[G][L], t[G][L];
static char *from[G], *to[G];
static void sync_all()
{
    for (int g = 0; g < gpus; g++) {
        CHECK(cudaSetDevice(g));
        CHECK(cudaDeviceSynchronize());
    }
    CHECK(cudaSetDevice(0));
}
static double median(std::vector<double> v)
{
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}
static void hold(int n)
{
    for (int g = 0; g < n; g++) {
        CHECK(cudaSetDevice(g));
        for (int l = 0; l < 2; l++)
            spin<<<1, 1, 0, s[g][l]>>>(600);
    }
    CHECK(cudaSetDevice(0));
}
// us a call, the median of 31 times 40 calls; held: while kernels keep the streams busy
static void calls(const char *name, const std::function<void(int)> &call, bool held = true)
{
    std::vector<double> v;
    for (int r = 0; r < 31; r++) {
        sync_all();
        if (held)
            hold(gpus);
        double a = now();
        for (int i = 0; i < 40; i++)
            call(i);
        v.push_back((now() - a) / 40);
        sync_all();
    }
    printf("%s %.3f\n", name, median(v));
    fflush(stdout);
}
static void ring(int n, int lanes, int steps, size_t bytes, bool adds)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamBeginCapture(s[0][0], cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(e[0][0], s[0][0]));
    for (int k = 1; k < n * lanes; k++)
        CHECK(cudaStreamWaitEvent(s[k / lanes][k % lanes], e[0][0], 0));
    for (int step = 0; step < steps; step++) {
        for (int k = 0; k < n * lanes; k++) {
            int g = k / lanes, l = k % lanes, x = (g + 1) % n;
            size_t at = (size_t)l * (8 << 20) + step * bytes;
            CHECK(cudaMemcpyAsync(to[x] + at, from[g] + at, bytes, cudaMemcpyDefault, s[g][l]));
            CHECK(cudaEventRecord(t[g][l], s[g][l]));
        }
        for (int k = 0; k < n * lanes; k++) {
            int g = k / lanes, l = k % lanes, x = (g + 1) % n;
            size_t at = (size_t)l * (8 << 20) + step * bytes;
            CHECK(cudaStreamWaitEvent(s[x][l], t[g][l], 0));
            if (adds) {
                CHECK(cudaSetDevice(x));
                add<<<(unsigned)(bytes / 1024), 256, 0, s[x][l]>>>(
                    (float *)(from[x] + at), (float *)(to[x] + at), bytes / 4);
            }
        }
    }
    for (int k = 1; k < n * lanes; k++) {
        CHECK(cudaEventRecord(t[k / lanes][k % lanes], s[k / lanes][k % lanes]));
        CHECK(cudaStreamWaitEvent(s[0][0], t[k / lanes][k % lanes], 0));
    }
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamEndCapture(s[0][0], &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    std::vector<double> v, all;
    cudaEvent_t b0, b1;
    CHECK(cudaEventCreate(&b0));
    CHECK(cudaEventCreate(&b1));
    for (int r = 0; r < 25; r++) {
        sync_all();
        double a = now();
        CHECK(cudaGraphLaunch(exec, s[0][0]));
        v.push_back(now() - a);
        sync_all();
        float ms;
        CHECK(cudaEventRecord(b0, s[0][0]));
        CHECK(cudaGraphLaunch(exec, s[0][0]));
        CHECK(cudaEventRecord(b1, s[0][0]));
        CHECK(cudaEventSynchronize(b1));
        CHECK(cudaEventElapsedTime(&ms, b0, b1));
        all.push_back(ms * 1e3);
    }
    printf("graph.%s[%d,%d,%d].%zuK call %.2f elapsed %.2f\n", adds ? "ring" : "pass", n, lanes,
           steps, bytes >> 10, median(v), median(all));
    fflush(stdout);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}
int main()
{
    CHECK(cudaGetDeviceCount(&gpus));
    for (int g = 0; g < gpus; g++) {
        CHECK(cudaSetDevice(g));
        for (int p = 0; p < gpus; p++)
            if (p != g)
                CHECK(cudaDeviceEnablePeerAccess(p, 0));
        CHECK(cudaMalloc(&from[g], 64 << 20));
        CHECK(cudaMalloc(&to[g], 64 << 20));
        CHECK(cudaMemset(from[g], 0, 64 << 20));
        CHECK(cudaMemset(to[g], 0, 64 << 20));
        for (int l = 0; l < L; l++) {
            CHECK(cudaStreamCreateWithFlags(&s[g][l], cudaStreamNonBlocking));
            CHECK(cudaEventCreateWithFlags(&e[g][l], cudaEventDisableTiming));
            CHECK(cudaEventCreateWithFlags(&t[g][l], cudaEventDisableTiming));
        }
    }
    const size_t K = 64 << 10;
    auto peer = [=](int g, int l) {
        int x = (g + 1) % gpus;
        CHECK(cudaMemcpyPeerAsync(to[x] + l * K, x, from[g] + l * K, g, K, s[g][l]));
    };
    for (int held = 0; held < 2; held++) {
        printf("held %d\n", held);
        calls(
            "peer.same", [=](int) { peer(0, 0); }, held);
        calls(
            "peer.two_streams", [=](int i) { peer(0, i % 2); }, held);
        calls(
            "peer.two_gpus", [=](int i) { peer(i % 2, 0); }, held);
        calls(
            "peer.two_gpus_paired", [=](int i) { peer(i / 2 % 2, 0); }, held);
        calls(
            "peer.two_gpus_set",
            [=](int i) {
                CHECK(cudaSetDevice(i % 2));
                peer(i % 2, 0);
            },
            held);
        calls(
            "peer.all_gpus", [=](int i) { peer(i % gpus, 0); }, held);
        calls(
            "kernel.same", [=](int) { nothing<<<1, 1, 0, s[0][0]>>>(); }, held);
        calls(
            "kernel.two_streams", [=](int i) { nothing<<<1, 1, 0, s[0][i % 2]>>>(); }, held);
        calls(
            "kernel.two_gpus",
            [=](int i) {
                CHECK(cudaSetDevice(i % 2));
                nothing<<<1, 1, 0, s[i % 2][0]>>>();
            },
            held);
        calls(
            "kernel.all_gpus",
            [=](int i) {
                CHECK(cudaSetDevice(i % gpus));
                nothing<<<1, 1, 0, s[i % gpus][0]>>>();
            },
            held);
        calls(
            "record.same", [=](int) { CHECK(cudaEventRecord(e[0][0], s[0][0])); }, held);
        calls(
            "record.two_gpus", [=](int i) { CHECK(cudaEventRecord(e[i % 2][0], s[i % 2][0])); },
            held);
        calls(
            "peer_and_kernel.same",
            [=](int i) {
                if (i % 2)
                    nothing<<<1, 1, 0, s[0][0]>>>();
                else
                    peer(0, 0);
            },
            held);
        calls(
            "peer_and_record.same",
            [=](int i) {
                if (i % 2)
                    CHECK(cudaEventRecord(e[0][0], s[0][0]));
                else
                    peer(0, 0);
            },
            held);
        calls(
            "peer_record_wait.two_gpus",
            [=](int i) {
                int g = i % 2;
                peer(g, 0);
                CHECK(cudaEventRecord(e[g][0], s[g][0]));
                CHECK(cudaStreamWaitEvent(s[1 - g][0], e[g][0], 0));
            },
            held);
        calls(
            "record_wait.two_gpus",
            [=](int i) {
                int g = i % 2;
                CHECK(cudaEventRecord(e[g][0], s[g][0]));
                CHECK(cudaStreamWaitEvent(s[1 - g][0], e[g][0], 0));
            },
            held);
    }
    // bursts as lab 03 has them: first calls after everything was idle
    for (int n : {1, 2, 5, 10, 20})
        for (int two = 0; two < 2; two++) {
            std::vector<double> v;
            for (int r = 0; r < 41; r++) {
                sync_all();
                double a = now();
                for (int i = 0; i < n; i++)
                    peer(two ? i % 2 : 0, 0);
                v.push_back(now() - a);
                sync_all();
            }
            printf("burst.%s.%d %.2f us in all\n", two ? "two_gpus" : "same", n, median(v));
            fflush(stdout);
        }
    for (bool adds : {false, true})
        for (int n = 2; n <= gpus; n++)
            for (int lanes = 1; lanes <= 4; lanes++)
                for (int steps : {1, 3, 6, 9})
                    ring(n, lanes, steps, K, adds);
    return 0;
}
