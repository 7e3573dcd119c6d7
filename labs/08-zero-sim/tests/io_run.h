/* SPDX-License-Identifier: MIT
 * io_run.h: what lab 08's tests of the run send to the runner and get back.
 */
#ifndef LAB08_IO_RUN_H
#define LAB08_IO_RUN_H

#include "io.h"

#define IO_RANKS 8
#define IO_RUN_STEPS 12
#define IO_PARAMS 400
#define IO_UNITS 4

struct io_net {
    int inputs, hidden, outputs, batch;
    uint32_t seed;
};

/* zero_place: in a run whose allocations are numbers, all different. */
struct place_in {
    int asked, stage, ranks;
    struct {
        int rank, kind, unit, null; /* null: 1 run, 2 place */
    } q[IO_ASKED];
    uint64_t shard, at[IO_RANKS][ZERO_KINDS][IO_UNITS];
};
struct place_out {
    int rc[IO_ASKED], untouched[IO_ASKED];
    uint64_t whole[IO_ASKED], owned[IO_ASKED];
};

/* zero_memory: operations in their order, each looked at afterwards. */
struct memory_in {
    struct io_net net;
    struct zero_how how;
    int null, full; /* null: 1 run, 2 operation; full: the rank whose GPU is full, or -1 */
    int limited;    /* the rank whose ledgers have room for 1 MiB only; 0: none */
    int turned;     /* each rank gets the GPU that the next rank has after zero_run_open */
    int asked;
    struct zero_op op[8];
};
struct memory_out {
    int opened, rc[8];
    int where[8][IO_RANKS];      /* GPU of the memory; -1 pinned, -2 no memory, -3 another kind */
    uint64_t bytes[8][IO_RANKS]; /* of the memory on a GPU */
    uint64_t held[8][IO_RANKS], host[8][IO_RANKS];
};

/* zero_reduce, zero_gather, zero_bus. What collectives move is sealed (lab_seal), as struct
 * moved_halves, and so is what they give: only GPUs can have added it. What goes over the bus lies
 * in the host's memory: there element i of rank r is io_element(r, i). */
enum moved { MOVED_REDUCE, MOVED_GATHER, MOVED_TO_HOST, MOVED_TO_GPU };
struct move_in {
    struct io_net net;
    struct zero_how how;
    int moved, unit, null, what; /* what: another operation, to be refused; else 0 */
};
struct move_out {
    int opened, started, rc, null_rc[2], wrong_rc;
    int unit_rc;                        /* of a unit that is not there */
    int bus_rc;                         /* without offload: of zero_bus */
    int busy;                           /* right after it: rank 0's stream was not ready */
    uint64_t padded, shard, elements;   /* elements of each rank below */
    uint16_t half[IO_RANKS][IO_PARAMS]; /* of the bus */
};
struct moved_halves {
    uint16_t half[IO_RANKS][IO_PARAMS];
};

/* The same of a unit of 2^31 elements and more, in memory that does not hold it. */
#define LARGE_SHARD (((uint64_t)1 << 31) + 4)
#define LARGE_COPIES 8
struct large_in {
    int moved, stage, ranks;
    int watched; /* collectives do nothing, and zero_copy tells what it is asked */
};
struct large_out {
    int opened, rc;
    int copies, rank[LARGE_COPIES]; /* watched */
    uint64_t bytes[LARGE_COPIES];
    int64_t at[LARGE_COPIES]; /* of the rank's whole gradients or parameters, in bytes */
};

static inline int io_is_collective(int moved)
{
    return moved == MOVED_REDUCE || moved == MOVED_GATHER;
}

/* As fp16: small whole numbers, so that sums are exact. */
static inline float io_element(int rank, int i)
{
    return (float)((rank + 1) * (i % 37) - 5 * rank + i % 3);
}

/* zero_reduce and zero_gather of one large unit in stage 2. Sealed are the gradients of all ranks,
 * and the parameters that each owns; then the sums that each owns, and the parameters of all.
 * naive: an all-reduce, of which each rank keeps its shard. */
struct timed_in {
    struct io_net net;
    int ranks, naive;
};
struct timed_out {
    int opened, started, reduced, gathered, captured, ended;
    uint64_t padded, shard;
    double seconds;
};

/* The whole of it. */
struct train_in {
    struct io_net net;
    struct zero_how how;
    int steps;
    int null;
    uint64_t granule_bytes; /* of the ledger; 0: 512 */
    uint64_t room_bytes;    /* free on every GPU before the first allocation; 0: all there is */
};
struct train_out {
    int opened, predicted, predicted_op; /* what zero_predict says, with room_bytes */
    int started, rc[IO_RUN_STEPS], null_rc, closed_rc, steps, failed; /* closed: a run all zero */
    char name[2][96]; /* of the operations predicted and failed */
    double loss[IO_RUN_STEPS];
    uint64_t params, padded, shard;
    uint64_t most[IO_RANKS], held[IO_RANKS], host_most[IO_RANKS], host_held[IO_RANKS];
    uint64_t others, sent;
    uint64_t resident[IO_RANKS][ZERO_KINDS]; /* booked after the last step */
    uint16_t first_gradient[IO_PARAMS];      /* as reduced in the first step */
    float first_master[IO_PARAMS];           /* after it */
    uint16_t param[IO_PARAMS];               /* after the last */
    float master[IO_PARAMS];
    int rank_differs; /* a rank whose whole parameters are not those of the owners, or -1 */
};

#endif
