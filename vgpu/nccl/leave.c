/* SPDX-License-Identifier: MIT
 * leave.c: the end of a communicator of several processes. Memory must not be freed while another
 * process has it open, so every rank says when it has closed what it had, and a region goes when
 * all have said so.
 *
 * A process may destroy its ranks one after the other in one thread: only its last one may wait.
 * Those before it stand in a list until then.
 */
#include "comm.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ncclComm *leaving;

static bool same(const struct ncclComm *a, const struct ncclComm *b)
{
    return memcmp(a->id.internal, b->id.internal, sizeof a->id.internal) == 0;
}

/* Takes the ranks of `comm`'s communicator out of the list, itself among them, if all that live in
 * this process are there; NULL otherwise. */
static struct ncclComm *all_of_process(struct ncclComm *comm)
{
    struct ncclComm *mine = NULL;
    int count = 0;
    pthread_mutex_lock(&lock);
    comm->next = leaving;
    leaving = comm;
    for (const struct ncclComm *c = leaving; c; c = c->next)
        count += same(c, comm);
    for (struct ncclComm **at = &leaving, *c; count == comm->here && (c = *at);)
        if (same(c, comm)) {
            *at = c->next;
            c->next = mine;
            mine = c;
        } else
            at = &c->next;
    pthread_mutex_unlock(&lock);
    return mine;
}

static void let_go(struct ncclComm *comm)
{
    nccl_hang_up(&comm->line);
    nccl_free_region(comm);
    free(comm);
}

ncclResult_t nccl_leave(struct ncclComm *comm, const char *call)
{
    char closed = 1, all[NCCL_MAX_RANKS];
    int missing = 0;
    if (comm->line.fd < 0) {
        let_go(comm);
        return ncclSuccess;
    }
    nccl_give(&comm->line, &closed, sizeof closed);
    for (struct ncclComm *c = all_of_process(comm), *next; c; c = next) {
        next = c->next;
        missing += !nccl_take(&c->line, all, sizeof closed);
        let_go(c);
    }
    if (missing == 0)
        return ncclSuccess;
    return nccl_fail(
        ncclRemoteError, call,
        "another rank ended without ncclCommDestroy, or called it much later: the call "
        "is collective among the processes of a machine. What this process had is "
        "freed");
}
