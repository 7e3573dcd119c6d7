// SPDX-License-Identifier: MIT
// calls_between.cu: does a call cost the host more where the call before it went to another
// stream or another GPU, or where the host has just waited? What send and recv cost. Stencils.
//
//   calls_between   a figure a line: its name and us a call (medians of 31 times 40 calls)
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
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

static const int CALLS = 40;
static char *own[2], *far_copy[2];
static cudaStream_t stream[2][2];
static cudaEvent_t untimed[2], timed[2];

static double now_us()
{
    auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::micro>(now).count();
}

static double median(std::vector<double> v)
{
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

static void wait_all()
{
    for (int g = 1; g >= 0; g--) {
        CHECK(cudaSetDevice(g));
        CHECK(cudaDeviceSynchronize());
    }
}

// Calls in a row, and what they take together until the GPUs are done.
static void row(const char *name, const std::function<void(int)> &call, int calls = CALLS)
{
    std::vector<double> v, all;
    for (int r = 0; r < 31; r++) {
        wait_all();
        double began = now_us();
        for (int i = 0; i < calls; i++)
            call(i);
        v.push_back((now_us() - began) / calls);
        wait_all();
        all.push_back((now_us() - began) / calls);
    }
    printf("%s %.3f (%.3f with the end)\n", name, median(v), median(all));
    fflush(stdout);
}

// A call after a wait for the stream.
static void alone(const char *name, const std::function<void()> &call)
{
    std::vector<double> v;
    wait_all();
    for (int r = 0; r < 201; r++) {
        double began = now_us();
        call();
        v.push_back(now_us() - began);
        CHECK(cudaStreamSynchronize(stream[0][0]));
    }
    printf("alone.%s %.3f\n", name, median(v));
}

__global__ void nothing() {}

__global__ void heat(const float *now, float *next, int width, int rows)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = 1 + blockIdx.y;
    if (x < 1 || x >= width - 1 || y > rows)
        return;
    const float *at = now + (size_t)y * width + x;
    next[(size_t)y * width + x] = 0.25f * (at[-1] + at[1] + at[-width] + at[width]);
}

// The same without the rows above and below.
__global__ void flat(const float *now, float *next, int width, int rows)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = 1 + blockIdx.y;
    if (x < 1 || x >= width - 1 || y > rows)
        return;
    const float *at = now + (size_t)y * width + x;
    next[(size_t)y * width + x] = 0.5f * (at[-1] + at[1]);
}

static void stencils()
{
    float *plate[2];
    CHECK(cudaSetDevice(0));
    cudaStream_t s = stream[0][0];
    for (int i = 0; i < 2; i++)
        CHECK(cudaMalloc(&plate[i], 4096ull * 16386 * 4));
    for (int rows = 256; rows <= 16384; rows *= 2)
        for (int kind = 0; kind < 2; kind++) {
            std::vector<double> v;
            for (int r = 0; r < 15; r++) {
                float ms;
                CHECK(cudaEventRecord(timed[0], s));
                for (int i = 0; i < 20; i++)
                    (kind ? flat : heat)<<<dim3(16, rows), 256, 0, s>>>(
                        plate[i % 2], plate[1 - i % 2], 4096, rows);
                CHECK(cudaEventRecord(timed[1], s));
                CHECK(cudaEventSynchronize(timed[1]));
                CHECK(cudaEventElapsedTime(&ms, timed[0], timed[1]));
                v.push_back(ms * 1e3 / 20);
            }
            printf("%s.%dx4096 %.3f\n", kind ? "flat" : "heat", rows, median(v));
        }
}

static void peer(int from, int which, size_t bytes)
{
    CHECK(cudaMemcpyPeerAsync(far_copy[1 - from], 1 - from, own[from], from, bytes,
                              stream[from][which]));
}

static void looked_up(int from)
{
    cudaPointerAttributes is;
    int n;
    for (int i = 0; i < 2; i++)
        CHECK(cudaGetDeviceCount(&n));
    CHECK(cudaPointerGetAttributes(&is, far_copy[1 - from]));
    CHECK(cudaPointerGetAttributes(&is, own[from]));
}

static void calls()
{
    for (size_t bytes : {16, 65536}) {
        printf("%zu bytes\n", bytes);
        row("peer.row", [=](int) { peer(0, 0, bytes); });
        row("peer.two_streams", [=](int i) { peer(0, i % 2, bytes); });
        row("peer.two_gpus", [=](int i) { peer(i % 2, 0, bytes); });
        row("peer.two_gpus_set", [=](int i) {
            CHECK(cudaSetDevice(i % 2));
            peer(i % 2, 0, bytes);
        });
        row("peer.two_gpus_by_ten", [=](int i) { peer(i / 10 % 2, 0, bytes); });
        row(
            "peer.row.of_ten", [=](int) { peer(0, 0, bytes); }, 10);
        row(
            "peer.two_gpus.of_ten", [=](int i) { peer(i % 2, 0, bytes); }, 10);
        row(
            "peer.row.looked_up",
            [=](int) {
                looked_up(0);
                peer(0, 0, bytes);
            },
            10);
        row(
            "peer.two_gpus.looked_up",
            [=](int i) {
                looked_up(i % 2);
                peer(i % 2, 0, bytes);
            },
            10);
        row("local.row", [=](int) {
            CHECK(cudaMemcpyAsync(own[0], own[0] + (1 << 19), bytes, cudaMemcpyDefault,
                                  stream[0][0]));
        });
        alone("peer", [=] { peer(0, 0, bytes); });
        alone("local", [=] {
            CHECK(cudaMemcpyAsync(own[0], own[0] + (1 << 19), bytes, cudaMemcpyDefault,
                                  stream[0][0]));
        });
    }
    row("look_up", [](int) { looked_up(0); });
    row("launch.row", [](int) {
        CHECK(cudaSetDevice(0));
        nothing<<<1, 32, 0, stream[0][0]>>>();
    });
    row("launch.two_streams", [](int i) {
        CHECK(cudaSetDevice(0));
        nothing<<<1, 32, 0, stream[0][i % 2]>>>();
    });
    row("launch.two_gpus", [](int i) {
        CHECK(cudaSetDevice(i % 2));
        nothing<<<1, 32, 0, stream[i % 2][0]>>>();
    });
    row("launch.two_gpus_by_ten", [](int i) {
        CHECK(cudaSetDevice(i / 10 % 2));
        nothing<<<1, 32, 0, stream[i / 10 % 2][0]>>>();
    });
    row("record.row", [](int) { CHECK(cudaEventRecord(untimed[0], stream[0][0])); });
    row("record.two_gpus", [](int i) { CHECK(cudaEventRecord(untimed[i % 2], stream[i % 2][0])); });
    row("wait.own", [](int) { CHECK(cudaStreamWaitEvent(stream[0][0], untimed[0], 0)); });
    row("wait.other_gpu", [](int) { CHECK(cudaStreamWaitEvent(stream[0][0], untimed[1], 0)); });
    row("wait.other_gpu_turns",
        [](int i) { CHECK(cudaStreamWaitEvent(stream[i % 2][0], untimed[1 - i % 2], 0)); });
    alone("launch", [] { nothing<<<1, 32, 0, stream[0][0]>>>(); });
}

static bool hears(int fd)
{
    size_t number;
    struct pollfd one = {fd, POLLIN, 0};
    return poll(&one, 1, 5000) == 1 &&
           recv(fd, &number, sizeof number, MSG_WAITALL) == sizeof number;
}

static bool tells(int fd)
{
    size_t number = 0;
    return send(fd, &number, sizeof number, MSG_NOSIGNAL) == sizeof number;
}

static void spin(double us)
{
    for (double began = now_us(); now_us() - began < us;)
        ;
}

// Each of the two messages: one that is waited for, and one that is there when it is asked for.
static void messages(int fd, bool first)
{
    std::vector<double> send_waited, recv_there, send_alone, half;
    for (int r = 0; r < 400; r++) {
        if (first) {
            spin(30); // the other one sleeps
            double a = now_us();
            tells(fd);
            double b = now_us();
            hears(fd);
            double c = now_us();
            send_waited.push_back(b - a);
            half.push_back((c - a) / 2);
            spin(60); // it has said it again by now
            double d = now_us();
            hears(fd);
            recv_there.push_back(now_us() - d);
        } else {
            if (!hears(fd))
                return;
            tells(fd);
            spin(10);
            double a = now_us();
            tells(fd);
            send_alone.push_back(now_us() - a);
        }
    }
    if (first)
        printf("message.half %.3f\nsend.waited_for %.3f\nrecv.there %.3f\n", median(half),
               median(send_waited), median(recv_there));
    else
        printf("send.not_waited_for %.3f\n", median(send_alone));
    fflush(stdout);
}

int main()
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return 4;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        CHECK(cudaSetDevice(1));
        CHECK(cudaFree(nullptr));
        for (int i = 0; i < 3; i++)
            messages(pair[1], false);
        return 0;
    }
    for (int g = 0; g < 2; g++) {
        CHECK(cudaSetDevice(g));
        CHECK(cudaDeviceEnablePeerAccess(1 - g, 0));
        CHECK(cudaMalloc(&own[g], 1 << 20));
        CHECK(cudaMalloc(&far_copy[g], 1 << 20));
        for (int i = 0; i < 2; i++)
            CHECK(cudaStreamCreateWithFlags(&stream[g][i], cudaStreamNonBlocking));
        CHECK(cudaEventCreateWithFlags(&untimed[g], cudaEventDisableTiming));
        CHECK(cudaEventRecord(untimed[g], stream[g][0]));
    }
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventCreate(&timed[0]));
    CHECK(cudaEventCreate(&timed[1]));
    for (int i = 0; i < 3; i++)
        messages(pair[0], true);
    waitpid(child, nullptr, 0);
    calls();
    stencils();
    return 0;
}
