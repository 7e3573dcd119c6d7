/* SPDX-License-Identifier: MIT
 * zero.c: who owns what, what is allocated when, and what is sent; and then all of it, done. Lab
 * 08; the contract of each function is in lab08.h (the plan, TODO 1 to 5) and run.h (the run, 6 and
 * 7).
 *
 * The plan knows no GPU: it counts. Only what it counts is run afterwards, operation by operation,
 * so that a plan that is wrong cannot run right.
 */
#include "lab08.h"

#include "run.h"

int zero_shard(uint64_t count, int n, int rank, uint64_t align, uint64_t *first, uint64_t *len)
{
    if (n < 1 || rank < 0 || rank >= n || align < 1 || !first || !len)
        return LAB_EINVAL;
    // TODO(1): the elements that one rank owns.  (about 18 lines)
    //   before: count elements, n ranks
    //   after:  shards of the same length, filled in order; the last may be short or empty
    //   use:    count / n rounded up, then up to a multiple of align; look out for overflow
    (void)count;
    TODO(1);
}

int zero_layout(const struct zero_model *model, const struct zero_how *how,
                struct zero_layout *layout)
{
    int rc = zero_check(model, how);
    if (rc || !layout || !layout->unit)
        return rc ? rc : LAB_EINVAL;
    // TODO(2): units, their padding, and what every rank keeps of each kind.  (about 80 lines: a
    //          helper that cuts, one that pads, one that says how much of a kind is kept)
    //   before: layout->unit has room for layout->cap units
    //   after:  the layout is complete; bytes[] is 0 for what comes and goes, and for what lies on
    //           the host
    //   use:    zero_on_host; what zero_shard does, once for each unit
    TODO(2);
}

/* Given: whether the ledger has no account of this rank and kind. */
static int no_account(const struct zero_ledger *l, int rank, enum zero_kind kind)
{
    return !l || l->granule_bytes < 1 || l->ranks > ZERO_MAX_RANKS || rank < 0 ||
           rank >= l->ranks || (int)kind < 0 || kind >= ZERO_KINDS;
}

int ledger_add(struct zero_ledger *ledger, int rank, enum zero_kind kind, uint64_t bytes)
{
    if (no_account(ledger, rank, kind))
        return LAB_EINVAL;
    // TODO(3): book an allocation.  (about 21 lines)
    //   before: held[rank] is what the rank holds
    //   after:  now and held have grown; peak and most are at least as large; or nothing changed
    //   use:    ledger->granule_bytes, ledger->limit_bytes
    (void)bytes;
    TODO(3);
}

int ledger_drop(struct zero_ledger *ledger, int rank, enum zero_kind kind, uint64_t bytes)
{
    if (no_account(ledger, rank, kind))
        return LAB_EINVAL;
    // TODO(3), second half: book that it ends.  (about 6 lines)
    //   after:  now and held have shrunk by what ledger_add took; peak and most stay
    (void)bytes;
    TODO(3);
}

int zero_schedule(const struct zero_model *model, const struct zero_layout *layout,
                  struct zero_schedule *s)
{
    if (!model || !layout || !s || !s->op)
        return LAB_EINVAL;
    // TODO(4): everything that happens, in order.  (about 68 lines: helpers for the
    //          forward and the backward of a layer and for the update of a unit)
    //   before: s->op has room for s->cap operations
    //   after:  s->step and s->count are set; or the array is too small
    //   use:    zero_put, zero_put_memory; the order in lab08.h; first_layer and last_layer
    TODO(4);
}

int zero_predict(const struct zero_schedule *s, struct zero_ledger *ledger, int rank, int *failed)
{
    if (!s || !ledger || !failed)
        return LAB_EINVAL;
    // TODO(5): run the schedule on paper.  (about 13 lines)
    //   before: the ledger knows limit and granule
    //   after:  *failed is the operation that does not fit, or -1
    //   use:    ledger_add, ledger_drop; what lies on the host takes no GPU memory
    (void)rank;
    TODO(5);
}

int zero_fit(const struct zero_model *model, const struct zero_how *how, uint64_t granule_bytes,
             uint64_t limit_bytes, struct zero_fit *fit)
{
    if (!how || !fit || granule_bytes < 1 || limit_bytes < 1)
        return LAB_EINVAL;
    // TODO(5), second half: the smallest stage that fits.  (about 24 lines)
    //   before: *fit holds anything
    //   after:  the first of stages 0, 1, 2, 3, and then 0, 1, 2, 3 with offload, that fits
    //   use:    zero_work_open, zero_work_close, zero_layout, zero_schedule, zero_predict with a
    //           ledger of one rank
    (void)model;
    TODO(5);
}

int zero_place(const struct zero_run *run, int rank, enum zero_kind kind, int unit,
               struct zero_place *place)
{
    if (!run || !place || rank < 0 || rank >= run->ring.n || unit < 0 ||
        unit >= run->work.layout.units || (kind != ZERO_PARAM && kind != ZERO_GRAD))
        return LAB_EINVAL;
    // TODO(6): where parameters and gradients are.  (about 10 lines)
    //   before: *place holds anything
    //   after:  whole: where all of the unit is, or NULL; owned: where this rank's shard is
    //   use:    run->rank[rank].at; which stage cuts what: lab08.h
    TODO(6);
}

/* Given: frees one rank's allocation and books it. */
static int free_one(struct zero_run *run, int rank, const struct zero_op *op)
{
    void **at = &run->rank[rank].at[op->kind][op->index];
    int host = zero_on_host(&run->work.layout.how, op->kind);
    int rc = ring_result(host ? cudaFreeHost(*at) : cudaFree(*at));
    *at = NULL;
    return rc ? rc : ledger_drop(host ? &run->host : &run->gpu, rank, op->kind, op->bytes);
}

/* Given: a ZERO_FREE on every rank, up to the first that fails. */
static int free_all(struct zero_run *run, const struct zero_op *op)
{
    int rc = LAB_OK;
    for (int r = 0; r < run->ring.n && !rc; r++)
        rc = free_one(run, r, op);
    return rc;
}

int zero_memory(struct zero_run *run, const struct zero_op *op)
{
    if (!run || !op || (op->what != ZERO_ALLOC && op->what != ZERO_FREE))
        return LAB_EINVAL;
    if (op->what == ZERO_FREE)
        return free_all(run, op);
    // TODO(6): allocate on every rank, and book it.  (about 22 lines: a helper for one rank)
    //   before: at[kind][index] is NULL on every rank
    //   after:  it is what the operation says; when one rank has no room, it is NULL everywhere
    //   use:    cudaSetDevice, cudaMalloc, cudaFree, cudaHostAlloc (portable: all GPUs read it),
    //           cudaFreeHost, ring_result, ledger_add, free_one
    TODO(6);
}

int zero_reduce(struct zero_run *run, const struct zero_op *op)
{
    if (!run || !op || (op->what != ZERO_ALL_REDUCE && op->what != ZERO_REDUCE_SCATTER))
        return LAB_EINVAL;
    // TODO(6): gradients become sums.  (about 23 lines with a helper)
    //   before: the whole gradients of the unit are there, on every rank its own
    //   after:  the owned ones are sums over all ranks
    //   use:    zero_wholes, ring_all_reduce, ring_reduce_scatter with RING_FLOAT16 and the unit's
    //           padded elements; chunk r of the ring is shard r; in stages 2 and 3 zero_copy the
    //           shard out of the bucket
    TODO(6);
}

int zero_step(struct zero_run *run)
{
    if (!run || !run->work.schedule.op)
        return LAB_EINVAL;
    // TODO(6): one step, operation by operation.  (about 10 lines)
    //   before: zero_run_start is through, and run->steps steps
    //   after:  run->steps is one more; or run->failed is the operation that failed
    //   use:    op[step .. count) of run->work.schedule; zero_perform
    TODO(6);
}

int zero_gather(struct zero_run *run, const struct zero_op *op)
{
    if (!run || !op || op->what != ZERO_ALL_GATHER)
        return LAB_EINVAL;
    // TODO(7): parameters become whole.  (about 11 lines)
    //   before: every rank's owned parameters of the unit are there
    //   after:  the whole ones are complete on every rank
    //   use:    zero_wholes, ring_all_gather; in stage 3 first zero_copy the owned ones to their
    //           place in the whole
    TODO(7);
}

int zero_bus(struct zero_run *run, const struct zero_op *op)
{
    if (!run || !op || (op->what != ZERO_TO_HOST && op->what != ZERO_TO_GPU) ||
        !run->work.layout.how.offload)
        return LAB_EINVAL;
    // TODO(7), second half: over PCIe and back.  (about 10 lines)
    //   after:  halves[unit] holds the owned gradients; or the owned parameters what is in it
    //   use:    zero_place, zero_copy (asynchronous, since the memory is pinned)
    TODO(7);
}
