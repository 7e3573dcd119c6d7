// SPDX-License-Identifier: MIT
// reply.cu: a child process squares what its parent's GPU wrote, and the parent reads the answer.
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../check.h"

struct card { // what the parent sends: plain bytes
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t written;
};

__global__ void fill(int *p, int value)
{
    p[threadIdx.x] = value;
}

__global__ void square(int *p)
{
    p[threadIdx.x] *= p[threadIdx.x];
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

static const unsigned SHARED = cudaEventInterprocess | cudaEventDisableTiming;

// book: parent
static void parent(int socket)
{
    int *p, value;
    cudaEvent_t written, squared;
    struct card card;
    cudaIpcEventHandle_t answer;
    CHECK(cudaSetDevice(0));
    CHECK(cudaMalloc((void **)&p, 256 * sizeof *p));
    CHECK(cudaEventCreateWithFlags(&written, SHARED));
    CHECK(cudaIpcGetMemHandle(&card.memory, p));
    CHECK(cudaIpcGetEventHandle(&card.written, written));
    fill<<<1, 256>>>(p, 42);
    CHECK(cudaEventRecord(written, 0));
    tell(socket, &card, sizeof card);
    hear(socket, &answer, sizeof answer); // the child has recorded its event
    CHECK(cudaIpcOpenEventHandle(&squared, answer));
    CHECK(cudaStreamWaitEvent(0, squared, 0));
    CHECK(cudaMemcpy(&value, p + 100, sizeof value, cudaMemcpyDefault));
    printf("the parent reads %d\n", value);
    CHECK(cudaEventDestroy(squared));
    tell(socket, "r", 1);
    hear(socket, &value, 1); // it has closed
    CHECK(cudaFree(p));
    CHECK(cudaEventDestroy(written));
}
// book: end

// book: child
static void child(int socket)
{
    int *p;
    char done;
    cudaEvent_t written, squared;
    struct card card;
    cudaIpcEventHandle_t answer;
    hear(socket, &card, sizeof card);
    CHECK(cudaSetDevice(1));
    CHECK(cudaIpcOpenMemHandle((void **)&p, card.memory, cudaIpcMemLazyEnablePeerAccess));
    CHECK(cudaIpcOpenEventHandle(&written, card.written));
    CHECK(cudaEventCreateWithFlags(&squared, SHARED));
    CHECK(cudaIpcGetEventHandle(&answer, squared));
    CHECK(cudaStreamWaitEvent(0, written, 0));
    square<<<1, 256>>>(p);
    CHECK(cudaEventRecord(squared, 0)); // record, then tell
    tell(socket, &answer, sizeof answer);
    hear(socket, &done, 1); // the parent's read comes after the square: it has ended
    CHECK(cudaIpcCloseMemHandle(p));
    CHECK(cudaEventDestroy(written));
    CHECK(cudaEventDestroy(squared));
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
        _exit(0);
    }
    parent(pair[0]);
    wait(&status);
    return status != 0;
}
