/* SPDX-License-Identifier: MIT
 * run_work.c: kernels, streams, events, and what ends a program.
 */
#include "fuzz.h"

#include <string.h>

/* ---- kernels ---- */

static bool aligned(const struct fuzz_buffer *b, int off)
{
    return ((uintptr_t)b->ptr + (unsigned)off) % 4 == 0;
}

static bool kernel_defined(const int *a, const struct fuzz_buffer *dst,
                           const struct fuzz_buffer *src, int device)
{
    bool sourced = a[0] == KERNEL_ADD || a[0] == KERNEL_GATHER;
    if (!fits(dst, a[2], 4 * a[5]) || !reachable(dst, device, true) || !aligned(dst, a[2]) ||
        a[5] < 3)
        return false;
    if (!sourced)
        return true;
    return !alias(dst, src) && fits(src, a[4], 4 * a[5]) && reachable(src, device, false);
}

void run_kernel(const int *a)
{
    static const int grids[] = {2, 0, 1, 1, 70000, 1}, blocks[] = {96, 32, 0, 2048, 0, 64},
                     shares[] = {0, 0, 0, 0, 0, 1 << 20};
    const struct fuzz_buffer *dst = &state.buffer[a[1]], *src = &state.buffer[a[3]];
    struct fuzz_stream *s = stream_at(a[6]);
    if (!kernel_defined(a, dst, src, device_of(s))) {
        say(" skip");
        return;
    }
    struct fuzz_touch t = touch_begin(lane_of(s));
    touch_add(&t, dst, true);
    if (a[0] == KERNEL_ADD || a[0] == KERNEL_GATHER)
        touch_add(&t, src, false);
    touch_check(&t);
    int block = blocks[a[7]] ? blocks[a[7]] : a[7] == 0 ? 96 : 0;
    cudaError_t e = fuzz_launch(a[0], grids[a[7]], block, shares[a[7]], (int *)(dst->ptr + a[2]),
                                (const int *)(src->ptr + a[4]), a[5], a[8], s->handle);
    touch_done(&t, said(e));
    state.used |= 1u << device_of(s);
}

/* ---- streams ---- */

static void stream_create(const int *a)
{
    struct fuzz_stream *s = &state.stream[a[0]];
    int lane;
    if (a[0] < 2 || s->live || (lane = clocks_lane(state.device, a[2] != 1)) < 0) {
        say(" skip");
        return;
    }
    cudaStream_t handle = NULL;
    if (!said(cudaStreamCreateWithPriority(&handle, (unsigned)a[2], a[3])))
        return;
    *s = (struct fuzz_stream){.handle = handle, .lane = lane, .device = state.device, .live = true};
}

static void stream_destroy(const int *a)
{
    struct fuzz_stream *s = &state.stream[a[0]];
    if (a[0] < 2 || !s->live) {
        say(" skip");
        return;
    }
    if (said(cudaStreamDestroy(s->handle)))
        *s = (struct fuzz_stream){.device = -1};
}

/* What is not ready now is not said: that is a matter of time. */
static void said_query(cudaError_t e)
{
    if (e == cudaSuccess || e == cudaErrorNotReady)
        say(" -> any");
    else
        said(e);
    if (e == cudaErrorNotReady)
        cudaGetLastError();
}

static void stream_ask(const struct fuzz_stream *s, int what)
{
    unsigned flags = 77;
    int value = -7;
    if (what == 4) {
        said(cudaStreamGetFlags(s->handle, &flags));
        say(" %u", flags);
    } else if (what == 5) {
        said(cudaStreamGetDevice(s->handle, &value));
        say(" %d", value);
    } else {
        said(cudaStreamGetPriority(s->handle, &value));
        say(" %d", value);
    }
}

void run_stream(const int *a)
{
    struct fuzz_stream *s = stream_at(a[0]);
    struct fuzz_clock ready;
    switch (a[1]) {
    case 0:
        stream_create(a);
        break;
    case 1:
        stream_destroy(a);
        break;
    case 2:
        ready = clocks_of(lane_of(s));
        if (said(cudaStreamSynchronize(s->handle)))
            clocks_host_joins(&ready);
        break;
    case 3:
        say(" last %d", cudaGetLastError());
        said_query(cudaStreamQuery(s->handle));
        break;
    default:
        stream_ask(s, a[1]);
    }
}

/* ---- events ---- */

static void event_create(const int *a)
{
    struct fuzz_event *e = &state.event[a[0]];
    if (e->live) {
        say(" skip");
        return;
    }
    if (said(cudaEventCreateWithFlags(&e->handle, (unsigned)a[3])))
        *e = (struct fuzz_event){.handle = e->handle,
                                 .live = true,
                                 .device = state.device,
                                 .shared = a[3] & cudaEventInterprocess};
    else
        e->handle = NULL;
}

static void event_destroy(struct fuzz_event *e)
{
    said(cudaEventDestroy(e->live ? e->handle : NULL));
    memset(e, 0, sizeof *e);
}

static void event_record(const int *a, struct fuzz_event *e)
{
    struct fuzz_stream *s = stream_at(a[2]);
    int lane = lane_of(s);
    struct fuzz_clock ready = clocks_ready(lane);
    unsigned flags = a[1] == 7 ? (unsigned)a[3] & 1 : 0;
    cudaEvent_t handle = e->live ? e->handle : NULL;
    if (!said(a[1] == 7 ? cudaEventRecordWithFlags(handle, s->handle, flags)
                        : cudaEventRecord(handle, s->handle))) {
        e->recorded = e->recorded && !e->shared;
        return;
    }
    clocks_issued(lane, &ready);
    e->clock = clocks_of(lane);
    e->recorded = true;
    state.used |= 1u << device_of(s);
}

static void event_wait(const int *a, struct fuzz_event *e)
{
    struct fuzz_stream *s = stream_at(a[2]);
    int lane = lane_of(s);
    struct fuzz_clock ready = clocks_ready(lane);
    /* Each crashes in the driver: one that was never recorded, and one of another GPU. */
    if (e->live && e->shared && (!e->recorded || (!e->foreign && e->device != device_of(s)))) {
        say(" skip");
        return;
    }
    if (!said(cudaStreamWaitEvent(s->handle, e->live ? e->handle : NULL, 0)) || !e->recorded)
        return; /* a wait for nothing puts nothing into the stream */
    clocks_join(&ready, &e->clock);
    clocks_issued(lane, &ready);
    state.used |= 1u << device_of(s);
}

static void event_elapsed(const struct fuzz_event *e, const struct fuzz_event *other)
{
    float ms = -1;
    say(" last %d", cudaGetLastError());
    said_query(
        cudaEventElapsedTime(&ms, e->live ? e->handle : NULL, other->live ? other->handle : NULL));
}

void run_event(const int *a)
{
    struct fuzz_event *e = &state.event[a[0]];
    switch (a[1]) {
    case 0:
        event_create(a);
        break;
    case 1:
        event_destroy(e);
        break;
    case 3:
        if (said(cudaEventSynchronize(e->live ? e->handle : NULL)) && e->recorded)
            clocks_host_joins(&e->clock);
        break;
    case 4:
        say(" last %d", cudaGetLastError());
        said_query(cudaEventQuery(e->live ? e->handle : NULL));
        break;
    case 5:
        event_wait(a, e);
        break;
    case 6:
        event_elapsed(e, &state.event[a[4]]);
        break;
    default:
        event_record(a, e);
    }
}

/* ---- the end ---- */

static cudaError_t store(char *ptr)
{
    return fuzz_launch(KERNEL_FILL, 1, 32, 0, (int *)ptr, NULL, 8, 1, 0);
}

static void fault_freed(void)
{
    char *ptr = NULL;
    cudaMalloc((void **)&ptr, 64 << 20);
    cudaFree(ptr);
    said(store(ptr));
}

static void fault_peer(void)
{
    for (int i = 0; i < FUZZ_BUFFERS; i++) {
        struct fuzz_buffer *b = &state.buffer[i];
        if (b->kind != MEM_NONE && b->kind != MEM_PAGEABLE && !reachable(b, state.device, true)) {
            say(" kind %d", b->kind);
            said(store(b->ptr));
            return;
        }
    }
    said(cudaDeviceReset());
    state.dead = true;
}

/* An error that stays, waited for at once; then three calls, which all must say it. */
void run_fault(const int *a)
{
    static int pageable[64];
    void *ptr = NULL;
    sync_all();
    switch (a[3] % 6) {
    case 0:
        said(fuzz_trap());
        break;
    case 1:
        said(store((char *)pageable));
        break;
    case 2:
        fault_freed();
        break;
    case 3:
        said(cudaMalloc(&ptr, 64));
        said(store((char *)ptr + 2));
        break;
    case 4:
        said(store(NULL));
        break;
    default:
        fault_peer();
    }
    said(cudaDeviceSynchronize());
    said(cudaGetLastError());
    said(cudaGetLastError());
    said(cudaMalloc(&ptr, 64));
    said(cudaMemset(ptr, 0, 4));
    state.dead = true;
}
