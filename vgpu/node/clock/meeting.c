/* SPDX-License-Identifier: MIT
 * meeting.c: see meeting.h. A rank's kernels come one after the other, so at most one of them waits
 * in each group.
 */
#include "meeting.h"

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

static bool meet(struct op *a, struct op *b)
{
    const struct vgpu_collective *x = collective_of(a), *y = collective_of(b);
    if (x->group != y->group || !(a->clock.meeting.missing & bit(y->rank)) ||
        !(b->clock.meeting.missing & bit(x->rank)))
        return false;
    note(a, b);
    note(b, a);
    return true;
}

void meeting_come(struct op_list *waiting, struct op *op, struct op_list *begun)
{
    const struct vgpu_collective *c = collective_of(op);
    op->clock.meeting.come = true;
    op->clock.meeting.missing = c->peers & ~bit(c->rank);
    for (int i = 0; i < waiting->count;) {
        struct op *other = waiting->item[i];
        if (!meet(op, other) || other->clock.meeting.missing) {
            i++;
            continue;
        }
        op_list_add(begun, other);
        op_drop(op_list_take(waiting, i));
    }
    op_list_add(op->clock.meeting.missing ? waiting : begun, op);
}

/* ---- what it takes ---- */

static uint32_t steps_of(const struct vgpu_collective *c)
{
    uint32_t sends = (uint32_t)__builtin_popcount(c->to);
    if (c->kind == VGPU_SEND_RECV)
        return sends > 1 ? sends - 1 : 0;
    uint32_t hops = c->ranks > 1 ? c->ranks - 1 : 0;
    return (c->kind == VGPU_ALL_REDUCE ? 2 * hops : hops) - (hops > 0);
}

/* The fastest protocol for so many bytes. */
static int protocol_of(const struct collective_cost *cost, const struct vgpu_collective *c)
{
    int best = 0;
    double least = 0;
    for (int i = 0; i < cost->protocols; i++) {
        double ps = (double)cost->protocol[i].base_ps +
                    (double)cost->protocol[i].step_ps * steps_of(c) +
                    (double)c->bytes / (cost->protocol[i].bytes_s * 1e-12);
        if (i == 0 || ps < least) {
            best = i;
            least = ps;
        }
    }
    return best;
}

uint64_t meeting_latency(const struct topology *t, const struct op *op)
{
    const struct vgpu_collective *c = collective_of(op);
    const struct collective_cost *cost = &t->collective[c->kind];
    int p = protocol_of(cost, c);
    return cost->protocol[p].base_ps + cost->protocol[p].step_ps * steps_of(c);
}

void meeting_send(struct sender *s, struct op *op, uint64_t now_ps)
{
    const struct vgpu_collective *c = collective_of(op);
    const struct collective_cost *cost = &s->topology->collective[c->kind];
    double bytes_s = cost->protocol[protocol_of(cost, c)].bytes_s;
    send_to_gpus(s, op, now_ps, op->clock.meeting.to, c->bytes, bytes_s);
}
