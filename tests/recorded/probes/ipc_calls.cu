// SPDX-License-Identifier: MIT
// ipc_calls.cu: what calls on events and memory of another process cost the host, how long a
// message between two processes takes, and lab 03's calls around a copy.
//
//   ipc_calls      a figure a line: its name and us a call (medians of 31 times 40 calls)
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

static const size_t BYTES = 64 << 10;

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

static void calls(const char *name, const std::function<void()> &call)
{
    std::vector<double> v;
    for (int r = 0; r < 31; r++) {
        CHECK(cudaDeviceSynchronize());
        double began = now_us();
        for (int i = 0; i < 40; i++)
            call();
        v.push_back((now_us() - began) / 40);
        CHECK(cudaDeviceSynchronize());
    }
    printf("%s %.3f\n", name, median(v));
    fflush(stdout);
}

static void put(int fd, const void *data, size_t bytes)
{
    if (write(fd, data, bytes) != static_cast<ssize_t>(bytes))
        exit(2);
}

static void get(int fd, void *data, size_t bytes)
{
    for (char *at = static_cast<char *>(data); bytes > 0;) {
        ssize_t n = read(fd, at, bytes);
        if (n <= 0)
            exit(3);
        at += n;
        bytes -= static_cast<size_t>(n);
    }
}

struct shared {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t event;
};

// One message there and back, by a blocking read or by poll and read.
static void echo(int fd, bool first, bool polls, const char *name)
{
    std::vector<double> v;
    for (int r = 0; r < 201; r++) {
        char byte = 0;
        struct pollfd one = {fd, POLLIN, 0};
        double began = now_us();
        if (first)
            put(fd, &byte, 1);
        if (polls)
            poll(&one, 1, 5000);
        get(fd, &byte, 1);
        if (!first)
            put(fd, &byte, 1);
        v.push_back((now_us() - began) / 2);
    }
    if (first)
        printf("message.%s %.3f\n", name, median(v));
}

int main()
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return 4;
    fflush(stdout);
    pid_t child = fork();
    bool first = child != 0;
    int fd = pair[first ? 0 : 1];
    struct shared mine, other;
    char *own, *theirs;
    cudaStream_t stream;
    cudaEvent_t plain, own_event, their_event;
    int gpus;
    CHECK(cudaGetDeviceCount(&gpus));
    CHECK(cudaSetDevice(first ? 0 : 1 % gpus));
    CHECK(cudaMalloc(&own, 1 << 21));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&own_event, cudaEventDisableTiming | cudaEventInterprocess));
    CHECK(cudaIpcGetMemHandle(&mine.memory, own));
    CHECK(cudaIpcGetEventHandle(&mine.event, own_event));
    CHECK(cudaEventRecord(own_event, stream));
    CHECK(cudaDeviceSynchronize());
    put(fd, &mine, sizeof mine);
    get(fd, &other, sizeof other);
    CHECK(cudaIpcOpenMemHandle(reinterpret_cast<void **>(&theirs), other.memory,
                               cudaIpcMemLazyEnablePeerAccess));
    CHECK(cudaIpcOpenEventHandle(&their_event, other.event));
    for (int turn = 0; turn < 2; turn++) {
        char byte = 0;
        if (turn == first) { // the child first, then the parent
            printf("process %d\n", first);
            char *local = own + (1 << 20);
            calls("record.plain", [=] { CHECK(cudaEventRecord(plain, stream)); });
            calls("record.interprocess", [=] { CHECK(cudaEventRecord(own_event, stream)); });
            calls("wait.plain", [=] { CHECK(cudaStreamWaitEvent(stream, plain, 0)); });
            calls("wait.interprocess", [=] { CHECK(cudaStreamWaitEvent(stream, own_event, 0)); });
            calls("wait.opened", [=] { CHECK(cudaStreamWaitEvent(stream, their_event, 0)); });
            calls("copy.own",
                  [=] { CHECK(cudaMemcpyAsync(own, local, BYTES, cudaMemcpyDefault, stream)); });
            calls("copy.opened",
                  [=] { CHECK(cudaMemcpyAsync(theirs, own, BYTES, cudaMemcpyDefault, stream)); });
            calls("step.put", [=] {
                CHECK(cudaStreamWaitEvent(stream, their_event, 0));
                CHECK(cudaMemcpyAsync(theirs, own, BYTES, cudaMemcpyDefault, stream));
                CHECK(cudaEventRecord(own_event, stream));
            });
            calls("step.take", [=] {
                CHECK(cudaStreamWaitEvent(stream, their_event, 0));
                CHECK(cudaMemcpyAsync(local, own, BYTES, cudaMemcpyDefault, stream));
                CHECK(cudaEventRecord(own_event, stream));
            });
            calls("synchronize.idle", [=] { CHECK(cudaStreamSynchronize(stream)); });
            calls("attributes", [=] {
                cudaPointerAttributes is;
                CHECK(cudaPointerGetAttributes(&is, own));
                CHECK(cudaPointerGetAttributes(&is, local));
            });
            put(fd, &byte, 1);
        } else {
            get(fd, &byte, 1);
        }
    }
    echo(fd, first, false, "read");
    echo(fd, first, true, "poll");
    // A record by one process, a wait by the other: both ways, over the GPUs.
    std::vector<double> v;
    for (int r = 0; r < 201; r++) {
        char byte = 0;
        double began = now_us();
        if (!first) {
            get(fd, &byte, 1);
            CHECK(cudaStreamWaitEvent(stream, their_event, 0));
        }
        CHECK(cudaMemcpyAsync(theirs, own, BYTES, cudaMemcpyDefault, stream));
        CHECK(cudaEventRecord(own_event, stream));
        put(fd, &byte, 1);
        if (first) {
            get(fd, &byte, 1);
            CHECK(cudaStreamWaitEvent(stream, their_event, 0));
        }
        CHECK(cudaStreamSynchronize(stream));
        v.push_back(now_us() - began);
    }
    if (first) {
        printf("round.copies %.3f\n", median(v));
        int status;
        waitpid(child, &status, 0);
        return status != 0;
    }
    return 0;
}
