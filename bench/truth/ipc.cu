// SPDX-License-Identifier: MIT
// ipc.cu: lab 05's ring of two processes: a message goes there and back again, many times.
#include "rows.h"

#include "lab05.h"

static const size_t MOST = 16 * MIB;

static void there_and_back(struct ring *ring, int rank, char *data, size_t bytes)
{
    size_t got;
    if (rank == 0)
        LAB(ring_put(ring, data, bytes));
    LAB(ring_take(ring, data, MOST, &got));
    if (rank == 1)
        LAB(ring_put(ring, data, bytes));
    CHECK(cudaStreamSynchronize(ring->stream));
}

static double round_us(struct ring *ring, int rank, char *data, size_t bytes)
{
    const int rounds = 8;
    double start = host_us();
    for (int i = 0; i < rounds; i++)
        there_and_back(ring, rank, data, bytes);
    return (host_us() - start) / rounds;
}

static int of_rank(struct peers *peers, void *)
{
    struct ring ring;
    char *data;
    LAB(ring_open(&ring, peers, MOST));
    CHECK(cudaMalloc(&data, MOST));
    CHECK(cudaMemset(data, 1, MOST));
    CHECK(cudaDeviceSynchronize());
    for (size_t bytes = 64 * KIB; bytes <= MOST; bytes *= 4) {
        double us = median([&] { return round_us(&ring, peers->rank, data, bytes); });
        if (peers->rank == 0)
            row(us, "lab05.there_and_back.%s.us", size_name(bytes));
    }
    LAB(ipc_close(&ring));
    CHECK(cudaFree(data));
    return 0;
}

int main()
{
    int status[2];
    LAB(peers_start(2, of_rank, NULL, status));
    return status[0] || status[1];
}
