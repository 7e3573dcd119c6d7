/* SPDX-License-Identifier: MIT
 * ways.cu: see ways.h. NCCL on ordinary buffers, and on buffers registered as symmetric windows
 * (ncclMemAlloc, ncclCommWindowRegister), which its kernels can access directly.
 */
#include "ways.h"

#include <nccl.h>

#include "lab07.h"
#include "team.h"

#define CHECK_NCCL(call)                                                                           \
    do {                                                                                           \
        ncclResult_t result_ = (call);                                                             \
        if (result_ != ncclSuccess) {                                                              \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                          \
                    ncclGetErrorString(result_));                                                  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

struct side {
    float *send, *recv;         /* of our ways, the ring and plain NCCL */
    float *send_win, *recv_win; /* NCCL's windows */
    ncclWindow_t window[2];
    ncclComm_t comm;
    cudaEvent_t joined; /* of this GPU */
};

struct ways {
    int n;
    size_t most;
    ncclUniqueId id;
    struct ar_group *group;
    struct ring ring;
    struct side side[AR_RANKS];
};

static struct side *mine(struct way_rank *r)
{
    return &r->all->side[r->rank];
}

static float *plain_send(struct way_rank *r)
{
    return mine(r)->send;
}

static float *plain_recv(struct way_rank *r)
{
    return mine(r)->recv;
}

static float *window_send(struct way_rank *r)
{
    return mine(r)->send_win;
}

static float *window_recv(struct way_rank *r)
{
    return mine(r)->recv_win;
}

static void call_nccl(struct way_rank *r, size_t count)
{
    CHECK_NCCL(ncclAllReduce(mine(r)->send, mine(r)->recv, count, ncclFloat, ncclSum, mine(r)->comm,
                             r->stream));
}

static void call_nccl_windows(struct way_rank *r, size_t count)
{
    CHECK_NCCL(ncclAllReduce(mine(r)->send_win, mine(r)->recv_win, count, ncclFloat, ncclSum,
                             mine(r)->comm, r->stream));
}

static void call_ours(struct way_rank *r, size_t count)
{
    CHECK(ar_all_reduce(r->all->group, r->rank, mine(r)->send, count, r->stream));
}

static void call_by(struct way_rank *r, size_t count, enum ar_way way)
{
    CHECK(ar_all_reduce_by(r->all->group, way, r->rank, mine(r)->send, count, r->stream));
}

static void call_one_shot(struct way_rank *r, size_t count)
{
    call_by(r, count, AR_ONE_SHOT);
}

static void call_two_shot(struct way_rank *r, size_t count)
{
    call_by(r, count, AR_TWO_SHOT);
}

static void call_engines(struct way_rank *r, size_t count)
{
    call_by(r, count, AR_ENGINES);
}

/* `later` waits for the work that is queued on `first` now. */
static void after(cudaStream_t later, cudaStream_t first, cudaEvent_t event)
{
    CHECK(cudaEventRecord(event, first));
    CHECK(cudaStreamWaitEvent(later, event, 0));
}

/* Queues all ranks' parts, from rank 0's thread, on the ring's own streams: they begin after rank
 * 0's stream and it continues after them, so that a graph can be captured there. */
static void call_ring(struct way_rank *r, size_t count)
{
    struct ways *w = r->all;
    void *send[AR_RANKS], *recv[AR_RANKS];
    int slices = count >= (size_t)1 << 20 ? 4 : 1;

    for (int i = 0; i < w->n; i++) {
        send[i] = w->side[i].send;
        recv[i] = w->side[i].recv;
        after(w->ring.rank[i].stream, r->stream, w->side[0].joined);
    }
    int error = ring_pipelined(&w->ring, send, recv, count, RING_FLOAT32, RING_SUM, slices);
    if (error != LAB_OK) {
        fprintf(stderr, "ring_pipelined: %d\n", error);
        exit(1);
    }
    for (int i = 0; i < w->n; i++)
        after(r->stream, w->ring.rank[i].stream, w->side[i].joined);
}

#define MI ((size_t)1 << 20)
#define ANY ((size_t)1 << 40)

const struct way ways_list[] = {
    {"nccl", false, true, false, 0, ANY, call_nccl, plain_send, plain_recv},
    {"nccl windows", false, true, false, 0, ANY, call_nccl_windows, window_send, window_recv},
    {"ours", true, false, false, 0, ANY, call_ours, plain_send, plain_recv},
    {"one-shot", false, false, false, 0, MI, call_one_shot, plain_send, plain_recv},
    {"two-shot", false, false, false, 4096, 64 * MI, call_two_shot, plain_send, plain_recv},
    {"engines", false, false, false, 4 * MI, ANY, call_engines, plain_send, plain_recv},
    {"lab 07 ring", false, false, true, 0, ANY, call_ring, plain_send, plain_recv},
    {},
};

struct ways *ways_open(int n, size_t most)
{
    int gpu[AR_RANKS] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct ways *w = (struct ways *)calloc(1, sizeof *w);

    if (!w) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    w->n = n;
    w->most = most;
    CHECK(ar_open(&w->group, gpu, n, most));
    CHECK_NCCL(ncclGetUniqueId(&w->id));
    if (ring_open(&w->ring, gpu, n, most) != LAB_OK) {
        fprintf(stderr, "ring_open: no ring of %d GPUs\n", n);
        exit(1);
    }
    return w;
}

void ways_close(struct ways *w)
{
    ring_close(&w->ring);
    ar_close(w->group);
    free(w);
}

void ways_join(struct ways *w, int rank, struct way_rank *r)
{
    struct side *s = &w->side[rank];

    *r = {rank, NULL, w};
    CHECK(cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&s->joined, cudaEventDisableTiming));
    CHECK_NCCL(ncclCommInitRank(&s->comm, w->n, w->id, rank));
    CHECK(cudaMalloc((void **)&s->send, w->most));
    CHECK(cudaMalloc((void **)&s->recv, w->most));
    CHECK_NCCL(ncclMemAlloc((void **)&s->send_win, w->most));
    CHECK_NCCL(ncclMemAlloc((void **)&s->recv_win, w->most));
    CHECK_NCCL(ncclCommWindowRegister(s->comm, s->send_win, w->most, &s->window[0],
                                      NCCL_WIN_COLL_SYMMETRIC));
    CHECK_NCCL(ncclCommWindowRegister(s->comm, s->recv_win, w->most, &s->window[1],
                                      NCCL_WIN_COLL_SYMMETRIC));
    CHECK(ar_register(w->group, rank, s->recv));
}

void ways_leave(struct way_rank *r)
{
    struct side *s = mine(r);

    CHECK(cudaDeviceSynchronize());
    CHECK_NCCL(ncclCommWindowDeregister(s->comm, s->window[0]));
    CHECK_NCCL(ncclCommWindowDeregister(s->comm, s->window[1]));
    CHECK_NCCL(ncclMemFree(s->send_win));
    CHECK_NCCL(ncclMemFree(s->recv_win));
    CHECK_NCCL(ncclCommDestroy(s->comm));
    CHECK(cudaFree(s->send));
    CHECK(cudaFree(s->recv));
    CHECK(cudaEventDestroy(s->joined));
    CHECK(cudaStreamDestroy(r->stream));
}

void ways_versions(char *text, size_t room)
{
    int nccl = 0, runtime = 0, driver = 0;
    const char *nvls = getenv("NCCL_NVLS_ENABLE");

    CHECK_NCCL(ncclGetVersion(&nccl));
    CHECK(cudaRuntimeGetVersion(&runtime));
    CHECK(cudaDriverGetVersion(&driver));
    snprintf(
        text, room,
        "NCCL %d.%d.%d, NVLS (multicast in the switch) %s; CUDA runtime %d.%d, driver for %d.%d",
        nccl / 10000, nccl / 100 % 100, nccl % 100,
        nvls && nvls[0] == '0' ? "switched off by NCCL_NVLS_ENABLE=0" : "left to NCCL",
        runtime / 1000, runtime / 10 % 100, driver / 1000, driver / 10 % 100);
}
