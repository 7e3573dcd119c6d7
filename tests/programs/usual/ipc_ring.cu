// SPDX-License-Identifier: MIT
// ipc_ring.cu: one process a GPU, forked before the first CUDA call. Each exports an inbox and an
// event; each opens its right neighbour's inbox, and in every round writes a message there, once
// with a kernel and once with a copy, records the neighbour-visible event, and takes what came from
// the left.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CUDA_CHECK(call)                                                                           \
    do {                                                                                           \
        cudaError_t err_ = (call);                                                                 \
        if (err_ != cudaSuccess) {                                                                 \
            fprintf(stderr, "rank %d, line %d: %s: %s\n", rank, __LINE__, #call,                   \
                    cudaGetErrorString(err_));                                                     \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static const int kMaxRanks = 8, kRounds = 5, kCount = 4099;

struct Shared {
    volatile int arrived, generation;
    cudaIpcMemHandle_t inbox[kMaxRanks];
    cudaIpcEventHandle_t sent[kMaxRanks];
};

static Shared *shared;
static int rank, ranks;

static void barrier()
{
    int generation = shared->generation;
    if (__sync_add_and_fetch(&shared->arrived, 1) == ranks) {
        shared->arrived = 0;
        __sync_synchronize();
        shared->generation = generation + 1;
    } else {
        while (shared->generation == generation)
            usleep(50);
    }
    __sync_synchronize();
}

__global__ void write_message(int *to, int n, int base)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        to[i] = base + i;
}

// GPUs that can all reach GPU 0 and each other: a rank may only open what its GPU can reach.
static int usable_gpus()
{
    int gpus, can;
    CUDA_CHECK(cudaGetDeviceCount(&gpus));
    for (int i = 0; i < gpus; i++)
        for (int j = 0; j < gpus; j++)
            if (i != j) {
                CUDA_CHECK(cudaDeviceCanAccessPeer(&can, i, j));
                if (!can)
                    return 1;
            }
    return gpus;
}

static int run_rank()
{
    CUDA_CHECK(cudaSetDevice(rank % usable_gpus()));
    int *inbox, *outbox, *scratch;
    cudaEvent_t mine, from_left;
    cudaStream_t stream;
    CUDA_CHECK(cudaMalloc(&inbox, 2 * kCount * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&scratch, kCount * sizeof(int)));
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA_CHECK(cudaEventCreateWithFlags(&mine, cudaEventInterprocess | cudaEventDisableTiming));
    CUDA_CHECK(cudaIpcGetMemHandle(&shared->inbox[rank], inbox));
    CUDA_CHECK(cudaIpcGetEventHandle(&shared->sent[rank], mine));
    barrier();
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    if (ranks > 1) {
        CUDA_CHECK(cudaIpcOpenMemHandle((void **)&outbox, shared->inbox[right],
                                        cudaIpcMemLazyEnablePeerAccess));
        CUDA_CHECK(cudaIpcOpenEventHandle(&from_left, shared->sent[left]));
    } else {
        outbox = inbox; // a process cannot open what it exported itself
        from_left = mine;
    }
    int *host = (int *)malloc(2 * kCount * sizeof(int)), wrong = 0;
    for (int round = 0; round < kRounds; round++) {
        int base = 1000000 * round + 10000 * rank;
        write_message<<<4, 128, 0, stream>>>(outbox, kCount, base);
        write_message<<<4, 128, 0, stream>>>(scratch, kCount, base + 7);
        CUDA_CHECK(cudaMemcpyAsync(outbox + kCount, scratch, kCount * sizeof(int),
                                   cudaMemcpyDefault, stream));
        CUDA_CHECK(cudaEventRecord(mine, stream));
        barrier(); // the record has been issued everywhere: now a wait for it means something
        CUDA_CHECK(cudaStreamWaitEvent(stream, from_left, 0));
        CUDA_CHECK(
            cudaMemcpyAsync(host, inbox, 2 * kCount * sizeof(int), cudaMemcpyDeviceToHost, stream));
        CUDA_CHECK(cudaStreamSynchronize(stream));
        int expected = 1000000 * round + 10000 * left;
        for (int i = 0; i < kCount; i++)
            wrong += host[i] != expected + i || host[kCount + i] != expected + 7 + i;
        barrier(); // everybody has read: the next round may overwrite
    }
    if (ranks > 1) {
        CUDA_CHECK(cudaIpcCloseMemHandle(outbox));
        CUDA_CHECK(cudaEventDestroy(from_left));
    }
    barrier(); // closed everywhere: the owners may free
    CUDA_CHECK(cudaFree(inbox));
    CUDA_CHECK(cudaFree(scratch));
    if (wrong)
        fprintf(stderr, "rank %d: %d wrong elements\n", rank, wrong);
    return wrong > 0;
}

int main(int argc, char **argv)
{
    ranks = argc > 1 ? atoi(argv[1]) : 4;
    shared = (Shared *)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(shared, 0, sizeof *shared);
    for (rank = 0; rank < ranks; rank++)
        if (fork() == 0)
            _exit(run_rank());
    int failed = 0, status;
    for (int i = 0; i < ranks; i++)
        failed += wait(&status) < 0 || status != 0;
    printf("%s: ring of %d processes, %d failed\n", failed ? "FAIL" : "PASS", ranks, failed);
    return failed > 0;
}
