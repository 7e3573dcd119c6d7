/* SPDX-License-Identifier: MIT
 * io.h: what lab 05's tests send to the runner and get back. The ranks write into the output
 * themselves: it is memory that the runner shares with them.
 */
#ifndef LAB05_IO_H
#define LAB05_IO_H

#include <stdint.h>

#include "../lab05.h"
#include "refusals.h"

#define IO_ROUNDS 8
#define IO_FILL 0x5A
#define IO_RIM 0xEE

/* ipc_export, ipc_import and ipc_events, in two processes; rank 0 exports */
enum odd { ODD_NONE, ODD_NULL, ODD_ZERO, ODD_HOST, ODD_NO_OUT, ODD_SAME_PROCESS, ODD_STALE };
struct handle_in {
    int odd;
    int last; /* both processes use the last GPU; else the first two */
    uint64_t offset, bytes;
};
struct handle_out {
    int setup, export_rc, export_last, export_untouched, handle_ok;
    int not_met;            /* the message with the handles did not come in time */
    uint64_t offset, bytes; /* of *wire */
    int export_opens;       /* 0: what ipc_export made was opened by the other process */
    int import_rc, import_last, import_untouched, import_bytes_ok, seen, base_closes;
    int seen_again; /* opened once more after it was closed */
    int events_rc, events_null_rc, events_open[2], events_last, events_untouched;
    int status[2];
};
#define IO_VALUE 77

/* the ring: rounds of put and take; then ipc_close. Sealed (lab_seal) are the bytes that each rank
 * puts in each round, at io_at, and then, at the same places, what ring_take left in dst */
struct ring_in {
    int ranks, rounds;
    int die_rank, die_round; /* SIGKILL before its put in that round; rank -1: nobody */
    int more;      /* each rank opens more of the next one's memory at ipc_close's barrier */
    int idle;      /* no rounds: the ring is closed as it was opened */
    int too_large; /* no rounds, but one put of more than the inbox holds */
    int again;     /* it is the second ring over these sockets: another was opened and closed */
    int late;      /* rank 1 comes late to each ring_take */
    int events;    /* ask at ipc_close's barrier whether the others' events are destroyed */
    uint64_t bytes[IO_ROUNDS], room;
};
struct rank_out {
    int earlier_rc; /* of the ring before this one */
    int open_rc, put_rc, take_rc, last, close_rc, cleared;
    int rounds_done;
    uint64_t took;
    int mine_lives, theirs_closed, at_barriers; /* seen as the barrier of ipc_close begins */
    int finished;                               /* the same: nothing is under way any more */
    int open_events[2];                         /* the same: prev_filled, next_drained, if asked */
    int busy;                                   /* when the first ring_put came back */
    int freed;                                  /* after ipc_close: what was mine */
    cudaIpcMemHandle_t more;                    /* of memory that is no inbox */
    int more_lives;                             /* after ipc_close: it is open still */
    double seconds;
    int pid;
};
struct ring_out {
    struct rank_out rank[PEERS_MAX];
    int status[PEERS_MAX];
};

/* Of an inbox. */
static inline uint64_t io_most(const struct ring_in *in)
{
    uint64_t most = in->room;
    for (int i = 0; i < in->rounds; i++)
        most = in->bytes[i] > most ? in->bytes[i] : most;
    return most;
}

static inline uint64_t io_at(const struct ring_in *in, int rank, int round)
{
    return (uint64_t)(rank * in->rounds + round) * io_most(in);
}

/* refusals of ring_put, ring_take, ipc_close without any ring */
struct refuse_out {
    int put_null, put_none, take_null, take_none, close_null, close_none;
};

/* ipc_close of a ring that is nothing but a stream whose work has failed */
struct failed_out {
    int rc, zeroed;
};

/* ring_put and ring_take where something fails; the cases of ring_take begin with LONE_TAKE_GONE */
enum lone_case {
    LONE_PUT_GONE,      /* the next rank has gone before it said that its inbox is drained */
    LONE_PUT_NO_WAIT,   /* CUDA refuses to wait for next_drained */
    LONE_PUT_NO_COPY,   /* CUDA refuses to copy 4 GiB out of a few bytes */
    LONE_PUT_NO_RECORD, /* CUDA refuses to record FILLED */
    LONE_PUT_UNHEARD,   /* the next rank has gone before it is told */
    LONE_TAKE_GONE,
    LONE_TAKE_LARGE, /* the message says 4 GiB and a little, and there is little room */
    LONE_TAKE_NO_WAIT,
    LONE_TAKE_NO_COPY, /* the same message, room for it, and less in the inbox: CUDA refuses */
    LONE_TAKE_NO_RECORD,
    LONE_TAKE_UNHEARD,
    LONE_CASES
};
#define LONE_BYTES 64
#define LONE_FAR (((uint64_t)1 << 31) + 8)
struct lone_in {
    int take, far; /* far: ring_take of a message of LONE_FAR bytes, and nothing else */
};
struct lone_out {
    int rc[LONE_CASES], last[LONE_CASES];
    int told[LONE_CASES], moved[LONE_CASES], counted[LONE_CASES], untouched[LONE_CASES];
    int refused[3], refused_told;
    int far_setup, far_rc;
    uint64_t far_bytes;
};

/* peer_hear on a socket pair */
enum hear {
    HEAR_SAID,
    HEAR_LATE,
    HEAR_LAST,
    HEAR_SILENT,
    HEAR_GONE,
    HEAR_SIGNAL,
    HEAR_NULL,
    HEAR_INTERRUPTED, /* a signal, and then silence */
};
#define LARGE_NUMBER ((uint64_t)5 << 32 | 4711) /* more than an int has room for */
struct hear_in {
    int how, wait_ms;
};
struct hear_out {
    int rc, untouched;
    int left; /* bytes of the message that are still in the socket */
    uint64_t number;
    double seconds;
};

/* "refused": ipc_export, or ipc_events, once for each call of CUDA that it makes, which fails. Told
 * are lab_refusals; what event_drop was given and is no event is told as `wrote` 2. */
struct refused_in {
    int events;
};

#endif
