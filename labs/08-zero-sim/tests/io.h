/* SPDX-License-Identifier: MIT
 * io.h: what lab 08's tests send to the runner and get back. One pair of structs an adapter.
 */
#ifndef LAB08_IO_H
#define LAB08_IO_H

#include <stdint.h>

#include "../lab08.h"

#define IO_ASKED 64
#define IO_TENSORS 24
#define IO_LAYERS 12
#define IO_OPS 600
#define IO_STEPS 40
#define IO_FILL 0x5A /* in structs: the call wrote nothing */

/* zero_shard */
struct shard_question {
    uint64_t count, align;
    int n, rank, null; /* null: 1 first, 2 len */
};
struct shard_in {
    int asked;
    struct shard_question q[IO_ASKED];
};
struct shard_out {
    int rc[IO_ASKED], untouched[IO_ASKED];
    uint64_t first[IO_ASKED], len[IO_ASKED];
};

struct io_model {
    int tensors, layers, counted; /* counted: its layers have activations */
    struct zero_tensor tensor[IO_TENSORS];
    uint64_t activation_bytes[IO_LAYERS];
};

/* zero_layout, and zero_schedule of what it gave */
struct plan_in {
    struct io_model model;
    struct zero_how how;
    int cap;  /* of the units (layout), of the operations (schedule); 0: enough */
    int null; /* 1 model, 2 how, 3 layout, 4 the array; schedule: 1 model, 2 layout, 3 schedule, 4
                 the array */
};
struct layout_out {
    int rc, untouched;
    struct zero_layout layout; /* its pointers mean nothing here */
    struct zero_unit unit[IO_TENSORS];
};
struct schedule_out {
    int rc, untouched, laid_out; /* laid_out: what the reference's zero_layout returned */
    struct zero_layout layout;
    struct zero_unit unit[IO_TENSORS];
    int count, step;
    struct zero_op op[IO_OPS];
};

/* Bytes of states for many sizes. */
struct states_question {
    uint64_t params;
    int stage, ranks;
};
struct states_in {
    int asked;
    struct states_question q[IO_ASKED];
};
struct states_out {
    int rc[IO_ASKED];
    uint64_t bytes[IO_ASKED];
};

/* ledger_add, ledger_drop, and another limit */
enum book { BOOK_ADD, BOOK_DROP, BOOK_LIMIT };
struct ledger_step {
    int what, rank, kind; /* what: enum book */
    uint64_t bytes;       /* BOOK_LIMIT: from here on ledger->limit_bytes */
};
struct ledger_in {
    int asked, null, ranks;
    uint64_t granule_bytes, limit_bytes;
    struct ledger_step step[IO_STEPS];
};
struct ledger_out {
    int rc[IO_STEPS];
    struct zero_ledger after[IO_STEPS];
};

/* zero_predict of these operations */
struct predict_in {
    int rank, null; /* null: 1 schedule, 2 ledger, 3 failed */
    uint64_t granule_bytes, limit_bytes;
    int count, step;
    struct zero_op op[IO_OPS];
};
struct predict_out {
    int rc, failed;
    struct zero_ledger ledger;
};

/* zero_fit */
struct fit_question {
    uint64_t granule_bytes, limit_bytes;
    int null; /* 1 model, 2 how, 3 fit */
};
struct fit_in {
    struct io_model model;
    struct zero_how how;
    int asked;
    struct fit_question q[IO_ASKED];
};
struct fit_out {
    int rc[IO_ASKED], untouched[IO_ASKED];
    uint64_t left_bytes; /* allocated by one more round of the same questions, and not freed */
    struct zero_fit fit[IO_ASKED];
};

#endif
