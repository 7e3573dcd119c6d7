// SPDX-License-Identifier: MIT
// collective.cu: two ranks add, for runs in which something fails.
//
//     collective threads|processes   exit status 0: all is right; 1: a call reported an error (and
//                                    was told on stderr); 42: no call did, and a result is wrong
#include <cuda_runtime.h>
#include <nccl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 2, N = 1000 };

static void check(const char *call, int error, const char *what)
{
    if (error == 0)
        return;
    fprintf(stderr, "collective: %s: %s\n", call, what);
    _exit(1); // the other rank may wait for this one
}
#define CUDA(call)                                                                                 \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        check(#call, error_, cudaGetErrorString(error_));                                          \
    } while (0)
#define NCCL(call)                                                                                 \
    do {                                                                                           \
        ncclResult_t error_ = (call);                                                              \
        check(#call, error_, ncclGetErrorString(error_));                                          \
    } while (0)

struct rank {
    int number;
    ncclUniqueId id;
};

static void add(const struct rank *r)
{
    int here[N], *data;
    ncclComm_t comm;
    cudaStream_t stream;
    for (int i = 0; i < N; i++)
        here[i] = i + r->number;
    CUDA(cudaSetDevice(r->number));
    NCCL(ncclCommInitRank(&comm, RANKS, r->id, r->number));
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaMalloc(&data, sizeof here));
    CUDA(cudaMemcpy(data, here, sizeof here, cudaMemcpyHostToDevice));
    NCCL(ncclAllReduce(data, data, N, ncclInt32, ncclSum, comm, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaMemcpy(here, data, sizeof here, cudaMemcpyDeviceToHost));
    NCCL(ncclCommDestroy(comm));
    CUDA(cudaFree(data));
    CUDA(cudaStreamDestroy(stream));
    for (int i = 0; i < N; i++)
        if (here[i] != 2 * i + 1) {
            fprintf(stderr, "collective: [%d] is %d, not %d\n", i, here[i], 2 * i + 1);
            _exit(42);
        }
}

static void *add_as_thread(void *rank)
{
    add((const struct rank *)rank);
    return NULL;
}

static void by_threads(void)
{
    struct rank first = {0, {}}, second = {1, {}};
    pthread_t thread;
    NCCL(ncclGetUniqueId(&first.id));
    second.id = first.id;
    check("pthread_create", pthread_create(&thread, NULL, add_as_thread, &second), "no thread");
    add(&first);
    pthread_join(thread, NULL);
}

// The parent, which is rank 0, makes the id after the fork.
static int by_processes(void)
{
    struct rank rank = {0, {}};
    int pipes[2], status = 0;
    check("pipe", pipe(pipes), "no pipe");
    pid_t child = fork();
    check("fork", child < 0, "no process");
    if (child == 0) {
        close(pipes[1]);
        rank.number = 1;
        if (read(pipes[0], &rank.id, sizeof rank.id) != (ssize_t)sizeof rank.id)
            check("read", 1, "the other rank gave no id");
        add(&rank);
        exit(0);
    }
    close(pipes[0]);
    NCCL(ncclGetUniqueId(&rank.id));
    if (write(pipes[1], &rank.id, sizeof rank.id) != (ssize_t)sizeof rank.id)
        check("write", 1, "the other rank gets no id");
    close(pipes[1]);
    add(&rank);
    while (waitpid(child, &status, 0) < 0)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

int main(int argc, char **argv)
{
    int status = 0;
    if (argc > 1 && strcmp(argv[1], "processes") == 0)
        status = by_processes();
    else
        by_threads();
    if (status == 0)
        puts("right");
    return status;
}
