// SPDX-License-Identifier: MIT
// ipc.cu: a child process reads what its parent's GPU wrote. Messages go through a socket.
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

struct card { // what travels: plain bytes
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t written;
};

__global__ void fill(int *p, int value)
{
    p[threadIdx.x] = value;
}

static void tell(int socket, const void *what, size_t bytes)
{
    if (send(socket, what, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
        _exit(1);
}

static void hear(int socket, void *what, size_t bytes)
{
    if (recv(socket, what, bytes, MSG_WAITALL) != (ssize_t)bytes)
        _exit(1); // the other side is gone
}

// book: export
static void parent(int socket)
{
    int *p;
    char done = 0;
    cudaEvent_t written;
    struct card card;
    CHECK(cudaSetDevice(0));
    CHECK(cudaMalloc((void **)&p, 256 * sizeof *p));
    CHECK(cudaEventCreateWithFlags(&written, cudaEventInterprocess | cudaEventDisableTiming));
    CHECK(cudaIpcGetMemHandle(&card.memory, p));
    CHECK(cudaIpcGetEventHandle(&card.written, written));
    fill<<<1, 256>>>(p, 42);
    CHECK(cudaEventRecord(written, 0)); // record, then tell
    tell(socket, &card, sizeof card);
    hear(socket, &done, 1); // it has closed: only now
    CHECK(cudaFree(p));
    CHECK(cudaEventDestroy(written));
}
// book: end

// book: import
static void child(int socket)
{
    int *p, value;
    cudaEvent_t written;
    struct card card;
    hear(socket, &card, sizeof card);
    CHECK(cudaSetDevice(1));
    CHECK(cudaIpcOpenMemHandle((void **)&p, card.memory, cudaIpcMemLazyEnablePeerAccess));
    CHECK(cudaIpcOpenEventHandle(&written, card.written));
    CHECK(cudaStreamWaitEvent(0, written, 0)); // a stream waits, not this thread
    CHECK(cudaMemcpy(&value, p + 100, sizeof value, cudaMemcpyDefault));
    printf("the child reads %d\n", value);
    CHECK(cudaIpcCloseMemHandle(p));
    CHECK(cudaEventDestroy(written));
    tell(socket, "d", 1);
}
// book: end

int main(void)
{
    int pair[2], status;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        return 1;
    if (fork() == 0) { // before any CUDA call
        child(pair[1]);
        fflush(stdout);
        _exit(0);
    }
    parent(pair[0]);
    wait(&status);
    return status != 0;
}
