// SPDX-License-Identifier: MIT
// leave.cu: how a communicator of several processes ends: leave HOW. Two processes with two ranks
// each, which one thread makes in a group and destroys one after the other.
//
//   pairs   both processes do, the second one late
//   gone    the second one ends without ncclCommDestroy: the first one is told, and does not wait
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HERE = 2, RANKS = 4 };

#define MUST(call)                                                                                 \
    do {                                                                                           \
        int status_ = (int)(call);                                                                 \
        if (status_ != 0) {                                                                        \
            printf("line %d: status %d\n", __LINE__, status_);                                     \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

// Returns the worst status of the two ncclCommDestroy.
static int two_ranks(int first, ncclUniqueId id, bool destroy)
{
    ncclComm_t comm[HERE];
    float *data[HERE];
    MUST(ncclGroupStart());
    for (int i = 0; i < HERE; i++) {
        MUST(cudaSetDevice(first + i));
        MUST(ncclCommInitRank(&comm[i], RANKS, id, first + i));
    }
    MUST(ncclGroupEnd());
    MUST(ncclGroupStart());
    for (int i = 0; i < HERE; i++) {
        MUST(cudaSetDevice(first + i));
        MUST(cudaMalloc(&data[i], 4096));
        MUST(cudaMemset(data[i], 0, 4096));
        MUST(ncclAllReduce(data[i], data[i], 1024, ncclFloat, ncclSum, comm[i], 0));
    }
    MUST(ncclGroupEnd());
    for (int i = 0; i < HERE; i++) {
        MUST(cudaSetDevice(first + i));
        MUST(cudaDeviceSynchronize());
    }
    int worst = 0;
    for (int i = 0; i < HERE && destroy; i++) {
        int status = ncclCommDestroy(comm[i]);
        worst = status > worst ? status : worst;
        MUST(cudaSetDevice(first + i));
        MUST(cudaFree(data[i]));
    }
    return worst;
}

int main(int argc, char **argv)
{
    int pipes[2], status = 0;
    bool gone = argc > 1 && strcmp(argv[1], "gone") == 0;
    ncclUniqueId id;
    MUST(pipe(pipes));
    pid_t child = fork(); // before any call of CUDA
    if (child == 0) {
        if (read(pipes[0], &id, sizeof id) != sizeof id)
            _exit(1);
        int worst = two_ranks(HERE, id, !gone);
        if (gone)
            _exit(0);
        return worst;
    }
    MUST(ncclGetUniqueId(&id));
    if (write(pipes[1], &id, sizeof id) != sizeof id)
        return 1;
    int worst = two_ranks(0, id, true);
    waitpid(child, &status, 0);
    printf("destroy: %d, the other process: %d\n", worst, status);
    return 0;
}
