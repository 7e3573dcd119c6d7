// SPDX-License-Identifier: MIT
// simple_ipc.cu: one process a GPU, all of them children of a parent that makes no CUDA call. Each
// makes a buffer and an event for the others, opens everybody else's, and adds to each buffer once,
// one rank after the other: what orders them are the events alone, never a host-side wait for the
// GPU.
#include <cstdio>
#include <cstdlib>
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

static const int kMaxRanks = 8, kCount = 5003;

struct Shared {
    volatile int ranks, arrived, generation;
    cudaIpcMemHandle_t memory[kMaxRanks];
    cudaIpcEventHandle_t event[kMaxRanks];
};

static Shared *shared;
static int rank;

static void barrier()
{
    int generation = shared->generation;
    if (__sync_add_and_fetch(&shared->arrived, 1) == shared->ranks) {
        shared->arrived = 0;
        __sync_synchronize();
        shared->generation = generation + 1;
    } else {
        while (shared->generation == generation)
            usleep(50);
    }
    __sync_synchronize();
}

// Each rank's step is 3 x + its number + 1: any other order gives another result.
__global__ void step(int *p, int n, int number)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        p[i] = 3 * p[i] + number + 1;
}

// Asks in a process of its own: a parent that has used CUDA could not fork any more.
static int usable_gpus()
{
    int gpus = 0, can;
    CUDA_CHECK(cudaGetDeviceCount(&gpus));
    for (int i = 0; i < gpus; i++)
        for (int j = 0; j < gpus; j++) {
            can = 1;
            if (i != j)
                CUDA_CHECK(cudaDeviceCanAccessPeer(&can, i, j));
            if (!can)
                return 1;
        }
    return gpus < kMaxRanks ? gpus : kMaxRanks;
}

static void run_rank(int *buffer[kMaxRanks], cudaEvent_t event[kMaxRanks], cudaStream_t stream)
{
    int ranks = shared->ranks;
    for (int turn = 0; turn < ranks; turn++) {
        int owner = (rank + turn) % ranks; // all buffers are worked on at a time
        int before = (rank + 1) % ranks;   // who had this buffer in the last turn
        if (turn > 0)
            CUDA_CHECK(cudaStreamWaitEvent(stream, event[before], 0));
        barrier(); // all have waited for the last records: they may be made anew
        step<<<4, 128, 0, stream>>>(buffer[owner], kCount, rank);
        CUDA_CHECK(cudaEventRecord(event[rank], stream));
        barrier();
    }
    // The last to work on the own buffer was the right neighbour.
    CUDA_CHECK(cudaStreamWaitEvent(stream, event[(rank + 1) % ranks], 0));
}

static int check(const int *mine, cudaStream_t stream)
{
    static int h[kCount];
    int ranks = shared->ranks, wrong = 0;
    CUDA_CHECK(cudaMemcpyAsync(h, mine, sizeof h, cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    int expected = 0;
    for (int turn = 0; turn < ranks; turn++)
        expected = 3 * expected + (rank - turn + ranks) % ranks + 1;
    for (int i = 0; i < kCount; i++)
        wrong += h[i] != expected;
    if (wrong)
        fprintf(stderr, "rank %d: %d wrong: %d, expected %d\n", rank, wrong, h[0], expected);
    return wrong != 0;
}

static int child()
{
    int *buffer[kMaxRanks];
    cudaEvent_t event[kMaxRanks];
    cudaStream_t stream;
    CUDA_CHECK(cudaSetDevice(rank));
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA_CHECK(cudaMalloc((void **)&buffer[rank], kCount * sizeof(int)));
    CUDA_CHECK(cudaMemset(buffer[rank], 0, kCount * sizeof(int)));
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(
        cudaEventCreateWithFlags(&event[rank], cudaEventDisableTiming | cudaEventInterprocess));
    CUDA_CHECK(cudaIpcGetMemHandle(&shared->memory[rank], buffer[rank]));
    CUDA_CHECK(cudaIpcGetEventHandle(&shared->event[rank], event[rank]));
    barrier();
    for (int r = 0; r < shared->ranks; r++)
        if (r != rank) {
            CUDA_CHECK(cudaIpcOpenMemHandle((void **)&buffer[r], shared->memory[r],
                                            cudaIpcMemLazyEnablePeerAccess));
            CUDA_CHECK(cudaIpcOpenEventHandle(&event[r], shared->event[r]));
        }
    run_rank(buffer, event, stream);
    int wrong = check(buffer[rank], stream);
    for (int r = 0; r < shared->ranks; r++)
        if (r != rank) {
            CUDA_CHECK(cudaIpcCloseMemHandle(buffer[r]));
            CUDA_CHECK(cudaEventDestroy(event[r]));
        }
    barrier(); // nobody frees what somebody has open
    CUDA_CHECK(cudaFree(buffer[rank]));
    CUDA_CHECK(cudaEventDestroy(event[rank]));
    CUDA_CHECK(cudaStreamDestroy(stream));
    return wrong;
}

int main()
{
    int failed = 0, status;
    shared = (Shared *)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (fork() == 0) {
        shared->ranks = usable_gpus();
        _exit(0);
    }
    wait(&status);
    for (rank = 0; rank < shared->ranks; rank++)
        if (fork() == 0)
            _exit(child());
    for (int i = 0; i < shared->ranks; i++) {
        wait(&status);
        failed += status != 0;
    }
    bool passed = shared->ranks > 0 && failed == 0;
    printf("%s: %d processes, %d failed\n", passed ? "PASS" : "FAIL", shared->ranks, failed);
    return !passed;
}
