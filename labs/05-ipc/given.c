/* SPDX-License-Identifier: MIT
 * given.c: what comes with lab 05: the processes, their sockets, the all-gather, and the ring's
 * making. Each process has a socket to either neighbour and no other.
 */
#include "lab05.h"
#include "lab_clock.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define INBOX_AT 4096 /* the inbox is not where its allocation begins */

int ipc_result(cudaError_t error)
{
    if (error != cudaSuccess)
        (void)cudaGetLastError();
    switch (error) {
    case cudaSuccess:
        return LAB_OK;
    case cudaErrorInvalidDevice:
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
        return LAB_ENOGPU;
    case cudaErrorMemoryAllocation:
        return LAB_ENOMEM;
    default:
        return LAB_ECUDA;
    }
}

void event_drop(cudaEvent_t event)
{
    if (event)
        (void)ipc_result(cudaEventDestroy(event));
}

const char *ipc_sentence(int result)
{
    switch (result) {
    case LAB_OK:
        return "all went well";
    case LAB_EINVAL:
        return "an argument makes no sense, or there are fewer than 2 ranks";
    case LAB_ENOGPU:
        return "there is no GPU here";
    case LAB_ENOMEM:
        return "there is not that much memory left";
    case LAB_EPEER:
        return "another process of the ring has ended, or sends nothing";
    case LAB_ERANGE:
        return "that is more than there is room for";
    default:
        return "CUDA refused";
    }
}

/* ---- messages ---- */

int peer_tell(int fd, size_t number)
{
    return send(fd, &number, sizeof number, MSG_NOSIGNAL) == (ssize_t)sizeof number ? LAB_OK
                                                                                    : LAB_EPEER;
}

/* Receives all of it; the limit is for each piece. */
static int receive_all(int fd, char *at, size_t bytes)
{
    struct pollfd wait = {fd, POLLIN, 0};
    while (bytes > 0) {
        int ready = poll(&wait, 1, PEERS_WAIT_MS);
        if (ready < 0 && errno == EINTR)
            continue;
        ssize_t n = ready > 0 ? recv(fd, at, bytes, 0) : 0;
        if (n <= 0)
            return LAB_EPEER;
        at += n;
        bytes -= (size_t)n;
    }
    return LAB_OK;
}

/* No rank leaves a gathering before it has my block. A neighbour that left before I send it has
 * died, or has learnt that a rank died: its numbers, not yet read, would be taken for blocks. */
static int neighbour_left(const struct peers *p)
{
    struct pollfd gone[2] = {{p->to_next, 0, 0}, {p->from_prev, 0, 0}};
    return poll(gone, 2, 0) > 0;
}

/* Blocks go along to_next, numbers ("so many bytes are there") too, and "drained" comes back along
 * it: so no "drained" lies in the blocks' way, and no other number where every put was taken. */
static int gather(struct peers *p, const void *mine, void *all, size_t bytes)
{
    char *at = all;
    int rc = neighbour_left(p) ? LAB_EPEER : LAB_OK;
    memcpy(at + (size_t)p->rank * bytes, mine, bytes);
    for (int step = 0; step < p->size - 1 && !rc; step++) {
        size_t give = (size_t)((p->rank - step + p->size) % p->size);
        size_t take = (size_t)((p->rank - step - 1 + 2 * p->size) % p->size);
        if (send(p->to_next, at + give * bytes, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
            rc = LAB_EPEER;
        else
            rc = receive_all(p->from_prev, at + take * bytes, bytes);
    }
    /* The ranks that wait for this one must learn it, too: closed sockets tell the whole ring. */
    if (rc) {
        (void)shutdown(p->to_next, SHUT_RDWR);
        (void)shutdown(p->from_prev, SHUT_RDWR);
    }
    return rc;
}

/* All have come: no rank goes on before the last one's clock. */
static int carry_clocks(struct peers *p)
{
    uint64_t all[PEERS_MAX], mine = lab_clock_tell();
    int rc = gather(p, &mine, all, sizeof mine);
    for (int r = 0; r < p->size && !rc; r++)
        if (r != p->rank)
            lab_clock_hear(all[r]);
    return rc;
}

int peers_gather(struct peers *p, const void *mine, void *all, size_t bytes)
{
    int rc = gather(p, mine, all, bytes);
    return rc ? rc : carry_clocks(p);
}

int peers_barrier(struct peers *p)
{
    char all[PEERS_MAX], mine = 1;
    if (p->at_barrier)
        p->at_barrier(p->watcher);
    return peers_gather(p, &mine, all, 1);
}

/* CUDA returns only that something failed; closed sockets show whether a rank died. It may take a
 * moment until the whole ring has closed its sockets, so this waits for up to a second. */
int ring_result(const struct ring *ring, cudaError_t error)
{
    struct pollfd gone[2] = {{ring->peers->to_next, 0, 0}, {ring->peers->from_prev, 0, 0}};
    int rc = ipc_result(error);
    return rc == LAB_ECUDA && poll(gone, 2, 1000) > 0 ? LAB_EPEER : rc;
}

/* ---- processes ---- */

static void become(int pair[][2], int n, int rank, int (*main_of_rank)(struct peers *, void *),
                   void *argument)
{
    struct peers p = {.rank = rank, .size = n};
    int before = (rank + n - 1) % n;
    p.to_next = pair[rank][0];
    p.from_prev = pair[before][1];
    for (int i = 0; i < n; i++) {
        if (i != rank)
            close(pair[i][0]);
        if (i != before)
            close(pair[i][1]);
    }
    _exit(main_of_rank(&p, argument));
}

/* This process's copies of a rank's ends: its neighbours hear of its end when both are closed. */
static void close_ends(int pair[][2], int n, int rank)
{
    int *end[2] = {&pair[rank][0], &pair[(rank + n - 1) % n][1]};
    for (int i = 0; i < 2; i++) {
        close(*end[i]);
        *end[i] = -1;
    }
}

/* All of them hear of it at once, as from mpirun: a rank may wait for one that waits for it, and
 * neither is the dead one's neighbour. */
static void tell_all(int pair[][2], int n)
{
    for (int i = 0; i < n; i++) { /* -1: of one that has ended; the other side is still there */
        (void)shutdown(pair[i][0], SHUT_RDWR);
        (void)shutdown(pair[i][1], SHUT_RDWR);
    }
}

static int rank_of(const pid_t *pid, int n, pid_t ended)
{
    int rank = 0;
    while (rank < n && pid[rank] != ended)
        rank++;
    return rank;
}

/* Until all have ended that were started. */
static void wait_for_all(int pair[][2], const pid_t *pid, int n, int *status)
{
    int left = 0, ended;
    for (int i = 0; i < n; i++) {
        status[i] = -1;
        left += pid[i] > 0;
        if (pid[i] < 0)
            close_ends(pair, n, i);
    }
    while (left > 0) {
        pid_t who = waitpid(-1, &ended, 0);
        int rank = rank_of(pid, n, who);
        if (who < 0 && errno != EINTR)
            return;
        if (who < 0 || rank == n)
            continue;
        status[rank] = ended;
        left--;
        if (WIFSIGNALED(ended))
            tell_all(pair, n);
        close_ends(pair, n, rank);
    }
}

int peers_start(int n, int (*main_of_rank)(struct peers *, void *), void *argument, int *status)
{
    int pair[PEERS_MAX][2];
    pid_t pid[PEERS_MAX];
    if (n < 1 || n > PEERS_MAX)
        return LAB_EINVAL;
    for (int i = 0; i < n; i++)
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair[i]) != 0)
            return LAB_ENOMEM;
    fflush(NULL);
    for (int i = 0; i < n; i++)
        if ((pid[i] = fork()) == 0)
            become(pair, n, i, main_of_rank, argument);
    wait_for_all(pair, pid, n, status);
    return LAB_OK;
}

/* ---- processes that mpirun or another launcher started ---- */

static int number_of(const char *mpi, const char *ours)
{
    const char *text = getenv(mpi) ? getenv(mpi) : getenv(ours);
    return text ? atoi(text) : -1;
}

static socklen_t name_of(struct sockaddr_un *at, int rank)
{
    const char *job = getenv("PMIX_NAMESPACE") ? getenv("PMIX_NAMESPACE") : getenv("PEERS_NAME");
    memset(at, 0, sizeof *at);
    at->sun_family = AF_UNIX;
    int n = snprintf(at->sun_path + 1, sizeof at->sun_path - 1, "lab05-%d-%s-%d", (int)getuid(),
                     job ? job : "ring", rank);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* The next rank may not listen yet. */
static int connect_to(int rank)
{
    struct sockaddr_un at;
    socklen_t bytes = name_of(&at, rank);
    for (int ms = 0; ms < PEERS_WAIT_MS; ms += 10) {
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(fd, (struct sockaddr *)&at, bytes) == 0)
            return fd;
        close(fd);
        (void)poll(NULL, 0, 10);
    }
    return -1;
}

int peers_join(struct peers *p)
{
    struct sockaddr_un at;
    struct peers made = {.rank = number_of("OMPI_COMM_WORLD_RANK", "PEERS_RANK"),
                         .size = number_of("OMPI_COMM_WORLD_SIZE", "PEERS_SIZE")};
    if (made.rank < 0 || made.size < 1 || made.size > PEERS_MAX || made.rank >= made.size)
        return LAB_EINVAL;
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t bytes = name_of(&at, made.rank);
    if (bind(listener, (struct sockaddr *)&at, bytes) != 0 || listen(listener, 1) != 0) {
        close(listener);
        return LAB_EPEER;
    }
    made.to_next = connect_to((made.rank + 1) % made.size);
    struct pollfd wait = {listener, POLLIN, 0};
    made.from_prev = poll(&wait, 1, PEERS_WAIT_MS) > 0 ? accept(listener, NULL, NULL) : -1;
    close(listener);
    if (made.to_next < 0 || made.from_prev < 0)
        return LAB_EPEER;
    *p = made;
    return LAB_OK;
}

void peers_leave(struct peers *p)
{
    close(p->to_next);
    close(p->from_prev);
}

/* ---- the ring ---- */

struct card { /* what every rank tells all the others */
    struct wire inbox;
    cudaIpcEventHandle_t event[2];
};

static int make_mine(struct ring *r, struct card *card)
{
    int rc;
    if ((rc = ipc_result(cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking))) ||
        (rc = ipc_result(cudaMalloc(&r->base, INBOX_AT + r->bytes))))
        return rc;
    r->inbox = (char *)r->base + INBOX_AT;
    if ((rc = ipc_export(r->base, INBOX_AT, r->bytes, &card->inbox)) || (rc = ipc_events(&r->mine)))
        return rc;
    memcpy(card->event, r->mine.handle, sizeof card->event);
    return LAB_OK;
}

static int open_theirs(struct ring *r, const struct card *all)
{
    const struct card *next = &all[(r->peers->rank + 1) % r->peers->size];
    const struct card *prev = &all[(r->peers->rank + r->peers->size - 1) % r->peers->size];
    int rc;
    if ((rc = ipc_import(&next->inbox, &r->next)) ||
        (rc = ipc_result(cudaIpcOpenEventHandle(&r->prev_filled, prev->event[FILLED]))))
        return rc;
    return ipc_result(cudaIpcOpenEventHandle(&r->next_drained, next->event[DRAINED]));
}

int ring_open(struct ring *ring, struct peers *peers, size_t bytes)
{
    struct ring made = {.peers = peers, .bytes = bytes};
    struct card mine, all[PEERS_MAX];
    int gpus = 0, rc;
    if (!ring || !peers || bytes == 0 || peers->size < 2)
        return LAB_EINVAL;
    if ((rc = ipc_result(cudaGetDeviceCount(&gpus))) ||
        (rc = ipc_result(cudaSetDevice(peers->rank % gpus))))
        return rc;
    memset(&mine, 0, sizeof mine);
    if (!(rc = make_mine(&made, &mine)) && !(rc = peers_gather(peers, &mine, all, sizeof mine)) &&
        !(rc = open_theirs(&made, all)))
        *ring = made;
    else {
        made.peers = NULL; /* no barrier: not everybody comes */
        (void)ipc_close(&made);
    }
    return rc;
}
