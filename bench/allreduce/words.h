/* SPDX-License-Identifier: MIT
 * words.h: messages between GPUs in which every word is its own flag.
 *
 * A receiver's board is filled with AR_NOTHING. The sender stores data there, in vectors of four
 * words; the receiver polls a vector until none of its words is AR_NOTHING, takes it and writes
 * AR_NOTHING back. There is no fence, flag or barrier: this saves the half round trip for which a
 * fence would wait for the stores to arrive, and no word relies on the order of any other.
 * AR_NOTHING is a NaN that arithmetic never produces; a sender that has it in its data sends
 * another NaN.
 *
 * Why words may be sent without checking that the board is empty: calls use its two halves in turn.
 * A rank that sends in call k has ended call k - 1, so it has received words of call k - 1 from
 * every other rank; they sent those after they had ended call k - 2, in which they emptied this
 * half.
 */
#ifndef AR_WORDS_H
#define AR_WORDS_H

#include "device.h"

#define AR_NOTHING 0xffffffffu
#define AR_OTHER_NAN 0x7fffffffu

/* Relaxed stores of system scope, word by word. */
__device__ __forceinline__ void words_put(uint4 *to, uint4 v)
{
    asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(v.x), "r"(v.y),
                 "r"(v.z), "r"(v.w)
                 : "memory");
}

__device__ __forceinline__ uint4 words_get(const uint4 *from)
{
    uint4 v;
    asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(from)
                 : "memory");
    return v;
}

__device__ __forceinline__ bool words_here(uint4 v)
{
    return (v.x != AR_NOTHING) & (v.y != AR_NOTHING) & (v.z != AR_NOTHING) & (v.w != AR_NOTHING);
}

__device__ __forceinline__ unsigned word_to_send(unsigned word)
{
    return word == AR_NOTHING ? AR_OTHER_NAN : word;
}

__device__ __forceinline__ uint4 words_to_send(uint4 v)
{
    return make_uint4(word_to_send(v.x), word_to_send(v.y), word_to_send(v.z), word_to_send(v.w));
}

__device__ __forceinline__ uint4 words_nothing(void)
{
    return make_uint4(AR_NOTHING, AR_NOTHING, AR_NOTHING, AR_NOTHING);
}

/* The board of rank `me` for data from `source`, in the half of call `call`. Sets vector i to
 * data[i].
 */
template <int N>
__device__ __forceinline__ uint4 *words_board(const struct ar_device &d, int rank, unsigned call,
                                              int area, int source)
{
    size_t slot = ((size_t)((call & 1) * 2 + area) * N + source) * d.slot;
    return d.board[rank] + slot;
}

/* Waits for a vector of every other rank, and empties the board there: v[k] is from rank (me + k) %
 * N, 0 < k < N. `from`: this rank's board for source 0. Ranks whose part has no such vector are not
 * waited for: there[k] is false. All loads are issued before the first result is used, without
 * branches in between, each of which would cost more than half a microsecond. */
template <int N>
__device__ __forceinline__ void words_take(const struct ar_device &d, uint4 *from,
                                           const bool there[N], uint4 v[N])
{
    bool all;

    do {
#pragma unroll
        for (int k = 1; k < N; k++)
            v[k] = words_get(from + (d.me + k) % N * d.slot);
        all = true;
#pragma unroll
        for (int k = 1; k < N; k++)
            all &= !there[k] | words_here(v[k]);
    } while (!all);
#pragma unroll
    for (int k = 1; k < N; k++)
        if (there[k])
            from[(d.me + k) % N * d.slot] = words_nothing();
}

/* The same for all ranks; returns their sum with `mine`. */
template <int N>
__device__ __forceinline__ uint4 words_take_sum(const struct ar_device &d, uint4 *from, uint4 mine)
{
    uint4 v[N], in_order[N];
    bool there[N];

#pragma unroll
    for (int k = 0; k < N; k++)
        there[k] = true;
    words_take<N>(d, from, there, v);
    v[0] = mine;
#pragma unroll
    for (int r = 0; r < N; r++)
#pragma unroll
        for (int k = 0; k < N; k++)
            if ((d.me + k) % N == r)
                in_order[r] = v[k];
    return ar_sum<N>(in_order);
}

#endif
