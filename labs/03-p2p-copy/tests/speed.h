/* SPDX-License-Identifier: MIT
 * speed.h: the adapter that times ways from one GPU to another (part of runner.c), each by events
 * of the GPU that does the work, the best of `repeat` times.
 */
#ifndef LAB03_SPEED_H
#define LAB03_SPEED_H

#include <stdlib.h>

struct side { /* what lives on one GPU */
    int device;
    void *buffer;
    cudaStream_t stream;
    cudaEvent_t start, stop;
};

struct speed {
    const struct speed_in *in;
    struct side src, dst;
    struct stage stage;
    void *pinned, *pageable;
    enum path taken;
};

static int open_side(struct side *s, int device, size_t bytes)
{
    s->device = device;
    return p2p_result(cudaSetDevice(device)) || p2p_result(cudaMalloc(&s->buffer, bytes)) ||
           p2p_result(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking)) ||
           p2p_result(cudaEventCreate(&s->start)) || p2p_result(cudaEventCreate(&s->stop));
}

static void close_side(struct side *s)
{
    (void)cudaFree(s->buffer);
    (void)cudaStreamDestroy(s->stream);
    (void)cudaEventDestroy(s->start);
    (void)cudaEventDestroy(s->stop);
}

/* ---- the ways ---- */

static int go_down(struct speed *s)
{
    return p2p_result(cudaMemcpyAsync(s->pinned, s->src.buffer, s->in->bytes,
                                      cudaMemcpyDeviceToHost, s->src.stream));
}

static int go_up(struct speed *s)
{
    return p2p_result(cudaMemcpyAsync(s->dst.buffer, s->pinned, s->in->bytes,
                                      cudaMemcpyHostToDevice, s->dst.stream));
}

static int go_serially(struct speed *s)
{
    int rc = LAB_OK;
    for (int i = 0; i < s->in->rounds && !rc; i++)
        rc = copy_serially(s->dst.buffer, s->src.buffer, s->in->bytes, s->pinned);
    return rc;
}

static int go_serially_pageable(struct speed *s)
{
    return copy_serially(s->dst.buffer, s->src.buffer, s->in->bytes, s->pageable);
}

static int go_by_stage(struct speed *s)
{
    int rc = LAB_OK;
    for (int i = 0; i < s->in->rounds && !rc; i++)
        rc = stage_copy_async(&s->stage, s->dst.buffer, s->src.buffer, s->in->bytes, s->src.stream);
    return rc;
}

static int go_by_driver(struct speed *s)
{
    return p2p_result(cudaMemcpyPeerAsync(s->dst.buffer, s->dst.device, s->src.buffer,
                                          s->src.device, s->in->bytes, s->src.stream));
}

static int go_by_p2p(struct speed *s)
{
    return p2p_copy(&s->stage, s->dst.buffer, s->dst.device, s->src.buffer, s->src.device,
                    s->in->bytes, s->src.stream, &s->taken);
}

/* Milliseconds on the clock of `side`; -1 when something failed, *rc then says what. The copies of
 * copy_serially wait by themselves, so that `stream` null (its device's own) is right for them. */
static double timed(struct speed *s, enum way way, int (*go)(struct speed *), struct side *side,
                    cudaStream_t stream, int *rc)
{
    double best = -1;
    if (!(s->in->ways & way))
        return best;
    (void)cudaSetDevice(side->device);
    for (int i = 0; i < s->in->repeat && !*rc; i++) {
        float ms = 0;
        (void)cudaEventRecord(side->start, stream);
        if ((*rc = go(s)))
            break;
        (void)cudaEventRecord(side->stop, stream);
        (void)cudaEventSynchronize(side->stop);
        (void)cudaEventElapsedTime(&ms, side->start, side->stop);
        if (best < 0 || ms < best)
            best = ms;
    }
    return best;
}

LAB_RUN(speed)
{
    const struct speed_in *in = lab_input(io, sizeof *in);
    struct speed_out *out = lab_result(io, sizeof *out);
    struct speed s = {.in = in, .pageable = calloc(1, in->bytes)};
    int rc = open_side(&s.dst, in->dst_dev, in->bytes) ||
             open_side(&s.src, in->src_dev, in->bytes) ||
             p2p_result(cudaHostAlloc(&s.pinned, in->bytes, cudaHostAllocPortable)) ||
             stage_create(&s.stage, in->dst_dev, in->src_dev, in->chunk);
    out->driver = timed(&s, WAY_DRIVER, go_by_driver, &s.src, s.src.stream, &rc);
    out->down = timed(&s, WAY_HOPS, go_down, &s.src, s.src.stream, &rc);
    out->up = timed(&s, WAY_HOPS, go_up, &s.dst, s.dst.stream, &rc);
    out->serial = timed(&s, WAY_SERIAL, go_serially, &s.src, NULL, &rc);
    out->serial_pageable = timed(&s, WAY_PAGEABLE, go_serially_pageable, &s.src, NULL, &rc);
    out->stage = timed(&s, WAY_STAGE, go_by_stage, &s.src, s.src.stream, &rc);
    out->p2p = timed(&s, WAY_P2P, go_by_p2p, &s.src, s.src.stream, &rc);
    out->rc = rc;
    out->taken = (int)s.taken;
    (void)stage_destroy(&s.stage);
    (void)peer_off(in->src_dev, in->dst_dev);
    close_side(&s.src);
    close_side(&s.dst);
    (void)cudaFreeHost(s.pinned);
    free(s.pageable);
}

#endif
