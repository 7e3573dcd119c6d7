// SPDX-License-Identifier: MIT
// processes.cu: two processes, each with a GPU, that hand memory to and fro by IPC events: the
// first one fills it, the second one copies it to itself. Messages between them say only that an
// event was recorded. Prints what each one's own events say, the first process's lines first.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const int ROUNDS = 6;
static const size_t BYTES = 16 << 20;

struct card { // what one process tells the other
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t event;
};

static void check(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(error));
    exit(1);
}
#define CHECK(call) check(call, #call)

static void tell(int to, const void *what, size_t bytes)
{
    if (write(to, what, bytes) != static_cast<ssize_t>(bytes))
        exit(1);
}

static void hear(int from, void *what, size_t bytes)
{
    if (recv(from, what, bytes, MSG_WAITALL) != static_cast<ssize_t>(bytes))
        exit(1);
}

struct rank {
    int number, other; // other: a socket
    cudaStream_t stream;
    cudaEvent_t mine, theirs, time[ROUNDS + 1];
    char *memory, *opened;
};

static void meet(rank &r)
{
    card given, got;
    CHECK(cudaSetDevice(r.number));
    CHECK(cudaStreamCreateWithFlags(&r.stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&r.memory, BYTES));
    CHECK(cudaEventCreateWithFlags(&r.mine, cudaEventInterprocess | cudaEventDisableTiming));
    for (cudaEvent_t &event : r.time)
        CHECK(cudaEventCreate(&event));
    CHECK(cudaIpcGetMemHandle(&given.memory, r.memory));
    CHECK(cudaIpcGetEventHandle(&given.event, r.mine));
    tell(r.other, &given, sizeof given);
    hear(r.other, &got, sizeof got);
    CHECK(cudaIpcOpenEventHandle(&r.theirs, got.event));
    void *opened;
    CHECK(cudaIpcOpenMemHandle(&opened, got.memory, cudaIpcMemLazyEnablePeerAccess));
    r.opened = static_cast<char *>(opened);
}

// The first one begins each round, the second one ends it.
static void work(rank &r)
{
    char done = 0;
    CHECK(cudaEventRecord(r.time[0], r.stream));
    for (int round = 0; round < ROUNDS; round++) {
        if (r.number == 1 || round > 0) {
            hear(r.other, &done, 1);
            CHECK(cudaStreamWaitEvent(r.stream, r.theirs, 0));
        }
        if (r.number == 0)
            CHECK(cudaMemsetAsync(r.memory, round, BYTES / (round + 1), r.stream));
        else
            CHECK(cudaMemcpyAsync(r.memory, r.opened, BYTES, cudaMemcpyDeviceToDevice, r.stream));
        CHECK(cudaEventRecord(r.mine, r.stream));
        CHECK(cudaEventRecord(r.time[round + 1], r.stream));
        tell(r.other, &done, 1);
    }
    if (r.number == 0)
        hear(r.other, &done, 1);
}

static int run(int number, int other, int before, int after)
{
    rank r = {};
    char turn = 0;
    float ms;
    r.number = number;
    r.other = other;
    meet(r);
    work(r);
    CHECK(cudaStreamSynchronize(r.stream));
    if (before >= 0)
        hear(before, &turn, 1);
    for (int i = 1; i <= ROUNDS; i++) {
        CHECK(cudaEventElapsedTime(&ms, r.time[i - 1], r.time[i]));
        printf("%d %d %.9g\n", number, i, static_cast<double>(ms));
    }
    fflush(stdout);
    if (after >= 0)
        tell(after, &turn, 1);
    CHECK(cudaIpcCloseMemHandle(r.opened));
    tell(other, &turn, 1); // nobody frees what the other one has open
    hear(other, &turn, 1);
    CHECK(cudaFree(r.memory));
    return 0;
}

int main()
{
    int work[2], turn[2], status = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, work) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, turn) != 0)
        return 1;
    if (fork() == 0)
        return run(1, work[1], turn[1], -1);
    int rc = run(0, work[0], -1, turn[0]);
    wait(&status);
    return rc || status;
}
