/* SPDX-License-Identifier: MIT
 * lab08.h: where the memory goes when a model is trained, and what partitioning it costs. The
 * contract of the functions in zero.c, and what comes with the lab (given.c).
 *
 * Mixed-precision training with Adam keeps 16 bytes for each parameter: the parameter and its
 * gradient in fp16, and in fp32 a master copy, the momentum and the variance. ZeRO cuts them in
 * n parts, one for each rank, stage by stage: 1 the fp32 states, 2 the gradients too, 3 the
 * parameters too.
 *
 * What is communicated at once is a *unit*: some tensors of the model, one behind the other. A unit
 * is padded so that it can be cut in n equal shards; rank r owns shard r.
 *
 * Rules for every function here:
 * - The result is LAB_OK (0) or one of the LAB_E... of lab.h. On an error the outputs keep what
 *   they held (arrays that an output points to may have been written to).
 * - LAB_EINVAL: a null pointer, or an argument that makes no sense.
 * - Counts are of elements, and of anything that ends in _bytes, of bytes.
 */
#ifndef LAB08_H
#define LAB08_H

#include <stdint.h>

#include "lab.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ZERO_MAX_RANKS 16
#define ZERO_NAME_BYTES 32

/* ---- the model ---- */

struct zero_tensor {
    char name[ZERO_NAME_BYTES];
    uint64_t count; /* at least 1 */
    int layer;      /* 0 for the first tensor; the next one's is the same or one more */
};

struct zero_model {
    const struct zero_tensor *tensor;
    int tensors, layers;
    const uint64_t *activation_bytes; /* of each layer, on one rank; NULL: none are counted */
};

/* What is kept. Up to ZERO_VARIANCE from the first step to the last ("resident"); the rest comes
 * and goes within a step. */
enum zero_kind {
    ZERO_PARAM,      /* fp16, 2 bytes an element */
    ZERO_GRAD,       /* fp16 */
    ZERO_MASTER,     /* fp32, 4 bytes */
    ZERO_MOMENTUM,   /* fp32 */
    ZERO_VARIANCE,   /* fp32 */
    ZERO_GATHERED,   /* fp16: all parameters of a unit, where a rank keeps its shard only */
    ZERO_BUCKET,     /* fp16: all gradients of a unit, where a rank keeps its shard only */
    ZERO_ACTIVATION, /* what a layer's backward needs of its forward */
    ZERO_KINDS
};

/* ---- the layout ---- */

struct zero_how {
    int stage, ranks; /* 0 to 3; at least 1 */
    int per_tensor;   /* 1: every tensor is a unit of its own */
    int offload;      /* 1: master, momentum and variance lie in the host's memory */
    uint64_t align;   /* a shard is a multiple of so many elements; at least 1 */
    uint64_t bucket;  /* stages 0 to 2: elements a unit may have; 0: no limit */
};

struct zero_unit {
    int tensor, tensors; /* its first tensor, and how many */
    int first_layer, last_layer;
    uint64_t count;             /* elements without padding */
    uint64_t padded;            /* with padding: a multiple of ranks * align; in stage 0 = count */
    uint64_t shard;             /* what one rank owns of it, padding included; in stage 0 = count */
    uint64_t bytes[ZERO_KINDS]; /* what an allocation of it takes on a rank, of each kind: of the
                                   shard what is cut in this stage, else of all; gathered parameters
                                   and buckets always of all; activations 0 */
};

struct zero_layout {
    struct zero_unit *unit; /* the caller's array, `cap` long; both are set before zero_layout */
    int cap, units;
    struct zero_how how;
    uint64_t params, padded, shard; /* sums over the units: of count, padded, shard */
    uint64_t bytes[ZERO_KINDS];     /* resident in GPU memory, of each kind, on every rank */
    uint64_t host_bytes;            /* resident in the host's memory, on every rank */
};

/* ---- what is allocated ---- */

struct zero_ledger {
    int ranks;              /* set by the caller, as are the next two; the rest starts at zero */
    uint64_t granule_bytes; /* every allocation takes a multiple of it (cudaMalloc: 512) */
    uint64_t limit_bytes;   /* what a rank may hold at once; 0: no limit */
    uint64_t now[ZERO_MAX_RANKS][ZERO_KINDS], peak[ZERO_MAX_RANKS][ZERO_KINDS];
    uint64_t held[ZERO_MAX_RANKS], most[ZERO_MAX_RANKS]; /* all kinds together: now, at most */
};

/* ---- what is done ---- */

enum zero_what {
    ZERO_ALLOC,          /* index: unit (of ZERO_ACTIVATION: layer); kind, bytes, host */
    ZERO_FREE,           /* the same */
    ZERO_FORWARD,        /* index: layer */
    ZERO_BACKWARD,       /* index: layer */
    ZERO_ALL_REDUCE,     /* index: unit; its gradients; bytes of the whole unit */
    ZERO_REDUCE_SCATTER, /* the same, and afterwards each rank has its shard's sum */
    ZERO_ALL_GATHER,     /* index: unit; its parameters; bytes of the whole unit */
    ZERO_UPDATE,         /* index: unit; Adam on what this rank owns of it */
    ZERO_TO_HOST,        /* index: unit; the owned gradients to the host; bytes */
    ZERO_TO_GPU,         /* index: unit; the owned parameters to the GPU; bytes */
};

struct zero_op {
    enum zero_what what;
    enum zero_kind kind; /* of ZERO_ALLOC and ZERO_FREE; else ZERO_KINDS */
    int index;
    int host;       /* of ZERO_ALLOC: 1 in the host's memory */
    uint64_t bytes; /* 0 where nothing is said above */
};

struct zero_schedule {
    struct zero_op *op; /* the caller's array, `cap` long; both are set before zero_schedule */
    int cap, count;
    int step; /* op[0 .. step) once, at the beginning; op[step .. count) is one step */
};

/* ---- what you write, in zero.c: the plan ---- */

/* 1. What rank `rank` of n owns of `count` elements: [*first, *first + *len), without padding.
 * Shards are equally long, a multiple of `align`, and as short as that allows; the elements fill
 * them in the order of the ranks, so that the last ones may be short or empty (*first is `count`
 * then). LAB_EINVAL: n < 1, rank outside 0 .. n - 1, align < 1. LAB_ERANGE: n shards together are
 * more than a uint64_t holds. */
int zero_shard(uint64_t count, int n, int rank, uint64_t align, uint64_t *first, uint64_t *len);

/* 2. Cuts the model into units and says what every rank keeps. Tensors stand in units in the
 * model's order. With how->per_tensor each tensor is a unit; else in stage 3 each layer is one;
 * else a unit has as many tensors as how->bucket allows, and at least one. Stage 0 cuts nothing and
 * pads nothing. Errors: as zero_check says; LAB_ERANGE also when layout->cap is too small, or when
 * 16 bytes for each padded element of all units together are more than a uint64_t holds. */
int zero_layout(const struct zero_model *model, const struct zero_how *how,
                struct zero_layout *layout);

/* 3. Books an allocation of `bytes` bytes (rounded up to the granule), or its end. now, peak, held
 * and most are those of the moment: a peak is the most that was held at one time. The caller may
 * set another limit at any time, below what is held as well. LAB_EINVAL also for 0 bytes, for so
 * many that a uint64_t does not hold them rounded up, for a rank or kind that is not there, for a
 * ledger of more than ZERO_MAX_RANKS ranks or without a granule, and for dropping more than is
 * booked as that kind. LAB_ENOMEM: over the limit; without a limit, more than a uint64_t holds.
 * Nothing is booked then. */
int ledger_add(struct zero_ledger *ledger, int rank, enum zero_kind kind, uint64_t bytes);
int ledger_drop(struct zero_ledger *ledger, int rank, enum zero_kind kind, uint64_t bytes);

/* 4. What each rank does, in order. First every resident allocation: kind by kind as in enum
 * zero_kind, unit by unit. Then one step:
 *   forward, first layer to last;
 *   backward, last to first; the gradients of a unit are reduced as soon as its last missing layer
 *     is through (all-reduce in stage 0, else reduce-scatter), in the order of falling units;
 *   then for each unit, rising: its update; in stages 1 and 2 its all-gather. With how->offload the
 *     owned gradients go to the host before the update, the owned parameters back after it.
 * What comes and goes is allocated right before its first use and freed right after its last:
 * activations from the layer's forward to its backward; in stages 2 and 3 a unit's bucket from the
 * backward of its last layer to its reduction; in stage 3 a unit's parameters, gathered for the
 * layer's forward and once more for its backward. A layer without activation bytes has no
 * allocation of them. LAB_ERANGE: more than s->cap operations. LAB_EINVAL also without s->op. Units
 * behind layout->units hold anything. */
int zero_schedule(const struct zero_model *model, const struct zero_layout *layout,
                  struct zero_schedule *s);

/* 5. Goes through the schedule as rank `rank`, without running it: books in the ledger what it
 * allocates in GPU memory and frees. *failed is the number of the first operation that does not
 * fit under the ledger's limit, and the result LAB_ENOMEM; *failed is -1 when all of them fit. The
 * ledger is left as of that moment. */
int zero_predict(const struct zero_schedule *s, struct zero_ledger *ledger, int rank, int *failed);

struct zero_fit {
    int stage, offload;  /* the first that fits */
    uint64_t peak_bytes; /* with them, of a rank's GPU memory */
};

/* Finds the smallest stage whose schedule fits into `limit_bytes` of GPU memory on each rank,
 * without offload if there is one, else with offload. how->stage and how->offload are not looked
 * at. LAB_ENOMEM: not even stage 3 with offload fits. LAB_EINVAL also for a granule or a limit of
 * 0. What it allocates on the way it frees, on errors as well. */
int zero_fit(const struct zero_model *model, const struct zero_how *how, uint64_t granule_bytes,
             uint64_t limit_bytes, struct zero_fit *fit);

/* ---- comes with the lab (given.c) ---- */

/* LAB_OK when model and how make sense: counts, layers, ranks (any number), stage, align. */
int zero_check(const struct zero_model *model, const struct zero_how *how);

/* A layout and a schedule with arrays that are long enough for any stage of the model. */
struct zero_work {
    struct zero_layout layout;
    struct zero_schedule schedule;
};
int zero_work_open(const struct zero_model *model, struct zero_work *work);
void zero_work_close(struct zero_work *work);

/* Bytes of the states that ZeRO's paper counts: parameters, gradients, fp32 states; on the GPU. */
uint64_t zero_states(const struct zero_layout *layout);

/* Bytes that a rank sends in one step, in a ring: (n - 1) / n of each reduce-scatter and
 * all-gather, twice that of each all-reduce. */
uint64_t zero_traffic(const struct zero_schedule *s, int ranks);

/* What a schedule is written with. Operations beyond s->cap are counted in s->count, not written.
 * zero_put_memory: ZERO_ALLOC or ZERO_FREE of a unit (of ZERO_ACTIVATION: of a layer, and nothing
 * where it has none). zero_put: every other operation. Both fill in bytes and host. */
struct zero_writer {
    const struct zero_model *model;
    const struct zero_layout *layout;
    struct zero_schedule *s;
};
void zero_put_memory(const struct zero_writer *w, enum zero_what what, enum zero_kind kind,
                     int index);
void zero_put(const struct zero_writer *w, enum zero_what what, int index);

/* 1 when what is resident of this kind lies in the host's memory. */
int zero_on_host(const struct zero_how *how, enum zero_kind kind);

const char *zero_kind_name(enum zero_kind kind); /* "momentum" */
const char *zero_what_name(enum zero_what what); /* "all-gather" */

/* "momentum of fc1.weight", "bucket of fc1.weight .. fc2.bias", "activations of layer 1". */
void zero_op_name(const struct zero_model *model, const struct zero_layout *layout,
                  const struct zero_op *op, char *text, int room);

#ifdef __cplusplus
}
#endif
#endif
