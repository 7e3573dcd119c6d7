// SPDX-License-Identifier: MIT
// ipc_round.cu: where a round of lab 05's ring of two processes spends its time. A message goes
// from GPU 0 to GPU 1 and back, by the calls of the lab's solution, with the host's clock read
// between them; once with poll(), as the lab waits for messages, once by asking again and again.
//
//   ipc_round      for each way: us a call (medians of 400 rounds), in the order of the calls
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
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

enum { FILLED, DRAINED, EVENTS };
static const size_t BYTES = 64 << 10;
static const int ROUNDS = 400, WARM = 50;

struct shared {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t event[EVENTS];
};

static int to_next, from_prev; // one's own puts; the other's
static bool polls, timed = true;
static char *own, *inbox, *theirs;
static cudaStream_t stream;
static cudaEvent_t mine[EVENTS], others[EVENTS];
static std::vector<std::pair<const char *, std::vector<double>>> took;
static size_t next_call;
static double last;

static double now_us()
{
    auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::micro>(now).count();
}

static void done(const char *name)
{
    double now = now_us();
    if (timed) {
        if (next_call == took.size())
            took.push_back({name, {}});
        took[next_call++].second.push_back(now - last);
        now = now_us();
    }
    last = now;
}

static double median(std::vector<double> v)
{
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

static void tell(int fd, const void *data, size_t bytes)
{
    if (send(fd, data, bytes, MSG_NOSIGNAL) != static_cast<ssize_t>(bytes))
        exit(2);
}

static void hear(int fd, void *data, size_t bytes)
{
    for (char *at = static_cast<char *>(data); bytes > 0;) {
        struct pollfd one = {fd, POLLIN, 0};
        if (polls)
            poll(&one, 1, 5000);
        ssize_t n = recv(fd, at, bytes, polls ? 0 : MSG_DONTWAIT);
        if (n == 0)
            exit(3);
        if (n > 0) {
            at += n;
            bytes -= static_cast<size_t>(n);
        }
    }
}

static void put(bool first)
{
    size_t number = BYTES;
    if (!first) {
        hear(to_next, &number, sizeof number);
        done("put.hear");
        CHECK(cudaStreamWaitEvent(stream, others[DRAINED], 0));
        done("put.wait");
    }
    CHECK(cudaMemcpyAsync(theirs, own, BYTES, cudaMemcpyDefault, stream));
    done("put.copy");
    CHECK(cudaEventRecord(mine[FILLED], stream));
    done("put.record");
    tell(to_next, &number, sizeof number);
    done("put.tell");
}

static void take()
{
    size_t number;
    hear(from_prev, &number, sizeof number);
    done("take.hear");
    CHECK(cudaStreamWaitEvent(stream, others[FILLED], 0));
    done("take.wait");
    CHECK(cudaMemcpyAsync(own, inbox, BYTES, cudaMemcpyDefault, stream));
    done("take.copy");
    CHECK(cudaEventRecord(mine[DRAINED], stream));
    done("take.record");
    tell(from_prev, &number, sizeof number);
    done("take.tell");
}

static void rounds(bool rank0)
{
    std::vector<double> all;
    took.clear();
    for (int r = 0; r < ROUNDS + WARM; r++) {
        next_call = 0;
        double began = last = now_us();
        if (rank0)
            put(r == 0);
        take();
        if (!rank0)
            put(r == 0);
        CHECK(cudaStreamSynchronize(stream));
        done("synchronize");
        if (r >= WARM)
            all.push_back(now_us() - began);
        if (r == WARM)
            took.clear(); // the first put has fewer calls
    }
    size_t number;
    hear(to_next, &number, sizeof number); // that the last put was drained
    printf("%s.round %.3f\n", timed ? "timed" : "plain", median(all));
    for (auto &call : took)
        printf("  %-12s %.3f\n", call.first, median(call.second));
    fflush(stdout);
}

int main()
{
    int pair[2][2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair[0]) ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, pair[1]))
        return 4;
    fflush(stdout);
    pid_t child = fork();
    bool rank0 = child != 0;
    to_next = pair[rank0 ? 0 : 1][0];
    from_prev = pair[rank0 ? 1 : 0][1];
    int gpus;
    struct shared here, there;
    CHECK(cudaGetDeviceCount(&gpus));
    CHECK(cudaSetDevice(rank0 ? 0 : 1 % gpus));
    CHECK(cudaMalloc(&own, 1 << 21));
    CHECK(cudaMalloc(&inbox, 1 << 21));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaIpcGetMemHandle(&here.memory, inbox));
    for (int i = 0; i < EVENTS; i++) {
        CHECK(cudaEventCreateWithFlags(&mine[i], cudaEventDisableTiming | cudaEventInterprocess));
        CHECK(cudaIpcGetEventHandle(&here.event[i], mine[i]));
    }
    polls = true;
    tell(to_next, &here, sizeof here);
    hear(from_prev, &there, sizeof there);
    CHECK(cudaIpcOpenMemHandle(reinterpret_cast<void **>(&theirs), there.memory,
                               cudaIpcMemLazyEnablePeerAccess));
    for (int i = 0; i < EVENTS; i++)
        CHECK(cudaIpcOpenEventHandle(&others[i], there.event[i]));
    for (int way = 0; way < 4; way++) {
        char byte = 0;
        polls = true;
        tell(to_next, &byte, 1);
        hear(from_prev, &byte, 1);
        if (!rank0)
            usleep(20000); // prints after the other
        tell(to_next, &byte, 1);
        hear(from_prev, &byte, 1);
        polls = way < 2;
        timed = way % 2 == 1;
        printf("rank %d, %s\n", !rank0, polls ? "poll" : "asking again");
        fflush(stdout);
        rounds(rank0);
    }
    if (rank0) {
        int status;
        waitpid(child, &status, 0);
        return status != 0;
    }
    return 0;
}
