/* SPDX-License-Identifier: MIT
 * meeting.c: see meeting.h. A rank's kernels come one after the other, so at most one of them waits
 * in each group.
 */
#include "meeting.h"

#include <math.h>

#include "kernel_time.h"

static const struct vgpu_collective *collective_of(const struct op *op)
{
    return &op->u.kernel.launch.collective;
}

bool meeting_is_for(const struct topology *t, const struct op *op)
{
    return op->kind == OP_KERNEL && collective_of(op)->kind != VGPU_NO_COLLECTIVE &&
           t->collective[collective_of(op)->kind].protocols > 0;
}

/* ---- coming ---- */

static uint32_t bit(uint32_t rank)
{
    return 1u << rank;
}

/* `b` is no longer missing for `a`. */
static void note(struct op *a, const struct op *b)
{
    a->clock.meeting.missing &= ~bit(collective_of(b)->rank);
    if (collective_of(a)->to & bit(collective_of(b)->rank))
        a->clock.meeting.to |= bit((uint32_t)b->device);
}

static bool match_ranks(struct op *a, struct op *b)
{
    const struct vgpu_collective *x = collective_of(a), *y = collective_of(b);
    if (x->group != y->group || !(a->clock.meeting.missing & bit(y->rank)) ||
        !(b->clock.meeting.missing & bit(x->rank)))
        return false;
    note(a, b);
    note(b, a);
    return true;
}

/* ---- what it takes ---- */

static uint32_t steps_of(const struct vgpu_collective *c)
{
    uint32_t hops = c->ranks > 1 ? c->ranks - 1 : 0;
    return c->kind == VGPU_ALL_REDUCE ? 2 * hops : c->kind == VGPU_SEND_RECV ? 1 : hops;
}

static double latency_of(const struct collective_protocol *p, const struct vgpu_collective *c)
{
    uint32_t steps = steps_of(c);
    return (double)(p->base_ps + p->step_ps * (steps > 0 ? steps - 1 : 0));
}

/* A rank uses one more channel for each `channel_bytes`. */
static double rate_of(const struct collective_protocol *p, const struct vgpu_collective *c)
{
    double filled = fmin(fmax((double)c->bytes / p->channel_bytes, 1), p->channels);
    return p->bytes_s * filled / p->channels;
}

/* The greatest number of ranks that the protocols to be used were described for. */
static uint32_t described_ranks(const struct collective_cost *cost, uint32_t ranks)
{
    uint32_t least = UINT32_MAX, most = 0;
    for (int i = 0; i < cost->protocols; i++) {
        uint32_t described = cost->protocol[i].ranks;
        most = described > most ? described : most;
        least = described >= ranks && described < least ? described : least;
    }
    return least < UINT32_MAX ? least : most;
}

/* The fastest protocol for so many bytes. */
static const struct collective_protocol *protocol_of(const struct topology *t, const struct op *op)
{
    const struct vgpu_collective *c = collective_of(op);
    const struct collective_cost *cost = &t->collective[c->kind];
    const struct collective_protocol *best = NULL;
    uint32_t ranks = described_ranks(cost, c->ranks);
    double least = 0;
    for (int i = 0; i < cost->protocols; i++) {
        const struct collective_protocol *p = &cost->protocol[i];
        double ps = latency_of(p, c) + (double)c->bytes / (rate_of(p, c) * 1e-12);
        if (p->ranks == ranks && (!best || ps < least)) {
            best = p;
            least = ps;
        }
    }
    return best;
}

static uint64_t meeting_latency(const struct topology *t, const struct op *op)
{
    return whole_of(latency_of(protocol_of(t, op), collective_of(op)));
}

/* ---- meetings ---- */

static void begin(struct meetings *m, struct op *op, uint64_t now_ps)
{
    op->clock.meeting.begun = true;
    event_push(m->events, now_ps + meeting_latency(m->topology, op), op, PHASE_LATENCY);
}

void meetings_come(struct meetings *m, struct op *op, uint64_t now_ps)
{
    const struct vgpu_collective *c = collective_of(op);
    op->clock.meeting.come = true;
    op->clock.meeting.missing = c->peers & ~bit(c->rank);
    for (int i = 0; i < m->waiting.count;) {
        struct op *other = m->waiting.item[i];
        if (!match_ranks(op, other) || other->clock.meeting.missing) {
            i++;
            continue;
        }
        begin(m, other, now_ps);
        op_drop(op_list_take(&m->waiting, i));
    }
    if (op->clock.meeting.missing)
        op_list_add(&m->waiting, op);
    else
        begin(m, op, now_ps);
}

bool meetings_leave(struct meetings *m, uint64_t now_ps)
{
    bool leave = m->waiting.count > 0;
    while (m->waiting.count) {
        struct op *op = op_list_pop(&m->waiting);
        begin(m, op, now_ps);
        op_drop(op);
    }
    return leave;
}

void meeting_send(struct sender *s, struct op *op, uint64_t now_ps)
{
    const struct vgpu_collective *c = collective_of(op);
    double bytes_s = rate_of(protocol_of(s->topology, op), c);
    send_to_gpus(s, op, now_ps, op->clock.meeting.to, c->bytes, bytes_s);
}
