/* SPDX-License-Identifier: MIT
 * far.h: the adapter of calls with more than 2^31 elements or bytes (part of runner.c). Their
 * memory is one piece mapped many times, and kernels find none behind the first 2^31 elements of
 * what they write: a fault ends a kernel as soon as a thread of its first block is through with its
 * part of them.
 */
#ifndef LAB07_FAR_H
#define LAB07_FAR_H

#include "aliased.h"

#define FAR_PIECE ((size_t)2 << 20)

/* `bytes` on GPU 0, all zero, and behind them no memory. */
static char *far_memory(size_t bytes)
{
    size_t pieces = (bytes + FAR_PIECE - 1) / FAR_PIECE - 1;
    char *at = lab_aliased(0, FAR_PIECE, pieces, FAR_PIECE);
    if (at) {
        cudaMemset(at, 0, FAR_PIECE);
        cudaMemset(at + pieces * FAR_PIECE, 0, FAR_PIECE);
        cudaDeviceSynchronize();
    }
    return at;
}

static void far_reduce(struct far_out *out)
{
    char *dst = far_memory(FAR_THERE * 4), *src = far_memory(FAR_THERE * 4);
    if (!dst || !src)
        return;
    out->rc = ring_reduce(dst, src, FAR_COUNT, RING_INT32, RING_SUM, NULL);
    out->ended = (int32_t)cudaDeviceSynchronize();
    out->asked = 1;
}

/* One rank, so that its kernel reads one inbox. */
static void far_one_shot(struct far_out *out)
{
    static const int gpu[] = {0};
    char *send = far_memory(FAR_COUNT * 2), *recv = far_memory(FAR_THERE * 2);
    char *inbox = far_memory(FAR_COUNT * 2);
    struct ring ring;
    if (!send || !recv || !inbox || ring_open(&ring, gpu, 1, 256) != LAB_OK)
        return;
    ring.inbox_bytes = FAR_COUNT;
    ring.rank[0].inbox[0] = inbox;
    ring.rank[0].inbox[1] = inbox + FAR_COUNT;
    void *const in[] = {send}, *const to[] = {recv};
    out->rc = ring_one_shot(&ring, in, to, FAR_COUNT, RING_FLOAT16, RING_SUM);
    out->ended = ring_wait(&ring);
    out->asked = 1;
}

/* Slices of 2 GiB, of which the second lies behind the first in an inbox. Nothing waits: that all
 * can be queued is what is asked. */
static void far_slices(struct far_out *out)
{
    static const int gpu[] = {0, 1};
    void *buf[2] = {NULL, NULL};
    struct ring ring;
    if ((out->opened = ring_open_sliced(&ring, gpu, 2, FAR_THERE * 4, 2)) != LAB_OK)
        return;
    for (int r = 0; r < 2; r++) {
        cudaSetDevice(r);
        if ((out->error = (int32_t)cudaMalloc(&buf[r], FAR_THERE * 4)) != cudaSuccess)
            return;
    }
    cudaSetDevice(0);
    out->rc = ring_pipelined(&ring, buf, buf, FAR_THERE, RING_INT32, RING_SUM, 2);
    out->asked = 1;
}

LAB_RUN(far)
{
    const struct far_in *in = lab_input(io, sizeof *in);
    struct far_out *out = lab_result(io, sizeof *out);
    memset(out, 0, sizeof *out);
    if (in->what == FAR_REDUCE)
        far_reduce(out);
    else if (in->what == FAR_ONE_SHOT)
        far_one_shot(out);
    else
        far_slices(out);
}

#endif
