/* SPDX-License-Identifier: MIT
 * one_shot.cu: every rank sends all its data to every other rank, and adds up what it receives.
 *
 * One hop, and (n - 1) * bytes out of every GPU: for messages so small that another hop costs more.
 */
#include "kernels.h"
#include "words.h"

/* `tile`: vectors per block. */
template <int N>
static __global__ void __launch_bounds__(512)
    one_shot(struct ar_device d, const float *send, float *recv, size_t count, unsigned tile)
{
    AR_START_EARLY();
    const unsigned call = ar_call(d);
    const unsigned vectors = (unsigned)((count + 3) / 4), first = blockIdx.x * tile;
    const unsigned end = first + tile < vectors ? first + tile : vectors;

    for (unsigned i = first + threadIdx.x; i < end; i += blockDim.x) {
        uint4 v = words_to_send(ar_load(send, i, count));
#pragma unroll
        for (int k = 1; k < N; k++)
            words_put(words_board<N>(d, (d.me + k) % N, call, AR_AREA_REDUCE, d.me) + i, v);
    }
    uint4 *board = words_board<N>(d, d.me, call, AR_AREA_REDUCE, 0);
    for (unsigned i = first + threadIdx.x; i < end; i += blockDim.x) {
        const uint4 mine = ar_load(send, i, count);
        ar_store(recv, i, count, words_take_sum<N>(d, board + i, mine));
    }
    ar_count(d, call);
}

const void *ar_one_shot_kernel(int n)
{
    AR_KERNEL_OF(one_shot, n);
}
