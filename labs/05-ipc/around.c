/* SPDX-License-Identifier: MIT
 * around.c: a number goes once around a ring of processes, each adding its rank. The program of
 * lab 05.
 *
 *     around 4                4 processes that it starts itself
 *     mpirun -n 4 around      4 processes that mpirun started
 */
#include <stdio.h>
#include <stdlib.h>

#include "lab05.h"

static int step(struct ring *ring, int *word, int value, int sending)
{
    size_t bytes;
    int rc = LAB_OK;
    if (sending)
        rc = ipc_result(cudaMemcpy(word, &value, sizeof value, cudaMemcpyHostToDevice));
    if (sending && !rc)
        rc = ring_put(ring, word, sizeof value);
    if (!sending)
        rc = ring_take(ring, word, sizeof value, &bytes);
    return rc ? rc : ipc_result(cudaStreamSynchronize(ring->stream));
}

/* Rank 0 begins and ends; the others take, add and put. */
static int pass_on(struct peers *p, struct ring *ring, int *word)
{
    int value = 0, rc = p->rank == 0 ? step(ring, word, 1000, 1) : LAB_OK;
    if (!rc)
        rc = step(ring, word, 0, 0);
    if (!rc)
        rc = ipc_result(cudaMemcpy(&value, word, sizeof value, cudaMemcpyDeviceToHost));
    if (!rc && p->rank > 0)
        rc = step(ring, word, value + p->rank, 1);
    if (!rc)
        printf("rank %d of %d took %d\n", p->rank, p->size, value);
    return rc;
}

static int rank_main(struct peers *p, void *unused)
{
    struct ring ring;
    int *word = NULL, closed;
    int rc = ring_open(&ring, p, 4096);
    (void)unused;
    if (!rc) {
        if (!(rc = ipc_result(cudaMalloc((void **)&word, sizeof *word))))
            rc = pass_on(p, &ring, word);
        closed = ipc_close(&ring);
        rc = rc ? rc : closed;
        (void)cudaFree(word);
    }
    if (rc)
        fprintf(stderr, "rank %d: %s (%d)\n", p->rank, ipc_sentence(rc), rc);
    fflush(stdout);
    return rc ? 1 : 0;
}

static int start(int n)
{
    int status[PEERS_MAX], bad = 0;
    if (peers_start(n, rank_main, NULL, status))
        return 2;
    for (int i = 0; i < n; i++)
        bad |= status[i] != 0;
    return bad;
}

int main(int argc, char **argv)
{
    struct peers p;
    int ranks = argc == 2 ? atoi(argv[1]) : 0;
    if (ranks > 0)
        return start(ranks);
    if (argc > 1 || peers_join(&p)) {
        fprintf(stderr,
                "usage: %s RANKS, or mpirun -n RANKS %s\n"
                "A number goes once around a ring of processes; each adds its rank.\n",
                argv[0], argv[0]);
        return 2;
    }
    int bad = rank_main(&p, NULL);
    peers_leave(&p);
    return bad;
}
