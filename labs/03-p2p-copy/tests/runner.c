/* SPDX-License-Identifier: MIT
 * runner.c: lab 03's adapters: a question from the verifier, the student's functions, the answer.
 * Copies and what is timed about them are in moves.h and speed.h.
 */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runner.h"

#include "io.h"

static int current_gpu(void)
{
    int device = IO_UNSET;
    return cudaGetDevice(&device) == cudaSuccess ? device : IO_UNSET;
}

static int last_error(void)
{
    cudaError_t error = cudaPeekAtLastError();
    (void)cudaGetLastError(); /* what one call left must not be blamed on the next */
    /* Where CUDA cannot start at all (no driver, no device, a device list that makes no sense),
     * every call says so for ever, these two as well: nobody can take that away. */
    return cudaPeekAtLastError() == error ? 0 : (int)error;
}

#include "moves.h"

#include "lone.h"

#include "huge.h"
#include "speed.h"
#include "timed.h"

LAB_RUN(path)
{
    const struct path_in *in = lab_input(io, sizeof *in);
    struct path_out *out = lab_result(io, sizeof *out);
    for (int i = 0; i < in->asked; i++) {
        enum path path;
        memset(&path, IO_FILL, sizeof path);
        lab_doing("copy_path(%d, %d, %s)", in->dst[i], in->src[i], in->null ? "NULL" : "&path");
        out->rc[i] = copy_path(in->dst[i], in->src[i], in->null ? NULL : &path);
        memcpy(&out->path[i], &path, sizeof out->path[i]);
        out->last[i] = last_error();
    }
}

/* ---- stages ---- */

static int flags_of(cudaStream_t stream)
{
    unsigned flags = 0;
    return stream && cudaStreamGetFlags(stream, &flags) == cudaSuccess ? (int)flags : IO_UNSET;
}

static int is_pinned(const void *host)
{
    struct cudaPointerAttributes at;
    return host && cudaPointerGetAttributes(&at, host) == cudaSuccess &&
           at.type == cudaMemoryTypeHost;
}

/* An event can only be recorded in a stream of its own device: 0 says that they fit. */
static int fits(cudaEvent_t event, cudaStream_t stream)
{
    return event && stream ? (int)cudaEventRecord(event, stream) : IO_UNSET;
}

/* The time between an event and itself is 0, or there is none. */
static int is_timed(cudaEvent_t event)
{
    float ms;
    return event && cudaEventElapsedTime(&ms, event, event) == cudaSuccess;
}

static void examine_stage(const struct stage *s, struct stage_out *out)
{
    const int device[2] = {s->src_dev, s->dst_dev};
    const cudaStream_t stream[2] = {s->down, s->up};
    for (int side = 0; side < 2; side++) {
        cudaStream_t probe = NULL;
        cudaEvent_t event = NULL;
        (void)cudaSetDevice(device[side]);
        (void)cudaStreamCreateWithFlags(&probe, cudaStreamNonBlocking);
        (void)cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
        out->of_its_gpu[OF_DOWN + side] = fits(event, stream[side]);
        if (side == 0)
            out->of_its_gpu[OF_BEGIN] = fits(s->begin, probe);
        for (int i = 0; i < 2; i++)
            out->of_its_gpu[(side ? OF_DRAINED : OF_FILLED) + i] =
                fits(side ? s->drained[i] : s->filled[i], probe);
        out->non_blocking[side] = flags_of(stream[side]) == cudaStreamNonBlocking;
        out->pinned[side] = is_pinned(s->host[side]);
        (void)cudaStreamSynchronize(probe);
        (void)cudaEventDestroy(event);
        (void)cudaStreamDestroy(probe);
    }
}

static int all_bytes(const void *what, size_t bytes, int value)
{
    const unsigned char *byte = what;
    while (bytes > 0 && *byte == value)
        byte++, bytes--;
    return bytes == 0;
}

static volatile int gate_is_open;

static void wait_at_gate(void *unused)
{
    (void)unused;
    for (int ms = 0; ms < 5000 && !gate_is_open; ms++)
        usleep(1000);
}

static void keep_busy(int device)
{
    gate_is_open = 0;
    (void)cudaSetDevice(device);
    (void)cudaLaunchHostFunc(NULL, wait_at_gate, NULL);
}

/* Whether an event of the receiver's waits for more than the stage's own stream. */
static int waits_for_others(const struct stage *s)
{
    int waits = 0;
    (void)cudaStreamSynchronize(s->up);
    for (int i = 0; i < 2; i++)
        waits |= cudaEventQuery(s->drained[i]) == cudaErrorNotReady;
    gate_is_open = 1;
    (void)cudaSetDevice(s->dst_dev);
    (void)cudaDeviceSynchronize();
    return waits;
}

static void one_stage(const struct stage_in *in, struct stage_out *out)
{
    struct stage stage;
    memset(&stage, IO_FILL, sizeof stage);
    if (in->busy)
        keep_busy(in->dst_dev);
    if (in->current >= 0)
        (void)cudaSetDevice(in->current);
    lab_doing("stage_create(%s, %d, %d, %zu)", in->null ? "NULL" : "&stage", in->dst_dev,
              in->src_dev, (size_t)in->chunk);
    out->create = stage_create(in->null ? NULL : &stage, in->dst_dev, in->src_dev, in->chunk);
    out->last = last_error();
    out->current = current_gpu();
    out->untouched = all_bytes(&stage, sizeof stage, IO_FILL);
    gate_is_open |= out->create != LAB_OK;
    if (out->create != LAB_OK)
        return;
    out->waits = in->busy && waits_for_others(&stage);
    out->numbers = stage.dst_dev == in->dst_dev && stage.src_dev == in->src_dev &&
                   stage.chunk_bytes == in->chunk;
    out->complete = stage.down && stage.up && stage.begin && stage.filled[0] && stage.filled[1] &&
                    stage.drained[0] && stage.drained[1] && stage.host[0] && stage.host[1];
    examine_stage(&stage, out);
    out->apart = stage.host[0] != stage.host[1];
    out->timed = is_timed(stage.begin) || is_timed(stage.filled[0]) || is_timed(stage.filled[1]) ||
                 is_timed(stage.drained[0]) || is_timed(stage.drained[1]);
    (void)last_error();
    if (in->current >= 0)
        (void)cudaSetDevice(in->current);
    lab_doing("stage_destroy(&stage)");
    out->destroy = stage_destroy(&stage);
    out->destroy_current = current_gpu();
    out->destroy_last = last_error();
    out->cleared = all_bytes(&stage, sizeof stage, 0);
    lab_doing("stage_destroy(&stage), which is all zero,");
    out->again = stage_destroy(&stage);
}

LAB_RUN(stage)
{
    const struct stage_in *in = lab_input(io, sizeof *in);
    struct stage_out *out = lab_result(io, sizeof *out);
    for (int i = 0; i < in->times; i++)
        one_stage(in, out);
    if (!in->null)
        return;
    lab_doing("stage_destroy(NULL)");
    out->destroy = stage_destroy(NULL);
}

/* ---- measuring ---- */

LAB_RUN(measure)
{
    const struct measure_in *in = lab_input(io, sizeof *in);
    struct measure_out *out = lab_result(io, sizeof *out);
    memset(out->bw, IO_FILL, sizeof out->bw);
    if (in->peer_before)
        (void)peer_on(in->from[0], in->to[0], NULL);
    if (in->current >= 0)
        (void)cudaSetDevice(in->current);
    for (int i = 0; i < in->asked; i++) {
        lab_doing("p2p_measure(%d, %d, %zu, %d, %s)", in->from[i], in->to[i], (size_t)in->bytes[i],
                  (int)in->both[i], in->null ? "NULL" : "&result");
        out->rc[i] = p2p_measure(in->from[i], in->to[i], in->bytes[i], in->both[i],
                                 in->null ? NULL : &out->bw[i]);
        out->last[i] = last_error();
        out->current[i] = current_gpu();
    }
    out->peer_after = in->peer_before && peer_off(in->from[0], in->to[0]) == LAB_OK;
}

/* Bytes that malloc has given out; 0 where the C library does not say. */
static uint64_t allocated(void)
{
#if defined __GLIBC_PREREQ && __GLIBC_PREREQ(2, 33)
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
#else
    return 0;
#endif
}

static void measure_pairs(const struct matrix_in *in, struct matrix_out *out)
{
    for (int i = 0; i < in->n * in->n && i < IO_PAIRS; i++) {
        struct bw bw = {.gbs = IO_UNSET};
        (void)p2p_measure(i / in->n, i % in->n, in->bytes, 0, &bw);
        out->single[i] = bw.gbs;
    }
}

LAB_RUN(matrix)
{
    const struct matrix_in *in = lab_input(io, sizeof *in);
    struct matrix_out *out = lab_result(io, sizeof *out);
    for (int i = 0; i <= IO_PAIRS; i++)
        out->gbs[i] = IO_UNSET;
    if (in->singles_first)
        measure_pairs(in, out);
    uint64_t before = allocated();
    lab_doing("p2p_matrix(%d, %zu, %s)", in->n, (size_t)in->bytes, in->null ? "NULL" : "gbs");
    lab_fail_malloc(in->no_memory);
    out->rc = p2p_matrix(in->n, in->bytes, in->null ? NULL : out->gbs);
    uint64_t after = allocated();
    out->refused = lab_malloc_failed();
    out->last = last_error();
    out->current = current_gpu();
    if (in->singles_first) {
        out->left_bytes = after - before;
        return;
    }
    before = allocated();
    for (int i = 0; i < in->again; i++)
        (void)p2p_matrix(in->n, in->bytes, out->gbs);
    out->left_bytes = allocated() - before;
    if (out->rc == LAB_OK)
        measure_pairs(in, out);
}

LAB_RUN(half)
{
    const struct half_in *in = lab_input(io, sizeof *in);
    struct half_out *out = lab_result(io, sizeof *out);
    size_t half = (size_t)IO_UNSET;
    struct bw around[IO_ASKED + 2]; /* the curve between two points that make no sense */
    around[0] = around[in->points + 1] = (struct bw){SIZE_MAX, 1e-9, 0, PATH_PEER};
    memcpy(around + 1, in->curve, (size_t)in->points * sizeof *around);
    lab_doing("p2p_half(%s, %d, %s)", in->null == 1 ? "NULL" : "curve", in->points,
              in->null == 2 ? "NULL" : "&half");
    out->rc = p2p_half(in->null == 1 ? NULL : around + 1, in->points, in->null == 2 ? NULL : &half);
    out->half = half;
}

LAB_RUNS = {
    LAB_ENTRY(path),   LAB_ENTRY(moves), LAB_ENTRY(refuse), LAB_ENTRY(lone),
    LAB_ENTRY(huge),   LAB_ENTRY(stage), LAB_ENTRY(speed),  LAB_ENTRY(measure),
    LAB_ENTRY(matrix), LAB_ENTRY(half),  LAB_ENTRY(timed),  LAB_ENTRY(queued),
    LAB_END,
};
