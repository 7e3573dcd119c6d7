/* SPDX-License-Identifier: MIT
 * io.h: what lab 03's tests send to the runner and get back. One pair of structs an adapter.
 *
 * `last` is cudaPeekAtLastError() after the call, `current` is cudaGetDevice() after it.
 */
#ifndef LAB03_IO_H
#define LAB03_IO_H

#include <stdint.h>

#include "../lab03.h"

#define IO_ASKED 64   /* questions in one run, at most: all pairs of 8 GPUs */
#define IO_GUARD 64   /* bytes on either side of every buffer that a copy must not touch */
#define IO_UNSET -77  /* in numbers: the call wrote nothing */
#define IO_FILL 0x5A  /* in structs: the call wrote nothing */
#define IO_RIM 0xEE   /* what every destination holds before the copy */
#define IO_STALE 0xDD /* what every source holds before its pattern is put there */

/* copy_path */
struct path_in {
    int asked, null;
    int dst[IO_ASKED], src[IO_ASKED];
};
struct path_out {
    int rc[IO_ASKED], path[IO_ASKED], last[IO_ASKED];
};

/* Copies by one of the functions, queued back to back in a non-blocking stream of src_dev between
 * uploads of the sources before and uploads of other bytes into the sources after. Nothing waits
 * but the last line of it. The pattern of source i is bytes [at, at + size[i]) of the blob that
 * follows the struct, `at` being the sum of the sizes before; the other bytes are its complement.
 * The output's blob holds every destination with its guards. */
enum move { MOVE_PEER, MOVE_STAGE, MOVE_P2P };
struct moves_in {
    int move, asked;
    int dst_dev, src_dev, current; /* current: GPU of the calling thread */
    int streams;                   /* 1, or 2 in turn */
    int null_stream;               /* instead: the default stream of src_dev */
    int no_stage;                  /* MOVE_P2P: a null stage */
    int ahead; /* a long upload is queued first, in the last copy's stream: it is still under way
                  when all calls have been made, unless one of them waited */
    uint64_t chunk;
    uint64_t size[IO_ASKED];
};
struct moves_out {
    int setup; /* 0: the adapter's own calls worked */
    int rc[IO_ASKED], taken[IO_ASKED];
    int busy; /* cudaStreamQuery said "not ready" right after the last call */
    int last, current;
};

/* Calls that must be refused: pointers and numbers that do not fit. */
enum refusal {
    REFUSE_NULL_DST,
    REFUSE_NULL_SRC,
    REFUSE_HOST_DST,
    REFUSE_HOST_SRC,
    REFUSE_SWAPPED,  /* the two device numbers; stages: a stage the other way round */
    REFUSE_NO_DST,   /* dst_dev is nobody's; stages: a null stage */
    REFUSE_NO_SRC,   /* src_dev is -1; stages: a stage that is all zero */
    REFUSE_NO_TAKEN, /* p2p_copy: taken is null */
    REFUSALS
};
struct refuse_in {
    int move, dst_dev, src_dev;
    uint64_t bytes; /* that the calls name */
};
struct refuse_out {
    int rc[REFUSALS], last[REFUSALS], taken[REFUSALS], current;
    int changed; /* bytes of the destination that are not what they were */
};

/* One copy between buffers of `bytes` bytes, in a stream that fills the source before it and with
 * other bytes after it; none of the adapter's own calls is one that a copy makes. */
enum lone { LONE_USUAL, LONE_NO_POINTERS, LONE_OTHER_DST, LONE_OTHER_SRC };
struct lone_in {
    int move, dst_dev, src_dev;
    int how;               /* enum lone; OTHER: a stage for another GPU than dst_dev, src_dev */
    int stage_is_zero;     /* instead of the stage, one that is all zero */
    int again;             /* once more, after the caller has turned peer access off */
    uint64_t bytes, chunk; /* of the buffers and of the stage */
    uint64_t claimed,
        claimed_chunk; /* what the call and the stage name instead; chunk 0: the same */
};
struct lone_out {
    int setup, rc, taken, last, current;
    int wrong;     /* bytes of the destination that the source did not hold when its turn came */
    int peer_left; /* peer access from src_dev to dst_dev was on after it */
    int again_rc, again_taken, again_left; /* again: the same of the second copy */
};

/* stage_copy_async of more than 2 GiB. */
struct huge_in {
    int dst_dev, src_dev;
};
struct huge_out {
    int setup, rc;
    int wrong[3]; /* bytes of the first piece, of those behind 2 GiB, and of the guard behind them
                   */
};

/* stage_copy_async of that many bytes, queued and not waited for. */
struct queued_in {
    int dst_dev, src_dev;
    uint64_t bytes, chunk;
};
enum { QUEUED_NO_MEMORY = 2 }; /* setup: the machine has no pinned memory for two chunks */

struct queued_out {
    int setup, rc;
};

/* stage_create and stage_destroy */
enum belongs { OF_DOWN, OF_UP, OF_BEGIN, OF_FILLED, OF_DRAINED = OF_FILLED + 2 };
struct stage_in {
    int dst_dev, src_dev, current, null, times;
    int busy; /* dst_dev's default stream is at work meanwhile */
    uint64_t chunk;
};
struct stage_out {
    int create, destroy, again; /* results; again: destroying it once more */
    int last, current;          /* after the creation */
    int destroy_current;        /* after the destruction */
    int destroy_last;
    int untouched;       /* *stage is as before the creation */
    int numbers;         /* dst_dev, src_dev and chunk_bytes are those asked for */
    int pinned[2];       /* the host buffers */
    int non_blocking[2]; /* down, up */
    int of_its_gpu[7];   /* enum belongs: 0 when it is of the GPU it should be of */
    int complete;        /* streams, events and buffers are all there */
    int apart, timed;    /* two host buffers; an event that takes the time */
    int waits;           /* busy: an event of the new stage comes after that work */
    int cleared;         /* *stage is all zero after the destruction */
};

/* How long things take, by events, in milliseconds. Ways not asked for are -1. */
enum way {
    WAY_DRIVER = 1,
    WAY_HOPS = 2,
    WAY_SERIAL = 4,
    WAY_PAGEABLE = 8,
    WAY_STAGE = 16,
    WAY_P2P = 32
};
struct speed_in {
    int dst_dev, src_dev, repeat, ways;
    int rounds; /* WAY_SERIAL, WAY_STAGE: so many copies back to back are one */
    uint64_t bytes, chunk;
};
struct speed_out {
    int rc, taken;
    double down, up;                /* the two hops alone, pinned, in one piece */
    double serial, serial_pageable; /* down then up */
    double stage;                   /* stage_copy_async */
    double driver;                  /* cudaMemcpyPeerAsync with peer access off */
    double p2p;                     /* p2p_copy */
};

/* Sealed bytes to src_dev, from there to dst_dev, and back; naive: down, and then up. */
struct timed_in {
    int dst_dev, src_dev, naive;
    uint64_t bytes, chunk; /* chunk: of the stage */
};
struct timed_out {
    int setup, rc, taken;
    double seconds;
};

struct measure_in {
    int asked, null, current;
    int from[IO_ASKED], to[IO_ASKED], both[IO_ASKED];
    uint64_t bytes[IO_ASKED];
    int peer_before; /* peer access from -> to is on before already */
};
struct measure_out {
    int rc[IO_ASKED], last[IO_ASKED], current[IO_ASKED];
    struct bw bw[IO_ASKED];
    int peer_after; /* with peer_before: it still is */
};

#define IO_PAIRS 64
struct matrix_in {
    int n, null;
    int again;         /* so often once more, to see what is left allocated */
    int no_memory;     /* the first request for memory of the host fails */
    int singles_first; /* before, so that what CUDA allocates for itself is there already */
    uint64_t bytes;
};
struct matrix_out {
    int rc, last, current;
    int refused;         /* memory of the host was asked for, and there was none */
    uint64_t left_bytes; /* allocated by all those calls (singles_first: by the first one), and
                            not freed */
    double gbs[IO_PAIRS + 1], single[IO_PAIRS]; /* single: p2p_measure of each pair */
};

struct half_in {
    int points, null;
    struct bw curve[IO_ASKED];
};
struct half_out {
    int rc;
    uint64_t half;
};

#endif
