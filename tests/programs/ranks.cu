// SPDX-License-Identifier: MIT
// ranks.cu: processes that hold each other's memory open and write into it without a pause, for the
// kill drill (test_killed.py); each round waits on the GPU for the left neighbour's event. Prints
// the ranks' process ids; ends at the end of its input. A rank ends well when its input is over or
// a CUDA call reports an error; what must not happen is a hang.
#include "check.h"
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_RANKS = 8, INTS = 1 << 18 };

struct shared {
    volatile int stop, exported[MAX_RANKS];
    cudaIpcMemHandle_t inbox[MAX_RANKS];
    cudaIpcEventHandle_t sent[MAX_RANKS];
};

static struct shared *shared;

__global__ void write_all(int *to, int n, int value)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        to[i] = value;
}

// One message to the right, after the last one from the left; false: a neighbour has gone, or it is
// over.
static bool send(int right, int *mine, int round, cudaEvent_t arrived, cudaEvent_t sent)
{
    int *outbox;
    if (cudaIpcOpenMemHandle((void **)&outbox, shared->inbox[right],
                             cudaIpcMemLazyEnablePeerAccess) != cudaSuccess)
        return false;
    bool ok = cudaStreamWaitEvent(0, arrived, 0) == cudaSuccess;
    write_all<<<8, 64>>>(outbox, INTS, round);
    ok = ok &&
         cudaMemcpyAsync(outbox, mine, INTS * sizeof(int), cudaMemcpyDefault, 0) == cudaSuccess;
    ok = ok && cudaEventRecord(sent, 0) == cudaSuccess;
    ok = ok && cudaDeviceSynchronize() == cudaSuccess;
    return cudaIpcCloseMemHandle(outbox) == cudaSuccess && ok;
}

static int run_rank(int rank, int ranks)
{
    int gpus, *inbox, *mine;
    cudaEvent_t sent, arrived;
    MUST(cudaGetDeviceCount(&gpus));
    MUST(cudaSetDevice(rank % gpus));
    MUST(cudaMalloc((void **)&inbox, INTS * sizeof(int)));
    MUST(cudaMalloc((void **)&mine, INTS * sizeof(int)));
    MUST(cudaIpcGetMemHandle(&shared->inbox[rank], inbox));
    MUST(cudaEventCreateWithFlags(&sent, cudaEventInterprocess | cudaEventDisableTiming));
    MUST(cudaIpcGetEventHandle(&shared->sent[rank], sent));
    shared->exported[rank] = 1;
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    while (!(shared->exported[right] && shared->exported[left]) && !shared->stop)
        usleep(100);
    if (cudaIpcOpenEventHandle(&arrived, shared->sent[left]) != cudaSuccess)
        return 0;
    for (int round = 0; !shared->stop; round++)
        if (!send(right, mine, round, arrived, sent))
            usleep(1000);
    return 0;
}

int main(int argc, char **argv)
{
    int ranks = argc > 1 ? atoi(argv[1]) : 4, status;
    shared = (struct shared *)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int rank = 0; rank < ranks; rank++) {
        pid_t child = fork();
        if (child == 0)
            _exit(run_rank(rank, ranks));
        printf("%d ", (int)child);
    }
    printf("\n");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    shared->stop = 1;
    int killed = 0, failed = 0;
    for (int i = 0; i < ranks; i++) {
        wait(&status);
        killed += WIFSIGNALED(status);
        failed += WIFEXITED(status) && WEXITSTATUS(status) != 0;
    }
    printf("%d killed, %d failed\n", killed, failed);
    return 0;
}
