// SPDX-License-Identifier: MIT
// ipc_events.cu: a process a GPU; each opens its left neighbour's memory and event, and reads after
// that event in its stream. Pipes say when the event was recorded, and when all have read.
#include "correct.h"
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 2 };

struct exported {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t event;
};

static int pipes[RANKS][2];

static void tell(int rank, const void *what, size_t bytes)
{
    if (write(pipes[rank][1], what, bytes) != (ssize_t)bytes)
        _exit(2);
}

static void hear(int rank, void *what, size_t bytes)
{
    if (read(pipes[rank][0], what, bytes) != (ssize_t)bytes)
        _exit(2);
}

static int work(int rank)
{
    struct exported mine, other;
    cudaEvent_t event, opened;
    int *from, peer = RANKS - 1 - rank;
    char done = 1;
    count_gpus();
    cudaStream_t stream = stream_on(rank % gpus);
    int *a = ints_on(rank % gpus, N), *b = zeros_on(rank % gpus, N);
    CHECK(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
    fill<<<BLOCKS, BLOCK, 0, stream>>>(a, 40 * rank);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(event, stream));
    CHECK(cudaIpcGetMemHandle(&mine.memory, a));
    CHECK(cudaIpcGetEventHandle(&mine.event, event));
    tell(peer, &mine, sizeof mine);
    hear(rank, &other, sizeof other);
    CHECK(cudaIpcOpenMemHandle((void **)&from, other.memory, cudaIpcMemLazyEnablePeerAccess));
    CHECK(cudaIpcOpenEventHandle(&opened, other.event));
    CHECK(cudaStreamWaitEvent(stream, opened, 0));
    copy_plus<<<BLOCKS, BLOCK, 0, stream>>>(b, from, 1);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(stream));
    int wrong = wrong_from(b, 40 * peer + 1, 1);
    CHECK(cudaIpcCloseMemHandle(from));
    CHECK(cudaEventDestroy(opened));
    tell(peer, &done, 1);
    hear(rank, &done, 1);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaEventDestroy(event));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    return wrong != 0;
}

int main()
{
    int failed = 0, status;
    for (int r = 0; r < RANKS; r++)
        if (pipe(pipes[r]) != 0)
            return 2;
    for (int r = 0; r < RANKS; r++)
        if (fork() == 0)
            exit(work(r));
    for (int r = 0; r < RANKS; r++)
        failed |= wait(&status) < 0 || status != 0;
    return failed;
}
