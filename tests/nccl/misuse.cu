// SPDX-License-Identifier: MIT
// What a program does wrong with NCCL, one mistake a run: the result, or the sentence of a kernel.
#include "check.h"

#include <nccl.h>
#include <nccl_device.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
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
    double two = 2;
    ncclRedOp_t twice;
    ncclRedOpCreatePreMulSum(&twice, &two, ncclDouble, ncclScalarHostImmediate, comm[0]);
    say(ncclAllReduce(buffer, buffer, 10, ncclFloat, twice, comm[0], 0));
    say(ncclRedOpDestroy(twice, comm[0]));
    say(ncclAllReduce(buffer, buffer, 10, ncclFloat, ncclNumOps, comm[0], 0));
    say(ncclAllReduce(buffer, buffer, 10, ncclFloat, ncclSum, NULL, 0));
    say(ncclCommSplit(comm[0], 0, 0, NULL, NULL));
    say(ncclDevCommCreate(comm[0], NULL, NULL));
    say(ncclGroupEnd());
    ncclGroupStart(); // one wrong call drops the group: nothing waits afterwards
    ncclAllReduce(buffer, buffer, 10, ncclFloat, ncclSum, comm[0], 0);
    ncclSend(buffer, 10, ncclFloat, 5, comm[0], 0);
    say(ncclGroupEnd());
    MUST(cudaDeviceSynchronize());
    ncclCommDestroy(comm[0]);
    ncclCommDestroy(comm[1]);
}

__global__ void wait_a_little()
{
    long long begin = clock64();
    while (clock64() - begin < 10000000)
        ;
}

// The last error, which a call of the program has left, must be there after every call of NCCL's.
static void expect_last(cudaError_t want, const char *call, ncclResult_t result)
{
    cudaError_t last = cudaPeekAtLastError();
    HOLDS(result == ncclSuccess, "%s: %s", call, ncclGetErrorString(result));
    HOLDS(last == want, "after %s the last error is %d, not %d", call, (int)last, (int)want);
}

#define CALL(call) expect_last(want, #call, call)

static void every_call(cudaError_t want, float *buffer[2], cudaStream_t stream[2])
{
    ncclComm_t comm[2];
    ncclResult_t state;
    CALL(ncclCommInitAll(comm, 2, NULL));
    for (int op = 0; op < 3; op++) {
        CALL(ncclGroupStart());
        for (int d = 0; d < 2; d++)
            if (op == 0)
                CALL(
                    ncclAllReduce(buffer[d], buffer[d], 9, ncclFloat, ncclSum, comm[d], stream[d]));
            else if (op == 1)
                CALL(ncclSend(buffer[d], 9, ncclFloat, 1 - d, comm[d], stream[d]));
            else
                CALL(ncclBroadcast(buffer[d], buffer[d], 9, ncclFloat, 0, comm[d], stream[d]));
        for (int d = 0; d < 2 && op == 1; d++)
            CALL(ncclRecv(buffer[d] + 16, 9, ncclFloat, 1 - d, comm[d], stream[d]));
        CALL(ncclGroupEnd());
        for (int d = 0; d < 2; d++)
            CALL(ncclCommGetAsyncError(comm[d], &state));
    }
    for (int d = 0; d < 2; d++) {
        CALL(ncclCommFinalize(comm[d]));
        CALL(ncclCommDestroy(comm[d]));
    }
}

// The id's keeper cannot take the rank in: it has no descriptor left.
static void no_descriptors()
{
    ncclComm_t comm;
    struct rlimit limit = {64, 64};
    int fds[64], count = 0;
    MUST(cudaFree(0));
    ncclGetUniqueId(&id);
    setrlimit(RLIMIT_NOFILE, &limit);
    while (count < 64 && (fds[count] = dup(2)) >= 0)
        count++;
    close(fds[--count]); // for the rank's own end of the line
    clock_t before = clock();
    say(ncclCommInitRank(&comm, 1, id, 0));
    double used = (double)(clock() - before) / CLOCKS_PER_SEC;
    printf("%s\n", used < 0.5 ? "idle" : "busy");
}

// Once with an error of the program's on record, once without, and with a call that was not ready.
static void others_errors()
{
    float *buffer[2];
    cudaStream_t stream[2];
    void *much;
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaMalloc(&buffer[d], 4096));
        MUST(cudaStreamCreate(&stream[d]));
        MUST(cudaDeviceEnablePeerAccess(1 - d, 0)); // so NCCL's own is answered 704
    }
    every_call(cudaSuccess, buffer, stream);
    HOLDS(cudaMalloc(&much, (size_t)1 << 50) == cudaErrorMemoryAllocation, "so much memory");
    every_call(cudaErrorMemoryAllocation, buffer, stream);
    cudaGetLastError();
    wait_a_little<<<1, 1, 0, stream[1]>>>();
    cudaError_t asked = cudaStreamQuery(stream[1]);
    HOLDS(asked == cudaErrorNotReady, "the kernel is over: %d", (int)asked);
    every_call(cudaPeekAtLastError(), buffer, stream);
    printf("left alone\n");
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
    else if (strcmp(what, "descriptors") == 0)
        no_descriptors();
    else if (strcmp(what, "others") == 0)
        others_errors();
    else
        wrong_arguments();
    return 0;
}
