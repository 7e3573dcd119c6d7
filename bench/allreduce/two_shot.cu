/* SPDX-License-Identifier: MIT
 * two_shot.cu: rank r adds up part r of everybody's data and sends the sum to everybody.
 *
 * Two hops, and 2 * (n - 1) / n * bytes out of every GPU, the least there is (Patarasuk and Yuan,
 * "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009). A thread handles
 * the same vectors of every part in all three steps, so that nothing ties the threads of a block
 * together: each goes on when its own words have come.
 */
#include "kernels.h"
#include "words.h"

/* What all three steps need to know. */
struct job {
    const float *send;
    float *recv;
    size_t count;
    struct ar_parts parts;
    unsigned call;
};

/* Vectors of every part that a thread has under way at once: as many as registers allow. */
template <int N> struct under_way {
    enum { VECTORS = N <= 4 ? AR_U : 1 };
};

/* Reduce-scatter, sending: vectors of a tile that begins at `tile` in part r go to rank r. */
template <int N>
static __device__ __forceinline__ void scatter(const struct ar_device &d, const struct job &j,
                                               unsigned tile)
{
    enum { U = under_way<N>::VECTORS };
    uint4 v[U][N];

#pragma unroll
    for (int u = 0; u < U; u++)
#pragma unroll
        for (int k = 1; k < N; k++) {
            const int r = (d.me + k) % N;
            const unsigned i = tile + u * blockDim.x + threadIdx.x;
            if (i < ar_length(j.parts, r))
                v[u][k] = words_to_send(ar_load(j.send, ar_first(j.parts, r) + i, j.count));
        }
#pragma unroll
    for (int u = 0; u < U; u++)
#pragma unroll
        for (int k = 1; k < N; k++) {
            const int r = (d.me + k) % N;
            const unsigned i = tile + u * blockDim.x + threadIdx.x;
            if (i < ar_length(j.parts, r))
                words_put(words_board(d, r, j.call, AR_AREA_REDUCE, d.me) + i, v[u][k]);
        }
}

/* Reduce-scatter, adding, and all-gather, sending: the sums of my part go to everybody. */
template <int N>
static __device__ __forceinline__ void add_up(const struct ar_device &d, const struct job &j,
                                              unsigned tile)
{
    const unsigned part = ar_first(j.parts, d.me), length = ar_length(j.parts, d.me);
    uint4 *board = words_board(d, d.me, j.call, AR_AREA_REDUCE, 0);

#pragma unroll
    for (int u = 0; u < under_way<N>::VECTORS; u++) {
        const unsigned i = tile + u * blockDim.x + threadIdx.x;
        if (i >= length)
            return;
        uint4 v[N];
        words_take<N>(d, board + i, ar_load(j.send, part + i, j.count), v);
        const uint4 sum = ar_sum<N>(v), words = words_to_send(sum);
#pragma unroll
        for (int k = 1; k < N; k++)
            words_put(words_board(d, (d.me + k) % N, j.call, AR_AREA_GATHER, d.me) + i, words);
        ar_store(j.recv, part + i, j.count, sum);
    }
}

/* All-gather, taking, of one vector of every part; those of all ranks are asked for at once. */
template <int N>
static __device__ __forceinline__ void take(const struct ar_device &d, const struct job &j,
                                            unsigned i)
{
    uint4 *board = words_board(d, d.me, j.call, AR_AREA_GATHER, 0) + i;
    uint4 v[N];
    bool all;

    do {
        all = true;
#pragma unroll
        for (int r = 0; r < N; r++)
            if (r != d.me && i < ar_length(j.parts, r)) {
                v[r] = words_get(board + r * d.slot);
                all = all && words_here(v[r]);
            }
    } while (!all);
#pragma unroll
    for (int r = 0; r < N; r++)
        if (r != d.me && i < ar_length(j.parts, r)) {
            board[r * d.slot] = words_nothing();
            ar_store(j.recv, ar_first(j.parts, r) + i, j.count, v[r]);
        }
}

template <int N>
static __device__ __forceinline__ void gather(const struct ar_device &d, const struct job &j,
                                              unsigned tile)
{
#pragma unroll
    for (int u = 0; u < under_way<N>::VECTORS; u++)
        take<N>(d, j, tile + u * blockDim.x + threadIdx.x);
}

/* Tiles one after the other, each a step ahead of the next one's: while the words of one travel,
 * those before it are added up. */
template <int N>
static __global__ void __launch_bounds__(AR_TWO_SHOT_THREADS, AR_MIN_BLOCKS)
    two_shot(struct ar_device d, const float *send, float *recv, size_t count)
{
    AR_START_EARLY();
    const struct job j = {send, recv, count, ar_cut(count, N), ar_call(d)};
    const unsigned vectors = blockDim.x * under_way<N>::VECTORS, step = gridDim.x * vectors;
    const unsigned longest = ar_length(j.parts, 0), first = blockIdx.x * vectors;

    scatter<N>(d, j, first);
    for (unsigned tile = first; tile < longest; tile += step) {
        scatter<N>(d, j, tile + step);
        add_up<N>(d, j, tile);
        if (tile != first)
            gather<N>(d, j, tile - step);
        if (tile + step >= longest)
            gather<N>(d, j, tile);
    }
    ar_count(d, j.call);
}

const void *ar_two_shot_kernel(int n)
{
    AR_KERNEL_OF(two_shot, n);
}
