/* SPDX-License-Identifier: MIT
 * timed.h: the adapter of the timed task: sealed numbers are loaded to all ranks, all-reduced, and
 * stored from there. Its time is the node's: timed.c.
 */
#ifndef LAB07_TIMED_H
#define LAB07_TIMED_H

#include "adapters.h"
#include "collectives.h"

/* Each rank's numbers from sealed memory to its buffer, or the results back. */
static void copy_timed(struct ring *ring, void *const *buf, size_t bytes, int load)
{
    const char *from = lab_sealed_input();
    char *to = lab_sealed_result();
    for (int r = 0; r < ring->n; r++) {
        cudaStream_t stream = ring->rank[r].stream;
        if (load)
            cudaMemcpyAsync(buf[r], from + (size_t)r * bytes, bytes, cudaMemcpyDefault, stream);
        else
            cudaMemcpyAsync(to + (size_t)r * bytes, buf[r], bytes, cudaMemcpyDefault, stream);
    }
    ring_wait(ring);
}

static void capture_timed(struct ring *ring, void *const *buf, const struct timed_in *in,
                          struct timed_out *out, cudaGraphExec_t *graph)
{
    const size_t count = (size_t)in->count;
    out->captured = ring_capture_begin(ring);
    out->rc = in->naive ? coll_naive_all_reduce(ring, buf, count, RING_INT32, RING_SUM, ring_reduce)
                        : ring_pipelined(ring, buf, buf, count, RING_INT32, RING_SUM, TIMED_SLICES);
    int ended = ring_capture_end(ring, graph);
    out->captured = out->captured == LAB_OK ? ended : out->captured;
}

static void run_timed(struct ring *ring, void *const *buf, const struct timed_in *in,
                      struct timed_out *out)
{
    const size_t bytes = (size_t)in->count * sizeof(int32_t);
    cudaGraphExec_t graph = NULL;
    capture_timed(ring, buf, in, out, &graph);
    for (int round = 0; round < lab_timed_rounds(); round++) {
        copy_timed(ring, buf, bytes, 1);
        double began = lab_seconds();
        if (out->captured == LAB_OK)
            out->captured = ring_result(cudaGraphLaunch(graph, ring->rank[0].stream));
        out->ended = ring_wait(ring);
        out->seconds = lab_seconds() - began;
    }
    copy_timed(ring, buf, bytes, 0);
    if (graph)
        cudaGraphExecDestroy(graph);
}

LAB_RUN(timed)
{
    const struct timed_in *in = lab_input(io, sizeof *in);
    struct timed_out *out = lab_result(io, sizeof *out);
    const size_t bytes = (size_t)in->count * sizeof(int32_t);
    void *buf[RING_RANKS] = {NULL};
    int gpu[RING_RANKS];
    struct ring ring;

    memset(out, 0, sizeof *out);
    for (int r = 0; r < in->n; r++) {
        gpu[r] = r;
        cudaSetDevice(r);
        cudaMalloc(&buf[r], bytes);
    }
    out->opened = ring_open_sliced(&ring, gpu, in->n, bytes, TIMED_SLICES);
    if (out->opened == LAB_OK)
        run_timed(&ring, buf, in, out);
    ring_close(&ring);
    for (int r = 0; r < in->n; r++) {
        cudaSetDevice(r);
        cudaFree(buf[r]);
    }
    cudaGetLastError();
}

#endif
