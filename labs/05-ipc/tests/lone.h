/* SPDX-License-Identifier: MIT
 * lone.h: the adapter for ring_put and ring_take where something fails (part of runner.cu): a ring
 * of this process alone, whose neighbours are sockets that the test holds the other ends of. Where
 * CUDA is to refuse, the neighbour that the call does not speak to has gone: else ring_result would
 * give that news a second to come.
 */
#ifndef LAB05_LONE_H
#define LAB05_LONE_H

#include "aliased.h"

struct lone {
    struct lone_out *out;
    enum lone_case what;
    struct ring ring;
    struct peers peers;
    int next, prev;    /* the neighbours' ends */
    char *from, *at;   /* what is put or taken, and where it goes */
    size_t told, room; /* by the previous rank, or put; of dst */
};

static void lone_open(struct lone *l)
{
    int to_next[2] = {-1, -1}, from_prev[2] = {-1, -1};
    struct ring *ring = &l->ring;
    (void)socketpair(AF_UNIX, SOCK_STREAM, 0, to_next);
    (void)socketpair(AF_UNIX, SOCK_STREAM, 0, from_prev);
    l->peers.size = 2;
    l->peers.to_next = to_next[0], l->next = to_next[1];
    l->peers.from_prev = from_prev[0], l->prev = from_prev[1];
    (void)cudaStreamCreateWithFlags(&ring->stream, cudaStreamNonBlocking);
    (void)cudaMalloc((void **)&l->from, LONE_BYTES);
    (void)cudaMalloc((void **)&l->at, LONE_BYTES);
    (void)cudaMemset(l->from, IO_RIM, LONE_BYTES);
    (void)cudaMemset(l->at, IO_FILL, LONE_BYTES);
    (void)cudaDeviceSynchronize();
    for (int i = 0; i < 2; i++)
        (void)cudaEventCreateWithFlags(&ring->mine.event[i], cudaEventDisableTiming);
    (void)cudaEventCreateWithFlags(&ring->prev_filled, cudaEventDisableTiming);
    (void)cudaEventCreateWithFlags(&ring->next_drained, cudaEventDisableTiming);
    ring->peers = &l->peers;
    ring->bytes = ring->next.bytes = LONE_BYTES;
    ring->inbox = l->from;
    ring->next.ptr = l->at;
}

static void lone_close(struct lone *l, cudaEvent_t *events)
{
    (void)cudaStreamDestroy(l->ring.stream);
    for (int i = 0; i < 4; i++)
        (void)cudaEventDestroy(events[i]);
    (void)cudaFree(l->from);
    (void)cudaFree(l->at);
    close(l->peers.to_next);
    close(l->peers.from_prev);
    if (l->next >= 0)
        close(l->next);
    if (l->prev >= 0)
        close(l->prev);
}

static void lone_leaves(int *end)
{
    close(*end);
    *end = -1;
}

/* What fails: an event that is not there, a neighbour that is not, a number that is too large. */
static void lone_spoil(struct lone *l)
{
    struct ring *ring = &l->ring;
    if (l->what > LONE_TAKE_GONE)
        (void)peer_tell(l->prev, l->told);
    if (l->what == LONE_PUT_NO_WAIT)
        (void)peer_tell(l->next, 1);
    ring->puts = l->what == LONE_PUT_GONE || l->what == LONE_PUT_NO_WAIT;
    if (l->what == LONE_PUT_NO_WAIT)
        ring->next_drained = NULL;
    if (l->what >= LONE_PUT_NO_WAIT && l->what <= LONE_PUT_NO_RECORD)
        lone_leaves(&l->prev);
    if (l->what == LONE_PUT_NO_COPY)
        ring->next.bytes = SIZE_MAX;
    if (l->what > LONE_TAKE_LARGE && l->what < LONE_TAKE_UNHEARD)
        lone_leaves(&l->next);
    if (l->what == LONE_PUT_NO_RECORD)
        ring->mine.event[FILLED] = NULL;
    if (l->what == LONE_TAKE_NO_WAIT)
        ring->prev_filled = NULL;
    if (l->what == LONE_TAKE_NO_RECORD)
        ring->mine.event[DRAINED] = NULL;
    if (l->what == LONE_PUT_GONE || l->what == LONE_PUT_UNHEARD)
        lone_leaves(&l->next);
    if (l->what == LONE_TAKE_GONE || l->what == LONE_TAKE_UNHEARD)
        lone_leaves(&l->prev);
}

static int lone_told(int end)
{
    struct pollfd wait = {end, POLLIN, 0};
    return end >= 0 && poll(&wait, 1, 0) > 0;
}

static int lone_moved(const struct lone *l)
{
    unsigned char now[LONE_BYTES];
    (void)cudaStreamSynchronize(l->ring.stream);
    (void)cudaMemcpy(now, l->at, sizeof now, cudaMemcpyDeviceToHost);
    return !all_bytes(now, sizeof now, IO_FILL);
}

static void lone_call(struct lone *l)
{
    struct lone_out *out = l->out;
    size_t bytes;
    memset(&bytes, IO_FILL, sizeof bytes);
    lone_open(l);
    cudaEvent_t events[] = {l->ring.mine.event[0], l->ring.mine.event[1], l->ring.prev_filled,
                            l->ring.next_drained};
    lone_spoil(l);
    int puts = l->ring.puts;
    out->rc[l->what] = l->what < LONE_TAKE_GONE ? ring_put(&l->ring, l->from, l->told)
                                                : ring_take(&l->ring, l->at, l->room, &bytes);
    out->last[l->what] = last_error();
    out->told[l->what] = lone_told(l->what < LONE_TAKE_GONE ? l->next : l->prev);
    out->moved[l->what] = lone_moved(l);
    out->counted[l->what] = l->ring.puts != puts;
    out->untouched[l->what] = all_bytes(&bytes, sizeof bytes, IO_FILL);
    lone_close(l, events);
}

/* Arguments that must be refused, of a ring that is there. */
static void lone_refusals(struct lone *l, int take, struct lone_out *out)
{
    size_t bytes;
    lone_open(l);
    cudaEvent_t events[] = {l->ring.mine.event[0], l->ring.mine.event[1], l->ring.prev_filled,
                            l->ring.next_drained};
    if (take) {
        out->refused[0] = ring_take(&l->ring, NULL, LONE_BYTES, &bytes);
        out->refused[1] = ring_take(&l->ring, l->at, LONE_BYTES, NULL);
        l->ring.inbox = NULL;
        out->refused[2] = ring_take(&l->ring, l->at, LONE_BYTES, &bytes);
    } else {
        out->refused[0] = ring_put(&l->ring, NULL, LONE_BYTES);
        out->refused[1] = ring_put(&l->ring, l->from, 0);
        l->ring.next.ptr = NULL;
        out->refused[2] = ring_put(&l->ring, l->from, LONE_BYTES);
    }
    out->refused_told = lone_told(l->next) || lone_told(l->prev);
    lone_close(l, events);
}

/* A message that is longer than an int can say; of inbox and destination there is little. */
static void lone_takes_far(struct lone *l, struct lone_out *out)
{
    const size_t piece = (size_t)2 << 20;
    size_t bytes = 0;
    char *inbox = lab_aliased(0, piece, LONE_FAR / piece, piece);
    char *dst = lab_aliased(0, piece, LONE_FAR / piece, piece);
    out->far_setup = !inbox || !dst;
    if (out->far_setup)
        return;
    (void)cudaMemset(inbox, IO_RIM, piece);
    (void)cudaMemset(inbox + LONE_FAR / piece * piece, IO_RIM, piece);
    (void)cudaDeviceSynchronize();
    lone_open(l);
    l->ring.inbox = inbox;
    l->ring.bytes = LONE_FAR;
    (void)peer_tell(l->prev, LONE_FAR);
    out->far_rc = ring_take(&l->ring, dst, LONE_FAR, &bytes);
    out->far_bytes = bytes;
    (void)cudaStreamSynchronize(l->ring.stream);
}

LAB_RUN(lone)
{
    const struct lone_in *in = (const struct lone_in *)lab_input(io, sizeof *in);
    struct lone_out *out = (struct lone_out *)lab_result(io, sizeof *out);
    static struct lone lone[LONE_CASES + 1];
    int first = in->take ? LONE_TAKE_GONE : 0, end = in->take ? LONE_CASES : LONE_TAKE_GONE;
    memset(out, 0, sizeof *out);
    if (in->far) {
        lone_takes_far(&lone[LONE_CASES], out);
        return;
    }
    lab_refusing(1);
    for (int i = first; i < end; i++) {
        int large = i == LONE_PUT_NO_COPY || i == LONE_TAKE_LARGE || i == LONE_TAKE_NO_COPY;
        lone[i].out = out;
        lone[i].what = (enum lone_case)i;
        lone[i].told = large ? ((size_t)1 << 32) + LONE_BYTES / 2 : LONE_BYTES;
        lone[i].room = i == LONE_TAKE_NO_COPY ? SIZE_MAX : LONE_BYTES;
        lone_call(&lone[i]);
    }
    lone_refusals(&lone[LONE_CASES], in->take, out);
    lab_refusing(0);
}

#endif
