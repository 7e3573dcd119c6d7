/* SPDX-License-Identifier: MIT
 * ring_rank.h: what one rank of the ring does in the tests, whoever started its process: the
 * runner, or mpirun.
 */
#ifndef LAB05_RING_RANK_H
#define LAB05_RING_RANK_H

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "io.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int last_error(void)
{
    cudaError_t error = cudaPeekAtLastError();
    (void)cudaGetLastError();
    return (int)error;
}

static int all_bytes(const void *what, size_t bytes, int value)
{
    const unsigned char *byte = (const unsigned char *)what;
    while (bytes > 0 && *byte == value)
        byte++, bytes--;
    return bytes == 0;
}

struct ring_job {
    const struct ring_in *in;
    struct ring_out *out;
    const void *(*sent)(void); /* memory with all that is put, and for all that is taken (io_at); */
    void *(*taken)(void);      /* asked for by each rank */
};
struct work {
    const struct ring_in *in;
    struct rank_out *out;
    struct ring ring;
    struct peers *peers;
    const char *sent;
    char *taken;
    void *src, *dst, *base, *theirs;
    cudaEvent_t events[2];     /* the others' */
    void *more, *more_of_next; /* memory that is no inbox: mine, and the next rank's, opened */
    uint64_t most;
};

static int is_freed(void *memory)
{
    struct cudaPointerAttributes at;
    int freed = cudaPointerGetAttributes(&at, memory) != cudaSuccess ||
                at.type == cudaMemoryTypeUnregistered;
    (void)cudaGetLastError();
    return freed;
}

/* Said of a ring that hangs: what the last call was, and what it waits for. */
static void doing_put(int rank, int round)
{
    lab_doing("rank %d, round %d: ring_put%s", rank, round,
              round ? " waits for the message that the inbox is drained, which ring_take tells the "
                      "previous rank"
                    : ", the first put, has no message to wait for");
}

static void doing_take(int rank, int round)
{
    lab_doing("rank %d, round %d: ring_take waits for the message of the previous rank's ring_put",
              rank, round);
}

/* More of the next rank's memory, which is likely to get the address that its inbox had here. */
static void open_more(struct work *w)
{
    const struct rank_out *next = w->out - w->peers->rank + (w->peers->rank + 1) % w->peers->size;
    if (cudaIpcOpenMemHandle(&w->more_of_next, next->more, cudaIpcMemLazyEnablePeerAccess) !=
        cudaSuccess)
        w->more_of_next = NULL;
}

/* Called as a barrier begins: what is mine must live still, what is theirs must be closed. */
static void look(void *watcher)
{
    struct work *w = (struct work *)watcher;
    struct cudaPointerAttributes at;
    w->out->at_barriers++;
    w->out->mine_lives =
        cudaPointerGetAttributes(&at, w->base) == cudaSuccess && at.type == cudaMemoryTypeDevice;
    w->out->theirs_closed = cudaPointerGetAttributes(&at, w->theirs) != cudaSuccess ||
                            at.type == cudaMemoryTypeUnregistered;
    w->out->finished = cudaStreamQuery(w->ring.stream) == cudaSuccess;
    for (int i = 0; i < 2 && w->in->events; i++)
        w->out->open_events[i] = cudaEventQuery(w->events[i]) != cudaErrorInvalidResourceHandle;
    if (w->in->more && w->out->theirs_closed)
        open_more(w);
    (void)cudaGetLastError();
}

static void export_more(struct work *w, const struct peers *p)
{
    int gpus = 1;
    (void)cudaGetDeviceCount(&gpus);
    (void)cudaSetDevice(p->rank % gpus);
    if (cudaMalloc(&w->more, w->most) == cudaSuccess)
        (void)cudaIpcGetMemHandle(&w->out->more, w->more);
}

/* Nobody but us has closed it, and nobody frees it before that. */
static void close_more(struct work *w, struct peers *p)
{
    w->out->more_lives = !w->more_of_next || cudaIpcCloseMemHandle(w->more_of_next) == cudaSuccess;
    (void)cudaGetLastError();
    (void)peers_barrier(p);
    (void)cudaFree(w->more);
}

static void come_late(const struct work *w, const struct peers *p)
{
    if (w->in->late && p->rank == 1)
        (void)poll(NULL, 0, 50);
}

/* A ring over the same sockets, before the one that counts. */
static int earlier_ring(const struct work *w, struct peers *p)
{
    struct ring ring;
    void *word = NULL;
    size_t took;
    int closed, rc = ring_open(&ring, p, sizeof(int));
    if (rc)
        return rc;
    rc = ipc_result(cudaMalloc(&word, sizeof(int)));
    rc = rc ? rc : ipc_result(cudaMemsetAsync(word, 0, sizeof(int), ring.stream));
    rc = rc ? rc : ring_put(&ring, word, sizeof(int));
    come_late(w, p);
    rc = rc ? rc : ring_take(&ring, word, sizeof(int), &took);
    closed = ipc_close(&ring);
    (void)cudaFree(word);
    return rc ? rc : closed;
}

static int set_up(struct work *w, struct peers *p)
{
    w->most = io_most(w->in);
    if (w->in->more)
        export_more(w, p);
    if (w->in->again && (w->out->earlier_rc = earlier_ring(w, p)))
        return -1;
    w->out->open_rc = ring_open(&w->ring, p, w->most);
    if (w->out->open_rc)
        return -1;
    w->base = w->ring.base;
    w->theirs = w->ring.next.base;
    w->events[0] = w->ring.prev_filled;
    w->events[1] = w->ring.next_drained;
    (void)cudaMalloc(&w->src, w->most);
    (void)cudaMalloc(&w->dst, w->most);
    (void)peers_barrier(p); /* everybody has opened what is mine before I may be killed */
    return 0;
}

/* ring_take has refused what is longer than `room`, as it should. Every put is taken before
 * ipc_close: the test does it here, without a copy, and says so as ring_take would have done. */
static void take_refused(struct work *w, struct peers *p)
{
    (void)cudaStreamWaitEvent(w->ring.stream, w->ring.prev_filled, 0);
    (void)cudaEventRecord(w->ring.mine.event[DRAINED], w->ring.stream);
    (void)peer_tell(p->from_prev, 0);
}

/* Everything is queued; only messages are waited for. */
static void rounds(struct work *w, struct peers *p)
{
    if (w->in->too_large)
        w->out->put_rc = ring_put(&w->ring, w->src, w->ring.next.bytes + 1);
    if (w->in->too_large || w->in->idle)
        return;
    for (int r = 0; r < w->in->rounds; r++) {
        size_t took = 0;
        if (p->rank == w->in->die_rank && r == w->in->die_round)
            (void)kill(getpid(), SIGKILL);
        (void)cudaMemcpyAsync(w->src, w->sent + io_at(w->in, p->rank, r), w->in->bytes[r],
                              cudaMemcpyHostToDevice, w->ring.stream);
        doing_put(p->rank, r);
        w->out->put_rc = ring_put(&w->ring, w->src, w->in->bytes[r]);
        if (r == 0)
            w->out->busy = cudaStreamQuery(w->ring.stream) == cudaErrorNotReady;
        (void)(w->out->busy && cudaGetLastError()); /* "not ready" is no mistake of anybody's */
        if (w->out->put_rc)
            return;
        (void)cudaMemsetAsync(w->dst, IO_RIM, w->ring.bytes, w->ring.stream);
        come_late(w, p);
        doing_take(p->rank, r);
        w->out->take_rc =
            ring_take(&w->ring, w->dst, w->in->room ? w->in->room : w->ring.bytes, &took);
        if (w->out->take_rc == LAB_ERANGE && w->in->room)
            take_refused(w, p);
        if (w->out->take_rc)
            return;
        w->out->took = took;
        (void)cudaMemcpyAsync(w->taken + io_at(w->in, p->rank, r), w->dst, w->ring.bytes,
                              cudaMemcpyDeviceToHost, w->ring.stream);
        w->out->rounds_done++;
    }
}

static int ring_rank(struct peers *p, void *argument)
{
    const struct ring_job *job = (const struct ring_job *)argument;
    struct work *w = (struct work *)calloc(1, sizeof *w);
    double start;
    w->in = job->in;
    w->peers = p;
    w->out = &job->out->rank[p->rank];
    w->out->pid = (int)getpid();
    if (set_up(w, p) != 0)
        return 0;
    w->sent = (const char *)job->sent();
    w->taken = (char *)job->taken();
    start = now(); /* a context may take seconds on real GPUs */
    p->at_barrier = look;
    p->watcher = w;
    rounds(w, p);
    w->out->last = last_error();
    w->out->close_rc = ipc_close(&w->ring);
    w->out->freed = is_freed(w->base);
    w->out->cleared = all_bytes(&w->ring, sizeof w->ring, 0);
    p->at_barrier = NULL;
    if (w->in->more)
        close_more(w, p);
    w->out->seconds = now() - start;
    (void)cudaFree(w->src);
    (void)cudaFree(w->dst);
    return 0;
}

#endif
