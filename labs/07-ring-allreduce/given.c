/* SPDX-License-Identifier: MIT
 * given.c: comes with lab 07. What a ring needs besides the algorithm: streams, events, inboxes,
 * peer access (lab 02), checking, and the capture of a whole collective in a graph.
 */
#include <string.h>

#include "lab07.h"

/* ---- checking ---- */

int ring_result(cudaError_t error)
{
    if (error == cudaSuccess)
        return LAB_OK;
    cudaGetLastError();
    switch (error) {
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
        return LAB_ENOGPU;
    case cudaErrorMemoryAllocation:
        return LAB_ENOMEM;
    default:
        return LAB_ECUDA;
    }
}

size_t ring_type_bytes(enum ring_type type)
{
    switch (type) {
    case RING_INT32:
    case RING_FLOAT32:
        return 4;
    case RING_FLOAT16:
        return 2;
    }
    return 0;
}

int ring_check(const struct ring *ring, void *const *buf, size_t count, enum ring_type type,
               enum ring_op op)
{
    if (ring == NULL || ring->n < 1 || ring->n > RING_RANKS || ring_type_bytes(type) == 0 ||
        (op != RING_SUM && op != RING_MAX) || (buf == NULL && count > 0) ||
        count > SIZE_MAX / ring_type_bytes(type))
        return LAB_EINVAL;
    for (int r = 0; r < ring->n && count > 0; r++)
        if (buf[r] == NULL)
            return LAB_EINVAL;
    return LAB_OK;
}

int ring_apart(const void *send, const void *recv, size_t bytes)
{
    uintptr_t a = (uintptr_t)send, b = (uintptr_t)recv;

    return a == b || (a < b ? b - a : a - b) >= bytes;
}

/* ---- opening ---- */

static int gpu_count(void)
{
    int n = 0;

    if (cudaGetDeviceCount(&n) != cudaSuccess) {
        cudaGetLastError(); /* no driver and no device are 0 GPUs (lab 01) */
        return 0;
    }
    return n;
}

static int check_gpus(const int *gpu, int n)
{
    int there = gpu_count();

    if (gpu == NULL || n < 1 || n > RING_RANKS)
        return LAB_EINVAL;
    for (int i = 0; i < n; i++)
        if (gpu[i] < 0)
            return LAB_EINVAL;
    for (int i = 0; i < n; i++)
        if (gpu[i] >= there)
            return LAB_ENOGPU;
    return LAB_OK;
}

static cudaError_t make_event(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDisableTiming);
}

static cudaError_t open_streams(struct ring_rank *me)
{
    cudaError_t error = cudaStreamCreateWithFlags(&me->stream, cudaStreamNonBlocking);

    for (int i = 0; i < RING_LANES && error == cudaSuccess; i++)
        error = cudaStreamCreateWithFlags(&me->lane[i], cudaStreamNonBlocking);
    return error;
}

static cudaError_t open_events(struct ring_rank *me, int slices)
{
    cudaEvent_t *const core[] = {&me->ready, &me->sent, &me->taken[0], &me->taken[1]};
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < sizeof core / sizeof *core && error == cudaSuccess; i++)
        error = make_event(core[i]);
    for (int s = 0; s < slices && error == cudaSuccess; s++) {
        error = make_event(&me->lane_sent[s]);
        for (int half = 0; half < 2 && error == cudaSuccess; half++)
            error = make_event(&me->lane_taken[half][s]);
    }
    return error;
}

static cudaError_t open_rank(struct ring_rank *me, size_t inbox_bytes, int slices)
{
    void *inbox = NULL;
    cudaError_t error = cudaSetDevice(me->gpu);

    if (error == cudaSuccess)
        error = cudaMalloc(&inbox, 2 * inbox_bytes);
    if (error == cudaSuccess) {
        me->inbox[0] = inbox;
        me->inbox[1] = me->inbox[0] + inbox_bytes;
        error = open_streams(me);
    }
    if (error == cudaSuccess)
        error = open_events(me, slices);
    return error;
}

/* Rank r's GPU may read and write rank p's memory, if the machine can do it at all. */
static void reach(struct ring *ring, int r, int p)
{
    struct ring_rank *me = &ring->rank[r];
    int can = 0;

    if (ring->rank[p].gpu == me->gpu) {
        me->reads |= 1u << p;
        return;
    }
    if (cudaDeviceCanAccessPeer(&can, me->gpu, ring->rank[p].gpu) == cudaSuccess && can) {
        cudaError_t error = cudaDeviceEnablePeerAccess(ring->rank[p].gpu, 0);
        if (error == cudaSuccess)
            me->enabled |= 1u << p;
        if (error == cudaSuccess || error == cudaErrorPeerAccessAlreadyEnabled)
            me->reads |= 1u << p;
    }
    cudaGetLastError(); /* "already enabled" is no error to keep, and neither is "cannot" */
}

static void reach_all(struct ring *ring)
{
    for (int r = 0; r < ring->n; r++) {
        cudaSetDevice(ring->rank[r].gpu);
        for (int p = 0; p < ring->n; p++)
            reach(ring, r, p);
    }
}

int ring_open_sliced(struct ring *ring, const int *gpu, int n, size_t most, int slices)
{
    int before = 0, rc;

    if (ring == NULL)
        return LAB_EINVAL;
    memset(ring, 0, sizeof *ring);
    if ((rc = check_gpus(gpu, n)) != LAB_OK)
        return rc;
    if (slices < 1 || slices > RING_SLICES)
        return LAB_EINVAL;
    if (most > SIZE_MAX / 4)
        return LAB_ENOMEM;
    cudaGetDevice(&before);
    ring->n = n;
    ring->inbox_bytes = (most / (size_t)n + 256) / 256 * 256; /* a whole element more than most/n */
    for (int r = 0; r < n; r++)
        ring->rank[r].gpu = gpu[r];
    for (int r = 0; r < n && rc == LAB_OK; r++)
        rc = ring_result(open_rank(&ring->rank[r], ring->inbox_bytes, slices));
    if (rc == LAB_OK)
        reach_all(ring);
    else
        ring_close(ring);
    ring_result(cudaSetDevice(before));
    return rc;
}

int ring_open(struct ring *ring, const int *gpu, int n, size_t most)
{
    return ring_open_sliced(ring, gpu, n, most, RING_SLICES);
}

int ring_reads_all(const struct ring *ring)
{
    for (int r = 0; r < ring->n; r++)
        if (ring->rank[r].reads != (1u << ring->n) - 1)
            return 0;
    return 1;
}

/* ---- closing ---- */

static void destroy_event(cudaEvent_t event)
{
    if (event != NULL)
        cudaEventDestroy(event);
}

static void close_rank(struct ring_rank *me)
{
    destroy_event(me->ready);
    destroy_event(me->sent);
    for (int half = 0; half < 2; half++) {
        destroy_event(me->taken[half]);
        for (int s = 0; s < RING_SLICES; s++)
            destroy_event(me->lane_taken[half][s]);
    }
    for (int s = 0; s < RING_SLICES; s++)
        destroy_event(me->lane_sent[s]);
    for (int i = 0; i < RING_LANES; i++)
        if (me->lane[i] != NULL)
            cudaStreamDestroy(me->lane[i]);
    if (me->stream != NULL)
        cudaStreamDestroy(me->stream);
    cudaFree(me->inbox[0]);
}

/* The lanes are waited for, too: a call that failed half-way has not joined them to `stream`. */
static void drain(const struct ring *ring)
{
    for (int r = 0; r < ring->n; r++) {
        const struct ring_rank *me = &ring->rank[r];
        for (int i = 0; i < RING_LANES; i++)
            if (me->lane[i] != NULL)
                cudaStreamSynchronize(me->lane[i]);
        if (me->stream != NULL)
            cudaStreamSynchronize(me->stream);
    }
}

void ring_close(struct ring *ring)
{
    int before = 0;

    if (ring == NULL)
        return;
    cudaGetDevice(&before);
    drain(ring); /* all of it, before the first memory goes */
    for (int r = 0; r < ring->n; r++) {
        cudaSetDevice(ring->rank[r].gpu);
        close_rank(&ring->rank[r]);
        for (int p = 0; p < ring->n; p++)
            if (ring->rank[r].enabled & 1u << p)
                cudaDeviceDisablePeerAccess(ring->rank[p].gpu);
    }
    memset(ring, 0, sizeof *ring);
    cudaSetDevice(before);
    cudaGetLastError();
}

/* ---- waiting and capturing ---- */

int ring_wait(const struct ring *ring)
{
    int rc = ring == NULL ? LAB_EINVAL : LAB_OK;

    for (int r = 0; rc == LAB_OK && r < ring->n; r++)
        rc = ring_result(cudaStreamSynchronize(ring->rank[r].stream));
    return rc;
}

/* `event` is recorded on stream `from` and waited for on stream `to`. */
static int follow(cudaStream_t to, cudaEvent_t event, cudaStream_t from)
{
    int rc = ring_result(cudaEventRecord(event, from));

    return rc == LAB_OK ? ring_result(cudaStreamWaitEvent(to, event, 0)) : rc;
}

/* A capture begins on one stream and takes in those that wait for its events. */
int ring_capture_begin(struct ring *ring)
{
    if (ring == NULL || ring->n < 1)
        return LAB_EINVAL;
    struct ring_rank *first = &ring->rank[0];
    int rc = ring_result(cudaStreamBeginCapture(first->stream, cudaStreamCaptureModeThreadLocal));
    for (int r = 1; r < ring->n && rc == LAB_OK; r++)
        rc = follow(ring->rank[r].stream, first->ready, first->stream);
    return rc;
}

int ring_capture_end(struct ring *ring, cudaGraphExec_t *graph)
{
    cudaGraph_t captured = NULL;
    int rc = LAB_OK;

    if (ring == NULL || ring->n < 1 || graph == NULL)
        return LAB_EINVAL;
    for (int r = 1; r < ring->n && rc == LAB_OK; r++)
        rc = follow(ring->rank[0].stream, ring->rank[r].ready, ring->rank[r].stream);
    int ended = ring_result(cudaStreamEndCapture(ring->rank[0].stream, &captured));
    rc = rc == LAB_OK ? ended : rc;
    if (rc == LAB_OK)
        rc = ring_result(cudaGraphInstantiate(graph, captured, 0));
    if (captured != NULL)
        cudaGraphDestroy(captured);
    return rc;
}

/* ---- links ---- */

/* The runtime does not count links; it ranks pairs, 0 is the best. */
static uint8_t link_of(int from, int to)
{
    int can = 0, rank = 0;

    if (cudaDeviceGetP2PAttribute(&can, cudaDevP2PAttrAccessSupported, from, to) != cudaSuccess ||
        !can)
        return 0;
    if (cudaDeviceGetP2PAttribute(&rank, cudaDevP2PAttrPerformanceRank, from, to) != cudaSuccess)
        return 0;
    return (uint8_t)(rank < 0 || rank > 7 ? 1 : 8 - rank);
}

int ring_links(int n, uint8_t *links)
{
    if (n < 1 || n > RING_RANKS || links == NULL)
        return LAB_EINVAL;
    if (n > gpu_count())
        return LAB_ENOGPU;
    for (int from = 0; from < n; from++)
        for (int to = 0; to < n; to++)
            links[from * n + to] = from == to ? 0 : link_of(from, to);
    cudaGetLastError();
    return LAB_OK;
}
