/* SPDX-License-Identifier: MIT
 * zero.c: who owns what, what is allocated when, and what is sent. Lab 08; the contract of each
 * function is in lab08.h.
 *
 * The plan knows no GPU: it counts. Only what it counts is run afterwards, operation by operation,
 * so that a plan that is wrong cannot run right.
 */
#include "lab08.h"

#include <string.h>

int zero_shard(uint64_t count, int n, int rank, uint64_t align, uint64_t *first, uint64_t *len)
{
    // TODO(1): the elements that one rank owns.  (about 12 lines)
    //   before: count elements, n ranks
    //   after:  shards of the same length, filled in order; the last may be short or empty
    //   use:    count / n rounded up, then up to a multiple of align; look out for overflow
    (void)count, (void)n, (void)rank, (void)align, (void)first, (void)len;
    TODO(1);
}

int zero_layout(const struct zero_model *model, const struct zero_how *how,
                struct zero_layout *layout)
{
    // TODO(2): units, their padding, and what every rank keeps of each kind.  (about 70 lines: a
    //          helper that cuts, one that pads, one that says how much of a kind is kept)
    //   before: layout->unit has room for layout->cap units
    //   after:  the layout is complete; bytes[] is 0 for what comes and goes, and for what lies on
    //           the host
    //   use:    zero_check, zero_on_host; what zero_shard does, once for each unit
    (void)model, (void)how, (void)layout;
    TODO(2);
}

int ledger_add(struct zero_ledger *ledger, int rank, enum zero_kind kind, uint64_t bytes)
{
    // TODO(3): book an allocation.  (about 12 lines)
    //   before: held[rank] is what the rank holds
    //   after:  now and held have grown; peak and most are at least as large; or nothing changed
    //   use:    ledger->granule_bytes, ledger->limit_bytes
    (void)ledger, (void)rank, (void)kind, (void)bytes;
    TODO(3);
}

int ledger_drop(struct zero_ledger *ledger, int rank, enum zero_kind kind, uint64_t bytes)
{
    // TODO(3), second half: book that it ends.  (about 6 lines)
    //   after:  now and held have shrunk by what ledger_add took; peak and most stay
    (void)ledger, (void)rank, (void)kind, (void)bytes;
    TODO(3);
}

int zero_schedule(const struct zero_model *model, const struct zero_layout *layout,
                  struct zero_schedule *s)
{
    // TODO(4): everything that happens, in order.  (about 60 lines: helpers for the
    //          forward and the backward of a layer and for the update of a unit)
    //   before: s->op has room for s->cap operations
    //   after:  s->step and s->count are set; or the array is too small
    //   use:    zero_put, zero_put_memory; the order in lab08.h; first_layer and last_layer
    (void)model, (void)layout, (void)s;
    TODO(4);
}

int zero_predict(const struct zero_schedule *s, struct zero_ledger *ledger, int rank, int *failed)
{
    // TODO(5): run the schedule on paper.  (about 14 lines)
    //   before: the ledger knows limit and granule
    //   after:  *failed is the operation that does not fit, or -1
    //   use:    ledger_add, ledger_drop; what lies on the host takes no GPU memory
    (void)s, (void)ledger, (void)rank, (void)failed;
    TODO(5);
}

int zero_fit(const struct zero_model *model, const struct zero_how *how, uint64_t granule_bytes,
             uint64_t limit_bytes, struct zero_fit *fit)
{
    // TODO(5), second half: the smallest stage that fits.  (about 25 lines)
    //   before: *fit holds anything
    //   after:  the first of stages 0, 1, 2, 3, and then 0, 1, 2, 3 with offload, that fits
    //   use:    zero_work_open, zero_work_close, zero_layout, zero_schedule, zero_predict with a
    //           ledger of one rank
    (void)model, (void)how, (void)granule_bytes, (void)limit_bytes, (void)fit;
    TODO(5);
}
