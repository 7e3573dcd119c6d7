/* SPDX-License-Identifier: MIT
 * moves.h: the adapters that copy (part of runner.c). Everything but the copies themselves is set
 * up before, so that what is judged is only what the student's function ordered.
 */
#ifndef LAB03_MOVES_H
#define LAB03_MOVES_H

struct moves {
    const struct moves_in *in;
    struct moves_out *out;
    cudaStream_t stream[2];
    struct stage stage;
    char *src[IO_ASKED], *dst[IO_ASKED];
    char *pattern, *other, *back; /* pinned: before, after, and what comes back */
    char *ahead, *ahead_to;       /* pinned, and of the sender */
    size_t pattern_bytes, back_bytes;
};

static int failed(cudaError_t error)
{
    return error != cudaSuccess;
}

static void add_up(struct moves *m)
{
    for (int i = 0; i < m->in->asked; i++) {
        m->pattern_bytes += m->in->size[i];
        m->back_bytes += m->in->size[i] + 2 * IO_GUARD;
    }
}

/* 16 MiB in all: at 60 GB/s more than 250 us. Calls that only queue work take a few us each. */
#define AHEAD_BYTES ((size_t)1 << 20)
#define AHEAD_TIMES 16

/* A buffer with guards, filled with `value`, on the current device. */
static int guarded(char **buffer, size_t bytes, int value)
{
    return failed(cudaMalloc((void **)buffer, bytes + 2 * IO_GUARD)) ||
           failed(cudaMemset(*buffer, value, bytes + 2 * IO_GUARD));
}

static int open_moves(struct moves *m, const char *blob)
{
    const struct moves_in *in = m->in;
    int bad = 0;
    add_up(m);
    bad |= failed(cudaSetDevice(in->dst_dev));
    for (int i = 0; i < in->asked; i++)
        bad |= guarded(&m->dst[i], in->size[i], IO_RIM);
    bad |= failed(cudaDeviceSynchronize()) | failed(cudaSetDevice(in->src_dev));
    for (int i = 0; i < in->asked; i++)
        bad |= guarded(&m->src[i], in->size[i], IO_STALE);
    for (int i = 0; i < 2; i++)
        bad |= failed(cudaStreamCreateWithFlags(&m->stream[i], cudaStreamNonBlocking));
    bad |= failed(cudaHostAlloc((void **)&m->pattern, m->pattern_bytes + 1, 0)) |
           failed(cudaHostAlloc((void **)&m->other, m->pattern_bytes + 1, 0)) |
           failed(cudaHostAlloc((void **)&m->back, m->back_bytes + 1, 0));
    if (in->ahead)
        bad |= failed(cudaHostAlloc((void **)&m->ahead, AHEAD_BYTES, 0)) |
               failed(cudaMalloc((void **)&m->ahead_to, AHEAD_BYTES));
    bad |= failed(cudaDeviceSynchronize());
    for (size_t i = 0; i < m->pattern_bytes && !bad; i++) {
        m->pattern[i] = blob[i];
        m->other[i] = (char)~blob[i];
    }
    return bad;
}

static int move_once(struct moves *m, int i, cudaStream_t stream)
{
    const struct moves_in *in = m->in;
    void *dst = m->dst[i] + IO_GUARD, *src = m->src[i] + IO_GUARD;
    enum path taken;
    int rc;
    switch (in->move) {
    case MOVE_PEER:
        return copy_peer_async(dst, in->dst_dev, src, in->src_dev, in->size[i], stream);
    case MOVE_STAGE:
        return stage_copy_async(&m->stage, dst, src, in->size[i], stream);
    default:
        memset(&taken, IO_FILL, sizeof taken);
        rc = p2p_copy(in->no_stage ? NULL : &m->stage, dst, in->dst_dev, src, in->src_dev,
                      in->size[i], stream, &taken);
        memcpy(&m->out->taken[i], &taken, sizeof m->out->taken[i]);
        return rc;
    }
}

/* The caller's stream of copy i. A null one is the current device's: then the sender is. */
static cudaStream_t stream_of(const struct moves *m, int i)
{
    if (m->in->null_stream)
        (void)cudaSetDevice(m->in->src_dev);
    return m->in->null_stream ? NULL : m->stream[i % m->in->streams];
}

/* Everything is queued before anything is waited for. */
static void queue_moves(struct moves *m)
{
    const struct moves_in *in = m->in;
    size_t at = 0, off = 0;
    (void)cudaSetDevice(in->current);
    for (int i = 0; i < AHEAD_TIMES && in->ahead; i++)
        (void)cudaMemcpyAsync(m->ahead_to, m->ahead, AHEAD_BYTES, cudaMemcpyHostToDevice,
                              stream_of(m, in->asked - 1));
    (void)cudaSetDevice(in->current);
    for (int i = 0; i < in->asked; i++) {
        cudaStream_t stream = stream_of(m, i);
        (void)cudaMemcpyAsync(m->src[i] + IO_GUARD, m->pattern + at, in->size[i],
                              cudaMemcpyHostToDevice, stream);
        (void)cudaSetDevice(in->current);
        m->out->rc[i] = move_once(m, i, stream);
        at += in->size[i];
    }
    m->out->current = current_gpu();
    m->out->busy = cudaStreamQuery(stream_of(m, in->asked - 1)) == cudaErrorNotReady;
    (void)cudaGetLastError();
    at = 0;
    for (int i = 0; i < in->asked; i++) {
        cudaStream_t stream = stream_of(m, i);
        (void)cudaMemcpyAsync(m->src[i] + IO_GUARD, m->other + at, in->size[i],
                              cudaMemcpyHostToDevice, stream);
        (void)cudaMemcpyAsync(m->back + off, m->dst[i], in->size[i] + 2 * IO_GUARD,
                              cudaMemcpyDeviceToHost, stream);
        at += in->size[i];
        off += in->size[i] + 2 * IO_GUARD;
    }
    (void)cudaStreamSynchronize(stream_of(m, 0));
    (void)cudaStreamSynchronize(m->stream[1]);
    m->out->last = last_error();
}

static void close_moves(struct moves *m)
{
    for (int i = 0; i < m->in->asked; i++) {
        (void)cudaFree(m->src[i]);
        (void)cudaFree(m->dst[i]);
    }
    for (int i = 0; i < 2; i++)
        (void)cudaStreamDestroy(m->stream[i]);
    (void)cudaFreeHost(m->pattern);
    (void)cudaFreeHost(m->other);
    (void)cudaFreeHost(m->back);
    (void)cudaFreeHost(m->ahead);
    (void)cudaFree(m->ahead_to);
}

LAB_RUN(moves)
{
    const struct moves_in *in = lab_input(io, sizeof *in);
    struct moves_out *out = lab_result(io, sizeof *out);
    struct moves m = {.in = in, .out = out};
    int staged = in->move != MOVE_PEER && !in->no_stage;
    out->setup = open_moves(&m, (const char *)(in + 1));
    if (staged && !out->setup)
        out->setup = stage_create(&m.stage, in->dst_dev, in->src_dev, in->chunk);
    if (!out->setup) {
        queue_moves(&m);
        memcpy((char *)lab_result(io, sizeof *out + m.back_bytes) + sizeof *out, m.back,
               m.back_bytes);
    }
    if (staged)
        (void)stage_destroy(&m.stage);
    if (in->move == MOVE_P2P)
        (void)peer_off(in->src_dev, in->dst_dev);
    close_moves(&m);
}

/* ---- what must be refused ---- */

struct refusals {
    const struct refuse_in *in;
    struct refuse_out *out;
    char *dst, *src;
    struct stage there, back, none; /* from src to dst, from dst to src, and nothing */
    cudaStream_t stream;
};

#define REFUSE_BYTES 4096

static int attempt(struct refusals *r, enum refusal which)
{
    char host[16] = {0};
    int d = which == REFUSE_SWAPPED ? r->in->src_dev : which == REFUSE_NO_DST ? 99 : r->in->dst_dev;
    int s = which == REFUSE_SWAPPED ? r->in->dst_dev : which == REFUSE_NO_SRC ? -1 : r->in->src_dev;
    void *dst = which == REFUSE_NULL_DST ? NULL : which == REFUSE_HOST_DST ? host : r->dst;
    void *src = which == REFUSE_NULL_SRC ? NULL : which == REFUSE_HOST_SRC ? host : r->src;
    struct stage *stage = which == REFUSE_SWAPPED  ? &r->back
                          : which == REFUSE_NO_DST ? NULL
                          : which == REFUSE_NO_SRC ? &r->none
                                                   : &r->there;
    enum path *taken = which == REFUSE_NO_TAKEN ? NULL : (enum path *)&r->out->taken[which];
    size_t bytes = dst == host || src == host ? sizeof host : r->in->bytes;
    if (which == REFUSE_NO_TAKEN && r->in->move != MOVE_P2P)
        return LAB_OK; /* nothing to refuse */
    lab_doing("%s %s",
              r->in->move == MOVE_PEER    ? "copy_peer_async"
              : r->in->move == MOVE_STAGE ? "stage_copy_async"
                                          : "p2p_copy",
              which == REFUSE_NO_TAKEN ? "with taken = NULL" : "with what it must refuse");
    if (r->in->move == MOVE_PEER)
        return copy_peer_async(dst, d, src, s, bytes, r->stream);
    if (r->in->move == MOVE_STAGE)
        return stage_copy_async(stage, dst, src, bytes, r->stream);
    return p2p_copy(&r->there, dst, d, src, s, bytes, r->stream, taken);
}

LAB_RUN(refuse)
{
    const struct refuse_in *in = lab_input(io, sizeof *in);
    struct refusals r = {.in = in, .out = lab_result(io, sizeof *r.out)};
    unsigned char back[REFUSE_BYTES] = {0};
    (void)cudaSetDevice(in->dst_dev);
    (void)cudaMalloc((void **)&r.dst, REFUSE_BYTES);
    (void)cudaMemset(r.dst, IO_RIM, REFUSE_BYTES);
    (void)cudaDeviceSynchronize();
    (void)cudaSetDevice(in->src_dev);
    (void)cudaMalloc((void **)&r.src, REFUSE_BYTES);
    (void)cudaStreamCreateWithFlags(&r.stream, cudaStreamNonBlocking);
    (void)stage_create(&r.there, in->dst_dev, in->src_dev, REFUSE_BYTES);
    (void)stage_create(&r.back, in->src_dev, in->dst_dev, REFUSE_BYTES);
    (void)last_error();
    memset(r.out->taken, IO_FILL, sizeof r.out->taken);
    r.out->changed = 0;
    for (int i = 0; i < REFUSALS; i++) {
        r.out->rc[i] = attempt(&r, (enum refusal)i);
        r.out->last[i] = last_error();
    }
    r.out->current = current_gpu();
    (void)cudaStreamSynchronize(r.stream);
    (void)cudaMemcpy(back, r.dst, REFUSE_BYTES, cudaMemcpyDeviceToHost);
    for (int i = 0; i < REFUSE_BYTES; i++)
        r.out->changed += back[i] != IO_RIM;
    (void)stage_destroy(&r.there);
    (void)stage_destroy(&r.back);
    (void)peer_off(in->src_dev, in->dst_dev);
    (void)cudaStreamDestroy(r.stream);
    (void)cudaFree(r.dst);
    (void)cudaFree(r.src);
}

#endif
