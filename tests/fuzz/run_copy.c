/* SPDX-License-Identifier: MIT
 * run_copy.c: copies of every kind, memsets, and the host's own reads and writes.
 */
#include "fuzz.h"

#include <string.h>

enum { SYNC, ASYNC, PEER, PEER_ASYNC, TWO, TWO_ASYNC, DRIVER, DRIVER_ASYNC };
enum { PITCH = 64 };

static bool needs_stream(int way)
{
    return way == ASYNC || way == PEER_ASYNC || way == TWO_ASYNC || way == DRIVER_ASYNC;
}

static enum cudaMemcpyKind right_kind(const struct fuzz_buffer *dst, const struct fuzz_buffer *src)
{
    if (dst->kind == MEM_MANAGED || src->kind == MEM_MANAGED)
        return cudaMemcpyDefault;
    if (on_host(dst))
        return on_host(src) ? cudaMemcpyHostToHost : cudaMemcpyDeviceToHost;
    return on_host(src) ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice;
}

/* How far a copy reaches: two-dimensional ones have rows of 16 bytes, PITCH bytes apart. */
static long reach(int way, long bytes)
{
    if (way != TWO && way != TWO_ASYNC)
        return bytes;
    long rows = bytes / 16;
    return rows > 0 ? (rows - 1) * PITCH + 16 : 0;
}

static cudaError_t issue(const int *a, char *dst, const char *src, enum cudaMemcpyKind kind,
                         cudaStream_t s)
{
    const struct fuzz_buffer *to = &state.buffer[a[0]], *from = &state.buffer[a[2]];
    size_t bytes = (size_t)a[4];
    int to_device = a[8] ? a[8] - 1000 : to->device,
        from_device = a[9] ? a[9] - 1000 : from->device;
    switch (a[6]) {
    case SYNC:
        return cudaMemcpy(dst, src, bytes, kind);
    case ASYNC:
        return cudaMemcpyAsync(dst, src, bytes, kind, s);
    case PEER:
        return cudaMemcpyPeer(dst, to_device, src, from_device, bytes);
    case PEER_ASYNC:
        return cudaMemcpyPeerAsync(dst, to_device, src, from_device, bytes, s);
    case TWO:
        return cudaMemcpy2D(dst, PITCH, src, PITCH, 16, bytes / 16, kind);
    case TWO_ASYNC:
        return cudaMemcpy2DAsync(dst, PITCH, src, PITCH, 16, bytes / 16, kind, s);
    case DRIVER:
        return (cudaError_t)cuMemcpy((CUdeviceptr)dst, (CUdeviceptr)src, bytes);
    default:
        return (cudaError_t)cuMemcpyAsync((CUdeviceptr)dst, (CUdeviceptr)src, bytes, s);
    }
}

/* An address without memory, or with memory that the GPU that would copy must not touch. */
static bool half_mapped(const struct fuzz_buffer *b, int device, bool write)
{
    return b->kind == MEM_VMM && !reachable(b, device, write);
}

/* Undefined, or the end of this program: overlapping ranges, host memory beyond its end. */
static bool undefined(const int *a, const struct fuzz_buffer *dst, const struct fuzz_buffer *src,
                      int device)
{
    long length = reach(a[6], a[4]);
    bool host_end =
        (on_host(dst) && !fits(dst, a[1], length)) || (on_host(src) && !fits(src, a[3], length));
    if (dst != src && alias(dst, src))
        return true;
    /* The driver takes what is in no allocation for the host's memory, and crashes there. */
    bool driver_end = length > 0 && (a[6] == DRIVER || a[6] == DRIVER_ASYNC) &&
                      (!fits(dst, a[1], length) || !fits(src, a[3], length));
    /* Past the end of a pool's memory lies the pool's, some of it another allocation's. */
    bool pool_end = (dst->kind == MEM_POOL && !fits(dst, a[1], length)) ||
                    (src->kind == MEM_POOL && !fits(src, a[3], length));
    bool by_host = a[5] == cudaMemcpyHostToHost && !(on_host(dst) && on_host(src));
    return host_end || driver_end || pool_end || by_host ||
           (dst == src && a[1] < a[3] + length && a[3] < a[1] + length) ||
           half_mapped(dst, device, true) || half_mapped(src, device, false);
}

/* Calls that move nothing: they do not become part of a stream, so nothing is ordered by them. */
static bool moves(int way, long bytes)
{
    return reach(way, bytes) > 0;
}

/* Hardware may copy from pinned memory before a kernel has written it, where nothing but the
 * default stream's own order puts the kernel first (docs/conformance.md). */
static bool early(const struct fuzz_buffer *src, int lane)
{
    struct fuzz_clock told = clocks_told(lane);
    return on_host(src) && !clocks_ordered(&told, place_of(src), false);
}

static bool elsewhere(const struct fuzz_buffer *b)
{
    return b->kind != MEM_NONE && !on_host(b) && b->device != state.device;
}

void run_copy(const int *a)
{
    const struct fuzz_buffer *dst = &state.buffer[a[0]], *src = &state.buffer[a[2]];
    struct fuzz_stream *s = needs_stream(a[6]) ? stream_at(a[7]) : &state.stream[0];
    if (undefined(a, dst, src, device_of(s))) {
        say(" skip");
        return;
    }
    /* What a call without a stream has to do with another GPU's streams is not promised. */
    bool alone = !needs_stream(a[6]) && (elsewhere(dst) || elsewhere(src));
    if (alone || early(src, lane_of(s)))
        sync_all();
    struct fuzz_touch t = touch_begin(lane_of(s));
    touch_add(&t, dst, true);
    touch_add(&t, src, false);
    if (moves(a[6], a[4]))
        touch_check(&t);
    enum cudaMemcpyKind kind =
        a[5] < 0 ? right_kind(dst, src) : (enum cudaMemcpyKind)(a[5] == 5 ? 9 : a[5]);
    bool done = said(issue(a, dst->kind ? dst->ptr + a[1] : NULL,
                           src->kind ? src->ptr + a[3] : NULL, kind, s->handle));
    done = done && moves(a[6], a[4]);
    touch_done(&t, done);
    state.used |= 1u << device_of(s) | 1u << dst->device | 1u << src->device;
    if (alone)
        sync_all();
    else if (done && !needs_stream(a[6]) && on_host(dst) && dst->kind != MEM_MANAGED)
        clocks_waited(lane_of(s));
}

/* ---- memset ---- */

static cudaError_t issue_set(const int *a, char *dst, cudaStream_t s)
{
    size_t bytes = (size_t)a[2];
    switch (a[4]) {
    case 0:
        return cudaMemset(dst, a[3], bytes);
    case 1:
        return cudaMemsetAsync(dst, a[3], bytes, s);
    case 2:
        return cudaMemset2D(dst, PITCH, a[3], 16, bytes / 16);
    case 3:
        return cudaMemset2DAsync(dst, PITCH, a[3], 16, bytes / 16, s);
    case 4:
        return (cudaError_t)cuMemsetD8((CUdeviceptr)dst, (unsigned char)a[3], bytes);
    default:
        return (cudaError_t)cuMemsetD32Async((CUdeviceptr)dst, (unsigned)a[3], bytes / 4, s);
    }
}

void run_set(const int *a)
{
    const struct fuzz_buffer *dst = &state.buffer[a[0]];
    bool async = a[4] % 2 == 1;
    struct fuzz_stream *s = async ? stream_at(a[5]) : &state.stream[0];
    long length = reach(a[4] == 2 || a[4] == 3 ? TWO : SYNC, a[2]);
    if (((on_host(dst) || dst->kind == MEM_POOL) && !fits(dst, a[1], length)) ||
        half_mapped(dst, device_of(s), true)) {
        say(" skip");
        return;
    }
    bool alone = !async && elsewhere(dst);
    if (alone)
        sync_all();
    struct fuzz_touch t = touch_begin(lane_of(s));
    touch_add(&t, dst, true);
    if (length > 0)
        touch_check(&t);
    bool done = said(issue_set(a, dst->kind ? dst->ptr + a[1] : NULL, s->handle));
    touch_done(&t, done && length > 0);
    state.used |= 1u << device_of(s) | 1u << dst->device;
    if (alone)
        sync_all();
}

/* ---- the host's own accesses, and variables ---- */

void run_host(const int *a)
{
    struct fuzz_buffer *b = &state.buffer[a[0]];
    bool write = a[1] % 2 == 0, ok;
    if (b->kind == MEM_NONE || !on_host(b)) {
        say(" skip");
        return;
    }
    struct fuzz_touch t = touch_begin(LANE_HOST);
    touch_add(&t, b, write);
    touch_check(&t);
    size_t off = (size_t)a[3] % b->size, bytes = b->size - off < 64 ? b->size - off : 64;
    if (write)
        memset(b->ptr + off, a[6], bytes);
    else
        say(" %08x", buffer_hash(b, &ok));
    touch_done(&t, true);
}

void run_symbol(const int *a)
{
    static const int nothing[256];
    int words[64] = {0}, bytes = a[5] ? 4 * (a[3] % 300) : 4 * (a[3] % 60), off = 4 * (a[6] % 190);
    int kind = a[5] ? a[1] % 5 : 0;
    sync_all();
    if (bytes > (int)sizeof words && off + bytes <= 1024) {
        say(" skip");
        return;
    }
    for (int i = 0; i < 64; i++)
        words[i] = a[7] + i;
    fuzz_to_symbol(nothing, sizeof nothing, 0, cudaMemcpyHostToDevice); /* no other program's */
    said(fuzz_to_symbol(words, (size_t)bytes, (size_t)off, kind ? kind : cudaMemcpyHostToDevice));
    memset(words, 0, sizeof words);
    if (said(fuzz_from_symbol(words, (size_t)bytes, (size_t)off, cudaMemcpyDeviceToHost)))
        say(" %d %d", words[0], words[63]);
    sync_all();
}
