/* SPDX-License-Identifier: MIT
 * leave.c: the end of a communicator with ranks in several processes. Memory must not be freed
 * while another process has it open, so every rank announces that it has closed the regions of
 * others, and regions are freed when all ranks have.
 *
 * A process may destroy its ranks one after the other in one thread, so only its last rank may
 * wait. The earlier ones are kept in a list until then.
 */
#include "comm.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t leaving_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ncclComm *leaving;

static bool is_same_comm(const struct ncclComm *a, const struct ncclComm *b)
{
    return memcmp(a->id.internal, b->id.internal, sizeof a->id.internal) == 0;
}

/* Adds `comm` to the list. If all ranks of its communicator in this process are in the list,
 * removes and returns them; otherwise NULL. */
static struct ncclComm *take_leaving_ranks(struct ncclComm *comm)
{
    struct ncclComm *mine = NULL;
    int count = 0;
    pthread_mutex_lock(&leaving_lock);
    comm->next = leaving;
    leaving = comm;
    for (const struct ncclComm *c = leaving; c; c = c->next)
        count += is_same_comm(c, comm);
    for (struct ncclComm **at = &leaving, *c; count == comm->here && (c = *at);)
        if (is_same_comm(c, comm)) {
            *at = c->next;
            c->next = mine;
            mine = c;
        } else
            at = &c->next;
    pthread_mutex_unlock(&leaving_lock);
    return mine;
}

static void free_comm(struct ncclComm *comm)
{
    nccl_disconnect(&comm->connection);
    nccl_free_region(comm);
    free(comm);
}

ncclResult_t nccl_leave(struct ncclComm *comm, const char *call)
{
    char closed = 1, all[NCCL_MAX_RANKS];
    int missing = 0;
    if (comm->connection.fd < 0) {
        free_comm(comm);
        return ncclSuccess;
    }
    nccl_exchange_send(&comm->connection, &closed, sizeof closed);
    for (struct ncclComm *c = take_leaving_ranks(comm), *next; c; c = next) {
        next = c->next;
        missing += !nccl_exchange_receive(&c->connection, all, sizeof closed);
        free_comm(c);
    }
    if (missing == 0)
        return ncclSuccess;
    return nccl_fail(
        ncclRemoteError, call,
        "another rank ended without ncclCommDestroy, or called it much later: the call "
        "is collective among the processes of a machine. What this process had is "
        "freed");
}
