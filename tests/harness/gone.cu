/* SPDX-License-Identifier: MIT
 * gone.cu: what lab 05's ranks learn when one of them dies with a number still unread.
 *
 * Rank 0 tells the next rank a number and dies. Rank 1 has not read it when it comes to the
 * barrier: it must not take that number for somebody's part of the barrier, nor leave rank 2 with
 * bytes that look like a number. Both must get LAB_EPEER. Exit status 1: they did not.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "lab05.h"

#define RANKS 3

static int expect(const struct peers *p, const char *call, int rc)
{
    if (rc != LAB_EPEER)
        printf("rank %d: %s returned %d (%s), expected LAB_EPEER (%d)\n", p->rank, call, rc,
               ipc_sentence(rc), LAB_EPEER);
    fflush(stdout);
    return rc != LAB_EPEER;
}

static int rank_main(struct peers *p, void *nothing)
{
    struct pollfd gone = {p->from_prev, 0, 0};
    size_t number = 0;
    (void)nothing;
    if (p->rank == 0) {
        (void)peer_tell(p->to_next, 4096);
        (void)kill(getpid(), SIGKILL);
    }
    if (p->rank == 2)
        return expect(p, "peer_hear", peer_hear(p->from_prev, PEERS_WAIT_MS, &number));
    (void)poll(&gone, 1, PEERS_WAIT_MS);
    return expect(p, "peers_barrier", peers_barrier(p));
}

int main(void)
{
    int status[RANKS];
    if (peers_start(RANKS, rank_main, NULL, status))
        return 2;
    return status[1] != 0 || status[2] != 0;
}
