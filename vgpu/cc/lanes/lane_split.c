/* SPDX-License-Identifier: MIT
 * lane_split.c: loops whose rounds the threads of a block take together. A processor has no vector
 * instruction for `for (k ...) sum += a[k] * b[k * n + x]` as it stands, since the additions of one
 * thread depend on each other. If all threads do round k before one does round k + 1, the threads
 * are the innermost loop, and several of them are one instruction. The kernel is divided at the
 * loop as at a barrier (lane_regions.c).
 *
 * That changes the order of accesses of different threads, and is done only where no two of them
 * can meet: pairs of accesses, one before and one after such a place, at least one of them a store.
 * vgpu-exec compares their ranges before some blocks run.
 */
#include "lane_values.h"

enum { APART_MAX = 64, STRIDE_UNKNOWN = INT32_MAX };

/* ---- how addresses follow threadIdx.x ---- */

static int64_t same_stride(const int64_t *stride, uint16_t a, uint16_t b)
{
    return stride[a] == stride[b] ? stride[a] : STRIDE_UNKNOWN;
}

static int64_t scaled_stride(const struct cc_lane_plan *plan, const int64_t *stride, uint16_t a,
                             uint16_t by, bool shift)
{
    int64_t value = plan->step[by].value;

    if (stride[a] == 0 && stride[by] == 0)
        return 0;
    if (plan->step[by].kind != VGPU_STEP_CONSTANT || stride[a] == STRIDE_UNKNOWN || value < 0 ||
        value > (shift ? 6 : 64))
        return STRIDE_UNKNOWN;
    return shift ? stride[a] << value : stride[a] * value;
}

/* By how much the value grows from one thread to the next: only what pays off depends on it. */
static int64_t stride_of(const struct cc_lane_plan *plan, const int64_t *stride, uint16_t number)
{
    const struct vgpu_step_of_lanes *s = &plan->step[number];
    int64_t other;
    uint16_t used;

    switch ((enum vgpu_step_kind)s->kind) {
    case VGPU_STEP_CONSTANT:
    case VGPU_STEP_ARGUMENT:
        return 0;
    case VGPU_STEP_INDEX:
        return s->value == VGPU_LANE_THREAD;
    case VGPU_STEP_ADD:
    case VGPU_STEP_SUB:
        if (stride[s->a] == STRIDE_UNKNOWN || stride[s->b] == STRIDE_UNKNOWN)
            return STRIDE_UNKNOWN;
        return stride[s->a] + (s->kind == VGPU_STEP_ADD ? stride[s->b] : -stride[s->b]);
    case VGPU_STEP_MUL:
        other = scaled_stride(plan, stride, s->b, s->a, false);
        return other != STRIDE_UNKNOWN ? other : scaled_stride(plan, stride, s->a, s->b, false);
    case VGPU_STEP_SHL:
        return scaled_stride(plan, stride, s->a, s->b, true);
    case VGPU_STEP_ZEXT:
    case VGPU_STEP_SEXT:
    case VGPU_STEP_TRUNC:
    case VGPU_STEP_REFINE:
        return stride[s->a];
    case VGPU_STEP_MERGE:
        return s->a == VGPU_NO_STEP ? stride[s->b] : same_stride(stride, s->a, s->b);
    case VGPU_STEP_SERIES:
        return s->c != VGPU_NO_STEP && stride[s->c] == 0 ? stride[s->a] : STRIDE_UNKNOWN;
    case VGPU_STEP_COUNTED:
        return stride[plan->step[s->b].a];
    default:
        for (unsigned which = 0; which < 3; which++)
            if (cc_uses_step(s, which, &used) && stride[used] != 0)
                return STRIDE_UNKNOWN;
        return s->kind == VGPU_STEP_UNKNOWN ? STRIDE_UNKNOWN : 0;
    }
}

static int64_t *find_strides(const struct cc_lane_plan *plan)
{
    int64_t *stride = cc_alloc((plan->step_count + 1) * sizeof *stride);

    for (size_t i = 0; i < plan->step_count; i++)
        stride[i] = stride_of(plan, stride, (uint16_t)i);
    return stride;
}

/* ---- a loop ---- */

static bool is_inside(const struct cc_planner *p, int header, int block)
{
    while (block != CC_NO_BLOCK && block != header)
        block = p->graph.block[block].header;
    return block == header;
}

static bool has_barrier(const struct cc_planner *p, int block)
{
    LLVMValueRef i = LLVMGetFirstInstruction(p->graph.block[block].block);

    while (i != NULL && cc_meeting_at(i) == CC_MEET_NOT)
        i = LLVMGetNextInstruction(i);
    return i != NULL;
}

static int block_of(const struct cc_planner *p, const struct vgpu_lane_access *access)
{
    return cc_block_number(&p->graph, p->plan->counted[access->counter]);
}

/* All threads leave the loop after the same round. */
static bool ends_together(struct cc_planner *p, int header)
{
    for (int b = header; b < p->graph.count; b++) {
        LLVMValueRef end = p->graph.block[b].terminator;
        if (!is_inside(p, header, b))
            continue;
        for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++) {
            if (is_inside(p, header, cc_block_number(&p->graph, LLVMGetSuccessor(end, s))))
                continue;
            uint16_t step = LLVMGetNumSuccessors(end) == 2
                                ? cc_step_of(p, LLVMGetOperand(end, 0), b)
                                : VGPU_NO_STEP;
            if (step == VGPU_NO_STEP || !cc_is_same_for_all(p->plan, step))
                return false;
        }
    }
    return true;
}

/* An innermost loop that only loads, from places that lie next to each other, or from one. */
static bool is_suitable(struct cc_planner *p, int header, const int64_t *stride)
{
    const struct cc_lane_plan *plan = p->plan;

    if (p->graph.block[header].latch == CC_NO_BLOCK)
        return false;
    for (int b = header; b < p->graph.count; b++)
        if (is_inside(p, header, b) &&
            (has_barrier(p, b) || (b != header && p->graph.block[b].latch != CC_NO_BLOCK)))
            return false;
    for (size_t i = 0; i < plan->access_count; i++) {
        const struct vgpu_lane_access *a = &plan->access[i];
        if (is_inside(p, header, block_of(p, a)) &&
            (a->write || (stride[a->step] != 0 && stride[a->step] != a->bytes)))
            return false;
    }
    return ends_together(p, header);
}

/* ---- what changes places ---- */

/* Marks the blocks that can come before, or after, `block` without a barrier between them. */
static void mark_blocks(const struct cc_planner *p, int block, bool before, bool *seen)
{
    const struct cc_block *b = &p->graph.block[block];

    if (seen[block])
        return;
    seen[block] = true;
    if (has_barrier(p, block))
        return;
    for (int i = 0; i < b->from_count && before; i++)
        mark_blocks(p, b->from[i], before, seen);
    for (unsigned s = 0; s < LLVMGetNumSuccessors(b->terminator) && !before; s++)
        mark_blocks(p, cc_block_number(&p->graph, LLVMGetSuccessor(b->terminator, s)), before,
                    seen);
}

static void keep_apart(struct cc_lane_plan *plan, size_t a, size_t b)
{
    for (size_t i = 0; i < plan->apart_count; i++)
        if (plan->apart[i].a == a && plan->apart[i].b == b)
            return;
    plan->apart =
        cc_grow(plan->apart, plan->apart_count, &plan->apart_capacity, sizeof *plan->apart);
    plan->apart[plan->apart_count++] = (struct vgpu_lane_pair){(uint16_t)a, (uint16_t)b};
}

/* Where the kernel is divided at that block's beginning. False: some access could meet itself, or
 * there are too many pairs. */
static bool find_pairs(struct cc_planner *p, int block)
{
    struct cc_lane_plan *plan = p->plan;
    const struct cc_block *at = &p->graph.block[block];
    bool *before = cc_alloc((size_t)p->graph.count), *after = cc_alloc((size_t)p->graph.count);

    for (int i = 0; i < at->from_count; i++)
        mark_blocks(p, at->from[i], true, before);
    mark_blocks(p, block, false, after);
    for (size_t i = 0; i < plan->access_count; i++)
        for (size_t k = i; k < plan->access_count; k++) {
            int a = block_of(p, &plan->access[i]), b = block_of(p, &plan->access[k]);
            bool passes = (before[a] && after[b]) || (before[b] && after[a]);
            if (!passes || (!plan->access[i].write && !plan->access[k].write))
                continue;
            if (i == k || plan->apart_count == APART_MAX)
                return false;
            keep_apart(plan, i, k);
        }
    return true;
}

static void mark_split(struct cc_planner *p, int block)
{
    struct cc_lane_plan *plan = p->plan;
    LLVMBasicBlockRef at = p->graph.block[block].block;

    for (size_t i = 0; i < plan->split_count; i++)
        if (plan->split[i] == at)
            return;
    plan->split =
        cc_grow(plan->split, plan->split_count, &plan->split_capacity, sizeof *plan->split);
    plan->split[plan->split_count++] = at;
}

/* The blocks behind the loop; there may be some twice. */
static int find_exits(const struct cc_planner *p, int header, int *exit)
{
    int count = 0;

    for (int b = header; b < p->graph.count; b++) {
        LLVMValueRef end = p->graph.block[b].terminator;
        for (unsigned s = 0; s < LLVMGetNumSuccessors(end) && is_inside(p, header, b); s++) {
            int to = cc_block_number(&p->graph, LLVMGetSuccessor(end, s));
            if (!is_inside(p, header, to))
                exit[count++] = to;
        }
    }
    return count;
}

/* Divides it at the loop's start, so in each round, and behind it. */
static void split_loop(struct cc_planner *p, int header)
{
    int *at = cc_alloc((2 * (size_t)p->graph.count + 1) * sizeof *at);
    int count = 1 + find_exits(p, header, at + 1);
    size_t pairs = p->plan->apart_count;
    bool may = true;

    at[0] = header;
    for (int i = 0; i < count && may; i++)
        may = find_pairs(p, at[i]);
    if (!may)
        p->plan->apart_count = pairs;
    for (int i = 0; i < count && may; i++)
        mark_split(p, at[i]);
}

void cc_plan_splits(struct cc_planner *p)
{
    int64_t *stride = find_strides(p->plan);

    for (int b = 0; b < p->graph.count && p->plan->warp_count == 0; b++)
        if (is_suitable(p, b, stride))
            split_loop(p, b);
}
