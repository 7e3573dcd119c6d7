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

// BEGIN SOLUTION
/* The length of a shard, padding included. 0: n of them are more than a uint64_t holds. */
static uint64_t shard_of(uint64_t count, int n, uint64_t align)
{
    uint64_t parts = (uint64_t)n, each = count / parts + (count % parts != 0);
    uint64_t missing = (align - each % align) % align;
    if (each > UINT64_MAX - missing || each + missing > UINT64_MAX / parts)
        return 0;
    return each + missing;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

// END SOLUTION
int zero_shard(uint64_t count, int n, int rank, uint64_t align, uint64_t *first, uint64_t *len)
{
    if (n < 1 || rank < 0 || rank >= n || align < 1 || !first || !len)
        return LAB_EINVAL;
    // TODO(1): the elements that one rank owns.  (about 18 lines)
    //   before: count elements, n ranks
    //   after:  shards of the same length, filled in order; the last may be short or empty
    //   use:    count / n rounded up, then up to a multiple of align; look out for overflow
    // BEGIN SOLUTION
    uint64_t each = shard_of(count, n, align);
    if (each == 0 && count > 0)
        return LAB_ERANGE;
    *first = smaller((uint64_t)rank * each, count);
    *len = smaller(each, count - *first);
    return LAB_OK;
    // END SOLUTION
    // STUB: (void)count;
    // STUB: TODO(1);
}

// BEGIN SOLUTION
/* Does tensor t go into the unit that ends before it? */
static int joins(const struct zero_model *model, const struct zero_how *how,
                 const struct zero_unit *unit, int t)
{
    const struct zero_tensor *tensor = &model->tensor[t];
    if (how->per_tensor)
        return 0;
    if (how->stage == 3)
        return tensor->layer == unit->last_layer;
    return how->bucket == 0 ||
           (unit->count <= how->bucket && tensor->count <= how->bucket - unit->count);
}

/* Cuts the model into units, not yet padded. */
static int cut(const struct zero_model *model, struct zero_layout *layout)
{
    for (int t = 0; t < model->tensors; t++) {
        const struct zero_tensor *tensor = &model->tensor[t];
        struct zero_unit *unit = t > 0 ? &layout->unit[layout->units - 1] : NULL;
        if (!unit || !joins(model, &layout->how, unit, t)) {
            if (layout->units == layout->cap)
                return LAB_ERANGE;
            unit = &layout->unit[layout->units++];
            *unit = (struct zero_unit){.tensor = t, .first_layer = tensor->layer};
        }
        if (tensor->count > UINT64_MAX - unit->count)
            return LAB_ERANGE;
        unit->count += tensor->count;
        unit->tensors++;
        unit->last_layer = tensor->layer;
    }
    return LAB_OK;
}

/* The bytes of a unit's kind on one rank: of the shard once the stage cuts that kind. */
static uint64_t kept(const struct zero_how *how, enum zero_kind kind, const struct zero_unit *unit)
{
    switch (kind) {
    case ZERO_PARAM:
        return 2 * (how->stage >= 3 ? unit->shard : unit->padded);
    case ZERO_GRAD:
        return 2 * (how->stage >= 2 ? unit->shard : unit->padded);
    case ZERO_MASTER:
    case ZERO_MOMENTUM:
    case ZERO_VARIANCE:
        return 4 * (how->stage >= 1 ? unit->shard : unit->padded);
    case ZERO_GATHERED:
    case ZERO_BUCKET:
        return 2 * unit->padded;
    default:
        return 0;
    }
}

/* Pads a unit and adds it to the layout. */
static int pad(struct zero_layout *layout, struct zero_unit *unit)
{
    const struct zero_how *how = &layout->how;
    unit->padded = unit->shard = unit->count;
    if (how->stage > 0) {
        unit->shard = shard_of(unit->count, how->ranks, how->align);
        unit->padded = unit->shard * (uint64_t)how->ranks;
    }
    if (unit->padded == 0 || unit->padded > UINT64_MAX / 16 - layout->padded)
        return LAB_ERANGE;
    layout->params += unit->count;
    layout->padded += unit->padded;
    layout->shard += unit->shard;
    for (enum zero_kind kind = ZERO_PARAM; kind < ZERO_KINDS; kind++) {
        unit->bytes[kind] = kept(how, kind, unit);
        if (zero_on_host(how, kind))
            layout->host_bytes += unit->bytes[kind];
        else if (kind <= ZERO_VARIANCE)
            layout->bytes[kind] += unit->bytes[kind];
    }
    return LAB_OK;
}

// END SOLUTION
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
    // BEGIN SOLUTION
    struct zero_layout made = {.unit = layout->unit, .cap = layout->cap, .how = *how};
    if ((rc = cut(model, &made)))
        return rc;
    for (int u = 0; u < made.units && !rc; u++)
        rc = pad(&made, &made.unit[u]);
    if (rc)
        return rc;
    *layout = made;
    return LAB_OK;
    // END SOLUTION
    // STUB: TODO(2);
}

/* Given: whether the ledger has no account of this rank and kind. */
static int no_account(const struct zero_ledger *l, int rank, enum zero_kind kind)
{
    return !l || l->granule_bytes < 1 || l->ranks > ZERO_MAX_RANKS || rank < 0 ||
           rank >= l->ranks || (int)kind < 0 || kind >= ZERO_KINDS;
}

// BEGIN SOLUTION
/* What an allocation takes; of no bytes 0. A sum that overflows is less than a granule: 0, too. */
static uint64_t taken(const struct zero_ledger *l, uint64_t bytes)
{
    return (bytes + l->granule_bytes - 1) / l->granule_bytes * l->granule_bytes;
}

static void raise_to(uint64_t *most, uint64_t value)
{
    if (value > *most)
        *most = value;
}

// END SOLUTION
int ledger_add(struct zero_ledger *ledger, int rank, enum zero_kind kind, uint64_t bytes)
{
    if (no_account(ledger, rank, kind))
        return LAB_EINVAL;
    // TODO(3): book an allocation.  (about 21 lines)
    //   before: held[rank] is what the rank holds
    //   after:  now and held have grown; peak and most are at least as large; or nothing changed
    //   use:    ledger->granule_bytes, ledger->limit_bytes
    // BEGIN SOLUTION
    uint64_t bytes_taken = taken(ledger, bytes);
    if (bytes_taken == 0)
        return LAB_EINVAL;
    uint64_t most = ledger->limit_bytes ? ledger->limit_bytes : UINT64_MAX;
    if (ledger->held[rank] > most || bytes_taken > most - ledger->held[rank])
        return LAB_ENOMEM;
    ledger->now[rank][kind] += bytes_taken;
    ledger->held[rank] += bytes_taken;
    raise_to(&ledger->peak[rank][kind], ledger->now[rank][kind]);
    raise_to(&ledger->most[rank], ledger->held[rank]);
    return LAB_OK;
    // END SOLUTION
    // STUB: (void)bytes;
    // STUB: TODO(3);
}

int ledger_drop(struct zero_ledger *ledger, int rank, enum zero_kind kind, uint64_t bytes)
{
    if (no_account(ledger, rank, kind))
        return LAB_EINVAL;
    // TODO(3), second half: book that it ends.  (about 6 lines)
    //   after:  now and held have shrunk by what ledger_add took; peak and most stay
    // BEGIN SOLUTION
    uint64_t bytes_taken = taken(ledger, bytes);
    if (bytes_taken == 0 || bytes_taken > ledger->now[rank][kind])
        return LAB_EINVAL;
    ledger->now[rank][kind] -= bytes_taken;
    ledger->held[rank] -= bytes_taken;
    return LAB_OK;
    // END SOLUTION
    // STUB: (void)bytes;
    // STUB: TODO(3);
}

// BEGIN SOLUTION
/* Stage 3: the layer's parameters, before its use and after it. */
static void gather(const struct zero_writer *w, int layer)
{
    for (int u = 0; u < w->layout->units; u++) {
        if (w->layout->how.stage < 3 || w->layout->unit[u].first_layer != layer)
            continue;
        zero_put_memory(w, ZERO_ALLOC, ZERO_GATHERED, u);
        zero_put(w, ZERO_ALL_GATHER, u);
    }
}

static void release(const struct zero_writer *w, int layer)
{
    for (int u = 0; u < w->layout->units; u++)
        if (w->layout->how.stage == 3 && w->layout->unit[u].first_layer == layer)
            zero_put_memory(w, ZERO_FREE, ZERO_GATHERED, u);
}

static void forward(const struct zero_writer *w, int layer)
{
    gather(w, layer);
    zero_put_memory(w, ZERO_ALLOC, ZERO_ACTIVATION, layer);
    zero_put(w, ZERO_FORWARD, layer);
    release(w, layer);
}

static void backward(const struct zero_writer *w, int layer)
{
    const struct zero_layout *layout = w->layout;
    int stage = layout->how.stage;
    gather(w, layer);
    for (int u = layout->units - 1; u >= 0 && stage >= 2; u--)
        if (layout->unit[u].last_layer == layer)
            zero_put_memory(w, ZERO_ALLOC, ZERO_BUCKET, u);
    zero_put(w, ZERO_BACKWARD, layer);
    release(w, layer);
    zero_put_memory(w, ZERO_FREE, ZERO_ACTIVATION, layer);
    for (int u = layout->units - 1; u >= 0; u--) {
        if (layout->unit[u].first_layer != layer)
            continue; // a unit is complete when its first layer is through
        zero_put(w, stage == 0 ? ZERO_ALL_REDUCE : ZERO_REDUCE_SCATTER, u);
        if (stage >= 2)
            zero_put_memory(w, ZERO_FREE, ZERO_BUCKET, u);
    }
}

static void update(const struct zero_writer *w, int unit)
{
    const struct zero_how *how = &w->layout->how;
    if (how->offload)
        zero_put(w, ZERO_TO_HOST, unit);
    zero_put(w, ZERO_UPDATE, unit);
    if (how->offload)
        zero_put(w, ZERO_TO_GPU, unit);
    if (how->stage == 1 || how->stage == 2)
        zero_put(w, ZERO_ALL_GATHER, unit);
}

// END SOLUTION
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
    // BEGIN SOLUTION
    struct zero_schedule made = {.op = s->op, .cap = s->cap};
    struct zero_writer w = {model, layout, &made};
    for (enum zero_kind kind = ZERO_PARAM; kind <= ZERO_VARIANCE; kind++)
        for (int u = 0; u < layout->units; u++)
            zero_put_memory(&w, ZERO_ALLOC, kind, u);
    made.step = made.count;
    for (int layer = 0; layer < model->layers; layer++)
        forward(&w, layer);
    for (int layer = model->layers - 1; layer >= 0; layer--)
        backward(&w, layer);
    for (int u = 0; u < layout->units; u++)
        update(&w, u);
    if (made.count > made.cap)
        return LAB_ERANGE;
    *s = made;
    return LAB_OK;
    // END SOLUTION
    // STUB: TODO(4);
}

int zero_predict(const struct zero_schedule *s, struct zero_ledger *ledger, int rank, int *failed)
{
    if (!s || !ledger || !failed)
        return LAB_EINVAL;
    // TODO(5): run the schedule on paper.  (about 13 lines)
    //   before: the ledger knows limit and granule
    //   after:  *failed is the operation that does not fit, or -1
    //   use:    ledger_add, ledger_drop; what lies on the host takes no GPU memory
    // BEGIN SOLUTION
    int rc = LAB_OK;
    for (int i = 0; i < s->count; i++) {
        const struct zero_op *op = &s->op[i];
        if (op->what == ZERO_ALLOC && !op->host)
            rc = ledger_add(ledger, rank, op->kind, op->bytes);
        else if (op->what == ZERO_FREE && !op->host)
            rc = ledger_drop(ledger, rank, op->kind, op->bytes);
        if (rc == LAB_ENOMEM)
            *failed = i;
        if (rc)
            return rc;
    }
    *failed = -1;
    return LAB_OK;
    // END SOLUTION
    // STUB: (void)rank;
    // STUB: TODO(5);
}

// BEGIN SOLUTION
/* The peak of one rank with how->stage and how->offload; LAB_ENOMEM when it is over the limit. */
static int try_stage(const struct zero_model *model, const struct zero_how *how,
                     struct zero_work *work, struct zero_ledger *ledger)
{
    int failed, rc = zero_layout(model, how, &work->layout);
    if (!rc)
        rc = zero_schedule(model, &work->layout, &work->schedule);
    return rc ? rc : zero_predict(&work->schedule, ledger, 0, &failed);
}

// END SOLUTION
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
    // BEGIN SOLUTION
    struct zero_work work;
    struct zero_how tried;
    int rc;
    if ((rc = zero_work_open(model, &work)))
        return rc;
    tried = *how;
    for (int i = 0; i < 8; i++) {
        struct zero_ledger ledger = {
            .ranks = 1, .granule_bytes = granule_bytes, .limit_bytes = limit_bytes};
        tried.stage = i % 4;
        tried.offload = i / 4;
        if ((rc = try_stage(model, &tried, &work, &ledger)) == LAB_OK)
            *fit = (struct zero_fit){tried.stage, tried.offload, ledger.most[0]};
        if (rc != LAB_ENOMEM)
            break;
    }
    zero_work_close(&work);
    return rc;
    // END SOLUTION
    // STUB: (void)model;
    // STUB: TODO(5);
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
    // BEGIN SOLUTION
    void *const(*at)[ZERO_TENSORS] = run->rank[rank].at;
    int stage = run->work.layout.how.stage, cut_at = kind == ZERO_PARAM ? 3 : 2;
    enum zero_kind gathered = kind == ZERO_PARAM ? ZERO_GATHERED : ZERO_BUCKET;
    char *kept = at[kind][unit];
    *place = (struct zero_place){.whole = kept, .owned = kept};
    if (stage >= cut_at)
        place->whole = at[gathered][unit];
    else if (stage >= 1 && kept)
        place->owned = kept + 2 * run->work.layout.unit[unit].shard * (uint64_t)rank;
    return LAB_OK;
    // END SOLUTION
    // STUB: TODO(6);
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

// BEGIN SOLUTION
static int allocate_one(struct zero_run *run, int rank, const struct zero_op *op)
{
    void **at = &run->rank[rank].at[op->kind][op->index], *made = NULL;
    int rc = ring_result(cudaSetDevice(run->rank[rank].gpu));
    if (!rc)
        rc = ring_result(op->host ? cudaHostAlloc(&made, op->bytes, cudaHostAllocPortable)
                                  : cudaMalloc(&made, op->bytes));
    if (!rc)
        rc = ledger_add(op->host ? &run->host : &run->gpu, rank, op->kind, op->bytes);
    if (rc) // nothing was made, or the ledger has a limit of its own
        (void)ring_result(op->host ? cudaFreeHost(made) : cudaFree(made));
    else
        *at = made;
    return rc;
}

// END SOLUTION
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
    // BEGIN SOLUTION
    int rc = LAB_OK;
    for (int r = 0; r < run->ring.n && !rc; r++) {
        rc = allocate_one(run, r, op);
        for (int back = r - 1; back >= 0 && rc; back--)
            (void)free_one(run, back, op);
    }
    return rc;
    // END SOLUTION
    // STUB: TODO(6);
}

// BEGIN SOLUTION
/* Stages 2 and 3: the rank's shard of the bucket is what stays. */
static int keep_own(const struct zero_run *run, int unit)
{
    uint64_t bytes = 2 * run->work.layout.unit[unit].shard;
    struct zero_place grad;
    int rc = LAB_OK;
    for (int r = 0; r < run->ring.n && !rc; r++)
        if (!(rc = zero_place(run, r, ZERO_GRAD, unit, &grad)))
            rc = zero_copy(run, r, grad.owned, (char *)grad.whole + bytes * (uint64_t)r, bytes);
    return rc;
}

// END SOLUTION
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
    // BEGIN SOLUTION
    void *whole[RING_RANKS];
    int rc;
    if ((rc = zero_wholes(run, ZERO_GRAD, op->index, whole)))
        return rc;
    uint64_t count = run->work.layout.unit[op->index].padded;
    if (op->what == ZERO_ALL_REDUCE)
        return ring_all_reduce(&run->ring, whole, whole, count, RING_FLOAT16, RING_SUM);
    rc = ring_reduce_scatter(&run->ring, whole, count, RING_FLOAT16, RING_SUM);
    if (!rc && run->work.layout.how.stage >= 2)
        rc = keep_own(run, op->index);
    return rc;
    // END SOLUTION
    // STUB: TODO(6);
}

int zero_step(struct zero_run *run)
{
    if (!run || !run->work.schedule.op)
        return LAB_EINVAL;
    // TODO(6): one step, operation by operation.  (about 10 lines)
    //   before: zero_run_start is through, and run->steps steps
    //   after:  run->steps is one more; or run->failed is the operation that failed
    //   use:    op[step .. count) of run->work.schedule; zero_perform
    // BEGIN SOLUTION
    const struct zero_schedule *s = &run->work.schedule;
    for (int i = s->step; i < s->count; i++) {
        int rc = zero_perform(run, &s->op[i]);
        if (rc) {
            run->failed = i;
            return rc;
        }
    }
    run->steps++;
    return LAB_OK;
    // END SOLUTION
    // STUB: TODO(6);
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
    // BEGIN SOLUTION
    void *whole[RING_RANKS];
    struct zero_place param;
    int rc;
    if ((rc = zero_wholes(run, ZERO_PARAM, op->index, whole)))
        return rc;
    const struct zero_unit *unit = &run->work.layout.unit[op->index];
    uint64_t bytes = 2 * unit->shard;
    for (int r = 0; r < run->ring.n && !rc && run->work.layout.how.stage == 3; r++)
        if (!(rc = zero_place(run, r, ZERO_PARAM, op->index, &param)))
            rc = zero_copy(run, r, (char *)whole[r] + bytes * (uint64_t)r, param.owned, bytes);
    return rc ? rc : ring_all_gather(&run->ring, whole, unit->padded, RING_FLOAT16);
    // END SOLUTION
    // STUB: TODO(7);
}

int zero_bus(struct zero_run *run, const struct zero_op *op)
{
    if (!run || !op || (op->what != ZERO_TO_HOST && op->what != ZERO_TO_GPU) ||
        !run->work.layout.how.offload)
        return LAB_EINVAL;
    // TODO(7), second half: over PCIe and back.  (about 10 lines)
    //   after:  halves[unit] holds the owned gradients; or the owned parameters what is in it
    //   use:    zero_place, zero_copy (asynchronous, since the memory is pinned)
    // BEGIN SOLUTION
    int rc = LAB_OK, down = op->what == ZERO_TO_GPU;
    for (int r = 0; r < run->ring.n && !rc; r++) {
        struct zero_place place;
        void *host = run->rank[r].halves[op->index];
        if ((rc = zero_place(run, r, down ? ZERO_PARAM : ZERO_GRAD, op->index, &place)))
            return rc;
        rc = down ? zero_copy(run, r, place.owned, host, op->bytes)
                  : zero_copy(run, r, host, place.owned, op->bytes);
    }
    return rc;
    // END SOLUTION
    // STUB: TODO(7);
}
