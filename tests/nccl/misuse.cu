// SPDX-License-Identifier: MIT
// What a program does wrong with NCCL, one mistake a run: the result, or the sentence of a kernel.
#include "check.h"

#include <nccl.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <vector>

static void say(ncclResult_t result)
{
    printf("%d %s\n", (int)result, ncclGetErrorString(result));
}

static ncclUniqueId id;

static void *second_rank(void *comm)
{
    MUST(cudaSetDevice(1));
    ncclCommInitRank((ncclComm_t *)comm, 2, id, 1);
    return NULL;
}

// Ranks 0 and 1, each by a thread.
static void two_ranks(ncclComm_t comm[2])
{
    pthread_t thread;
    ncclGetUniqueId(&id);
    pthread_create(&thread, NULL, second_rank, &comm[1]);
    say(ncclCommInitRank(&comm[0], 2, id, 0));
    pthread_join(thread, NULL);
}

// Both ranks issue, with counts and calls that differ; what the wait says.
static void differ(bool other_call)
{
    ncclComm_t comm[2];
    float *buffer[2];
    ncclCommInitAll(comm, 2, NULL);
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaMalloc(&buffer[d], 4096));
    }
    ncclGroupStart();
    ncclAllReduce(buffer[0], buffer[0], 100, ncclFloat, ncclSum, comm[0], 0);
    if (other_call)
        ncclBroadcast(buffer[1], buffer[1], 100, ncclFloat, 1, comm[1], 0);
    else
        ncclAllReduce(buffer[1], buffer[1], 60, ncclFloat, ncclSum, comm[1], 0);
    ncclGroupEnd();
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}

static void one_gpu_twice()
{
    ncclComm_t comm[2];
    const int devices[2] = {1, 1};
    say(ncclCommInitAll(comm, 2, devices));
}

static void nobody_comes()
{
    ncclComm_t comm;
    ncclGetUniqueId(&id);
    say(ncclCommInitRank(&comm, 2, id, 0));
}

static void two_same_ranks()
{
    ncclComm_t comm[2];
    ncclGetUniqueId(&id);
    ncclGroupStart();
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(d));
        ncclCommInitRank(&comm[d], 2, id, 0);
    }
    say(ncclGroupEnd());
}

static void wrong_arguments()
{
    ncclComm_t comm[2];
    float *buffer;
    two_ranks(comm);
    MUST(cudaSetDevice(0));
    MUST(cudaMalloc(&buffer, 4096));
    say(ncclBroadcast(buffer, buffer, 10, ncclFloat, 2, comm[0], 0));
    say(ncclAllReduce(buffer, NULL, 10, ncclFloat, ncclSum, comm[0], 0));
    say(ncclAllReduce(buffer, buffer, 10, (ncclDataType_t)77, ncclSum, comm[0], 0));
    say(ncclAllReduce(buffer, buffer, 10, ncclFloat8e4m3, ncclSum, comm[0], 0));
    say(ncclAllReduce(buffer, buffer, 10, ncclFloat, ncclNumOps, comm[0], 0));
    say(ncclAllReduce(buffer, buffer, 10, ncclFloat, ncclSum, NULL, 0));
    say(ncclCommSplit(comm[0], 0, 0, NULL, NULL));
    say(ncclGroupEnd());
    ncclGroupStart(); // one wrong call drops the group: nothing waits afterwards
    ncclAllReduce(buffer, buffer, 10, ncclFloat, ncclSum, comm[0], 0);
    ncclSend(buffer, 10, ncclFloat, 5, comm[0], 0);
    say(ncclGroupEnd());
    MUST(cudaDeviceSynchronize());
    ncclCommDestroy(comm[0]);
    ncclCommDestroy(comm[1]);
}

int main(int, char **argv)
{
    const char *what = argv[1];
    if (strcmp(what, "count") == 0)
        differ(false);
    else if (strcmp(what, "call") == 0)
        differ(true);
    else if (strcmp(what, "gpu") == 0)
        one_gpu_twice();
    else if (strcmp(what, "nobody") == 0)
        nobody_comes();
    else if (strcmp(what, "rank") == 0)
        two_same_ranks();
    else
        wrong_arguments();
    return 0;
}
