/* SPDX-License-Identifier: MIT
 * two_shot.cu: rank r adds up part r of all ranks' data and sends the sum to all.
 *
 * Two hops, and 2 * (n - 1) / n * bytes out of every GPU, the least possible (Patarasuk and Yuan,
 * "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009). A thread handles
 * the same vectors of every part in all three steps, so that threads of a block do not depend on
 * each other: each continues when its own words have arrived.
 */
#include "kernels.h"
#include "words.h"

/* Arguments of all three steps: vectors first .. end - 1 of every part that is long enough. */
struct job {
    const float *send;
    float *recv;
    size_t count;
    struct ar_parts parts;
    unsigned call, plain, first, end;
};

/* Reduce-scatter, send: vector i of part r to rank r. All loads are issued before the first use of
 * their results, without a branch in between: branches are left to scatter_one. */
template <int N>
static __device__ __forceinline__ void scatter_plain(const struct ar_device &d, const struct job &j,
                                                     unsigned i)
{
    uint4 v[N];

#pragma unroll
    for (int k = 1; k < N; k++)
        v[k] = ((const uint4 *)j.send)[ar_first(j.parts, (d.me + k) % N) + i];
#pragma unroll
    for (int k = 1; k < N; k++) {
        const int r = (d.me + k) % N;
        words_put(words_board<N>(d, r, j.call, AR_AREA_REDUCE, d.me) + i, words_to_send(v[k]));
    }
}

template <int N>
static __device__ __forceinline__ void scatter_one(const struct ar_device &d, const struct job &j,
                                                   unsigned i, int r)
{
    const uint4 v = ar_load(j.send, ar_first(j.parts, r) + i, j.count);
    words_put(words_board<N>(d, r, j.call, AR_AREA_REDUCE, d.me) + i, words_to_send(v));
}

template <int N>
static __device__ __forceinline__ void scatter(const struct ar_device &d, const struct job &j)
{
    const unsigned plain = j.end < j.plain ? j.end : j.plain;
    unsigned i = j.first + threadIdx.x;

#pragma unroll 2
    for (; i < plain; i += blockDim.x)
        scatter_plain<N>(d, j, i);
    for (; i < j.end; i += blockDim.x)
        for (int k = 1; k < N; k++)
            if (i < ar_length(j.parts, (d.me + k) % N))
                scatter_one<N>(d, j, i, (d.me + k) % N);
}

/* Reduce-scatter, add, and all-gather, send: the sums of this rank's part to all ranks. */
template <int N>
static __device__ __forceinline__ void add_up(const struct ar_device &d, const struct job &j)
{
    const unsigned part = ar_first(j.parts, d.me), length = ar_length(j.parts, d.me);
    uint4 *board = words_board<N>(d, d.me, j.call, AR_AREA_REDUCE, 0);

    for (unsigned i = j.first + threadIdx.x; i < j.end && i < length; i += blockDim.x) {
        const uint4 mine = ar_load(j.send, part + i, j.count);
        const uint4 sum = words_take_sum<N>(d, board + i, mine), words = words_to_send(sum);
#pragma unroll
        for (int k = 1; k < N; k++)
            words_put(words_board<N>(d, (d.me + k) % N, j.call, AR_AREA_GATHER, d.me) + i, words);
        ar_store(j.recv, part + i, j.count, sum);
    }
}

/* All-gather, receive: part r from rank r. */
template <int N>
static __device__ __forceinline__ void gather(const struct ar_device &d, const struct job &j)
{
    uint4 *board = words_board<N>(d, d.me, j.call, AR_AREA_GATHER, 0);

    for (unsigned i = j.first + threadIdx.x; i < j.end; i += blockDim.x) {
        uint4 v[N];
        bool there[N];
#pragma unroll
        for (int k = 1; k < N; k++)
            there[k] = i < ar_length(j.parts, (d.me + k) % N);
        words_take<N>(d, board + i, there, v);
#pragma unroll
        for (int k = 1; k < N; k++)
            if (there[k])
                ar_store(j.recv, ar_first(j.parts, (d.me + k) % N) + i, j.count, v[k]);
    }
}

/* `tile`: vectors of every part that a block handles at a time. Large messages are sent tile by
 * tile, so that a tile's words on the boards are still in the cache when they are read. */
template <int N>
static __global__ void __launch_bounds__(AR_TWO_SHOT_THREADS, 1)
    two_shot(struct ar_device d, const float *send, float *recv, size_t count, unsigned tile)
{
    AR_START_EARLY();
    struct job j = {send, recv, count, ar_cut(count, N), ar_call(d), 0, 0, 0};
    const unsigned longest = ar_length(j.parts, 0);

    j.plain = ar_plain(j.parts, count);
    for (j.first = blockIdx.x * tile; j.first < longest; j.first += gridDim.x * tile) {
        j.end = j.first + tile < longest ? j.first + tile : longest;
        scatter<N>(d, j);
        add_up<N>(d, j);
        gather<N>(d, j);
    }
    ar_count(d, j.call);
}

const void *ar_two_shot_kernel(int n)
{
    AR_KERNEL_OF(two_shot, n);
}
