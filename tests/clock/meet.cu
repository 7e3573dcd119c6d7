// SPDX-License-Identifier: MIT
// meet.cu: four processes that wait for each other as lab 05's do, at peers_barrier and round its
// ring; between barriers each copies another amount from host memory, which all share. Prints, for
// each round and rank, its clock as it comes to the barrier and as it leaves it, when it has heard
// of what goes round the ring, and when that has come.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <sys/mman.h>
#include <vgpu_time.h>

#include "lab05.h"

static const int RANKS = 4, ROUNDS = 5;
static const size_t MB = 1 << 20;

struct seen {
    uint64_t came[ROUNDS], left[ROUNDS], heard[ROUNDS], took[ROUNDS];
};

static void check(int error, const char *call)
{
    if (error == 0)
        return;
    fprintf(stderr, "%s: %d\n", call, error);
    exit(1);
}
#define CHECK(call) check((call), #call)

// Ranks take turns in being the last one.
static void barriers(peers *p, char *device, const char *host, seen &mine)
{
    for (int round = 0; round < ROUNDS; round++) {
        size_t bytes = MB * (1 + (p->rank * 3 + round * 5) % 7);
        CHECK(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
        mine.came[round] = vgpu_time();
        CHECK(peers_barrier(p));
        mine.left[round] = vgpu_time();
    }
}

// As lab 05's program: a rank waits for what it took before it puts it.
static void around(peers *p, ring &r, char *device, seen &mine)
{
    size_t bytes;
    for (int round = 0; round < ROUNDS; round++) {
        if (p->rank == 0)
            CHECK(ring_put(&r, device, MB));
        CHECK(ring_take(&r, device, MB, &bytes));
        mine.heard[round] = vgpu_time();
        CHECK(cudaStreamSynchronize(r.stream));
        mine.took[round] = vgpu_time();
        if (p->rank > 0)
            CHECK(ring_put(&r, device, MB));
    }
}

static int rank_main(peers *p, void *argument)
{
    seen &mine = static_cast<seen *>(argument)[p->rank];
    ring r;
    char *device, *host;
    CHECK(ring_open(&r, p, MB));
    CHECK(cudaMalloc(&device, 8 * MB));
    CHECK(cudaHostAlloc(&host, 8 * MB, 0));
    barriers(p, device, host, mine);
    around(p, r, device, mine);
    CHECK(ipc_close(&r));
    CHECK(cudaFree(device));
    return 0;
}

int main()
{
    int status[RANKS], bad = 0;
    void *shared = mmap(nullptr, sizeof(seen[RANKS]), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    seen *all = static_cast<seen *>(shared);
    CHECK(peers_start(RANKS, rank_main, all, status));
    for (int rank = 0; rank < RANKS; rank++)
        bad |= status[rank];
    for (int round = 0; round < ROUNDS; round++)
        for (int rank = 0; rank < RANKS; rank++)
            printf("%d %d %llu %llu %llu %llu\n", round, rank,
                   static_cast<unsigned long long>(all[rank].came[round]),
                   static_cast<unsigned long long>(all[rank].left[round]),
                   static_cast<unsigned long long>(all[rank].heard[round]),
                   static_cast<unsigned long long>(all[rank].took[round]));
    return bad != 0;
}
