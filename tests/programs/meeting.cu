// SPDX-License-Identifier: MIT
// A host thread for each GPU, and main in pthread_join: kernels meet through peer memory, all
// others in place when rank 0 still waits for something of its own. Queued behind each kernel is a
// copy from pageable memory, which keeps its thread.
//   meeting           rank 0 first waits for a kernel that only the clock lets end
//   meeting sleeps    and sleeps before it comes, longer than a deadlock may last
//   meeting computes  and computes for three seconds, which is no deadlock either
//   meeting never     rank 0 never comes: it waits for the others, who must be told
#include "check.h"

#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { GPUS = 8, ROUNDS = 5, COPIED = 1 << 20 };

static int count, *flags[GPUS]; /* GPU g's: [rank] */
static const char *how = "";
static int told; /* atomic: ranks whose wait failed */
static char pageable[GPUS][COPIED];

struct everyones {
    int *flags[GPUS];
};

/* Tells every rank that round `round` is here, and waits for all of them. Thread r: rank r. */
__global__ void meet(struct everyones e, int me, int round)
{
    volatile int *theirs = e.flags[threadIdx.x] + me, *mine = e.flags[me] + threadIdx.x;
    *theirs = round;
    while (*mine < round) {
    }
}

/* Several words a turn, and the first ones are there: which one is waited for changes. */
__global__ void meet_in_one_thread(struct everyones e, int me, int n, int round)
{
    for (int r = 0; r < n; r++)
        *(volatile int *)(e.flags[r] + me) = round;
    for (bool all = false; !all;) {
        all = true;
        for (int r = 0; r < n; r++)
            all = *(volatile int *)(e.flags[me] + r) >= round && all;
    }
}

__global__ void busy(int turns)
{
    for (int i = 0; i < turns; i++)
        __nanosleep(1000);
}

static void compute_for(double seconds)
{
    struct timespec t;
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    while (t.tv_sec + t.tv_nsec * 1e-9 < seconds);
}

/* What rank 0 does before a meeting; false: it does not come. */
static bool come_late(cudaStream_t stream, int round)
{
    if (strcmp(how, "never") == 0) {
        while (__atomic_load_n(&told, __ATOMIC_ACQUIRE) < count - 1)
            usleep(10000);
        return false;
    }
    if (round == 1 && strcmp(how, "sleeps") == 0)
        usleep(3500000);
    if (round == 1 && strcmp(how, "computes") == 0)
        compute_for(3);
    busy<<<1, 1, 0, stream>>>(100);
    MUST(cudaStreamSynchronize(stream));
    return true;
}

static void one_round(int rank, int round, cudaStream_t stream, void *room)
{
    struct everyones e;
    memcpy(e.flags, flags, sizeof e.flags);
    if (round % 2)
        meet<<<1, count, 0, stream>>>(e, rank, round);
    else
        meet_in_one_thread<<<1, 1, 0, stream>>>(e, rank, count, round);
    MUST(cudaGetLastError());
    cudaError_t error =
        cudaMemcpyAsync(room, pageable[rank], COPIED, cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    if (strcmp(how, "never") == 0) {
        HOLDS(error == cudaErrorLaunchTimeout, "rank %d: %d", rank, (int)error);
        __atomic_add_fetch(&told, 1, __ATOMIC_RELEASE);
        pthread_exit(NULL);
    }
    MUST(error);
}

static void *rank_main(void *number)
{
    int rank = (int)(size_t)number;
    cudaStream_t stream;
    void *room;
    MUST(cudaSetDevice(rank));
    MUST(cudaMalloc(&room, COPIED));
    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int round = 1; round <= ROUNDS; round++) {
        if (rank == 0 && !come_late(stream, round))
            return NULL;
        one_round(rank, round, stream, room);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[GPUS];
    how = argc > 1 ? argv[1] : "";
    MUST(cudaGetDeviceCount(&count));
    for (int g = 0; g < count; g++) {
        MUST(cudaSetDevice(g));
        MUST(cudaMalloc(&flags[g], GPUS * sizeof(int)));
        MUST(cudaMemset(flags[g], 0, GPUS * sizeof(int)));
        for (int p = 0; p < count; p++)
            if (p != g)
                MUST(cudaDeviceEnablePeerAccess(p, 0));
        MUST(cudaDeviceSynchronize());
    }
    for (int r = 0; r < count; r++)
        HOLDS(pthread_create(&thread[r], NULL, rank_main, (void *)(size_t)r) == 0, "rank %d", r);
    for (int r = 0; r < count; r++)
        HOLDS(pthread_join(thread[r], NULL) == 0, "rank %d", r);
    printf("meetings on %d GPUs: %s\n", count, told ? "all were told" : "right");
    return 0;
}
