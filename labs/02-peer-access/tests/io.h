/* SPDX-License-Identifier: MIT
 * io.h: what the tests and the adapters of lab 02 tell each other. Arrays of these structures go
 * in and come out, so that one process answers many questions.
 */
#ifndef LAB02_IO_H
#define LAB02_IO_H

#include "lab02.h"
#include "refusals.h"

#define SQUARE (PEER_MAX_GPUS * PEER_MAX_GPUS)
#define DOT_ROOM 65536
#define UNTOUCHED 0x77 /* every byte of an output that a function must not write on an error */

struct outcome {
    int32_t rc;
    int32_t error;   /* cudaPeekAtLastError() after the call */
    int32_t current; /* the current device after it; -1 without a GPU */
};

/* "facts": what plain CUDA calls answer, without any of the lab's functions. */
struct facts_out {
    int32_t gpus;
    struct peer_attr attr[SQUARE];
};

/* "matrix" */
struct matrix_in {
    int32_t current, n, no_table;
};
struct matrix_out {
    struct outcome call;
    uint8_t can[SQUARE];
};

/* "attrs" */
struct attrs_in {
    int32_t current, from, to, no_attr;
};
struct attrs_out {
    struct outcome call;
    struct peer_attr attr;
};

/* "enable": switch `pre` on by hand, peer_enable, switch `off` off by hand, peer_disable twice. */
#define PRE_MAX 8
#define LIST_MAX (PEER_MAX_GPUS + 2)
struct enable_in {
    int32_t current, n, no_list, no_undo;
    int32_t gpu[LIST_MAX];
    int32_t pre_count, off_count;
    struct peer_pair pre[PRE_MAX], off[PRE_MAX];
};
struct enable_out {
    struct outcome enable, disable, again;
    struct peer_undo undo;                           /* after peer_enable */
    int32_t left;                                    /* undo.count after peer_disable */
    uint8_t on_enabled[SQUARE], on_disabled[SQUARE]; /* which directions are on */
};

/* "disable_bad" */
struct disable_in {
    int32_t no_undo, count;
};

/* "disable_rest": 0 -> 1 and 1 -> 0 are on, and between them stands a GPU that is not there. */
struct rest_out {
    struct outcome call;
    int32_t left;  /* undo.count after it */
    int32_t on[2]; /* 0 -> 1 and 1 -> 0 */
};

/* "classify" */
struct class_in {
    int32_t no_attr, no_kind;
    struct peer_attr attr;
};
struct class_out {
    int32_t rc;
    int32_t kind;
};

/* "probe" */
struct probe_in {
    int32_t current, from, to, no_works;
    int32_t pre; /* 1: from -> to is on before the call */
};
struct probe_out {
    struct outcome call;
    int32_t works;
    uint8_t on_before[SQUARE], on_after[SQUARE];
};

/* "dot" */
enum dot_stream { DOT_MEMORY, DOT_MISSING, DOT_TINY, DOT_READ_ONLY };
struct dot_in {
    int32_t n, no_attr, stream;
    struct peer_attr attr[SQUARE];
};
struct dot_out {
    int32_t rc;
    int32_t bytes;
    int32_t closed; /* 1: by the function, which had no business to */
    char text[DOT_ROOM];
};

/* "refused": the function of this TODO for GPUs 0 and 1, once for each call of CUDA that it makes,
 * which fails. Told are lab_refusals. */
struct refused_in {
    int32_t todo, current;
};

#endif
