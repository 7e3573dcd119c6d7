/* SPDX-License-Identifier: MIT
 * lane_steps.c: the list of steps of a kernel's fast form (lanes.h).
 */
#include <string.h>

#include "lane_values.h"

static bool is_same(const struct vgpu_step_of_lanes *a, const struct vgpu_step_of_lanes *b)
{
    return a->kind == b->kind && a->bits == b->bits && a->a == b->a && a->b == b->b &&
           a->c == b->c && a->value == b->value;
}

bool cc_is_unknown(const struct cc_lane_plan *plan, uint16_t step)
{
    return plan->step[step].kind == VGPU_STEP_UNKNOWN;
}

bool cc_uses_step(const struct vgpu_step_of_lanes *step, unsigned which, uint16_t *used)
{
    *used = which == 0 ? step->a : which == 1 ? step->b : step->c;
    return (vgpu_step_operands(step) >> which & 1) != 0 && *used != VGPU_NO_STEP;
}

/* Marks the steps from which a step is computed, transitively. */
static void find_sources(const struct cc_lane_plan *plan, uint16_t step, bool *found)
{
    uint16_t used;

    memset(found, 0, (size_t)step + 1);
    found[step] = true;
    for (size_t i = (size_t)step + 1; i-- > 0;)
        for (unsigned which = 0; which < 3 && found[i]; which++)
            if (cc_uses_step(&plan->step[i], which, &used))
                found[used] = true;
}

bool cc_depends_on_unknown(const struct cc_lane_plan *plan, uint16_t step)
{
    bool *found = cc_alloc((size_t)step + 1);

    find_sources(plan, step, found);
    for (uint16_t i = 0; i <= step; i++)
        if (found[i] && cc_is_unknown(plan, i))
            return true;
    return false;
}

bool cc_varies_by_block(const struct cc_lane_plan *plan, uint16_t step)
{
    bool *found = cc_alloc((size_t)step + 1), thread = false, block = false;

    find_sources(plan, step, found);
    for (uint16_t i = 0; i <= step; i++) {
        bool index = found[i] && plan->step[i].kind == VGPU_STEP_INDEX;
        if (found[i] && cc_is_unknown(plan, i))
            return false;
        thread |= index && plan->step[i].value < VGPU_LANE_BLOCK;
        block |= index && plan->step[i].value >= VGPU_LANE_BLOCK &&
                 plan->step[i].value < VGPU_LANE_BLOCK_DIM;
    }
    return block || !thread;
}

/* ---- values that are the same in all threads of a block ---- */

/* Of a place where ways meet, which one a thread has come by counts, too. */
static bool is_uniform_step(const struct cc_lane_plan *plan, const bool *same, uint16_t number)
{
    const struct vgpu_step_of_lanes *s = &plan->step[number];
    uint16_t used;

    if (s->kind == VGPU_STEP_UNKNOWN || (s->kind == VGPU_STEP_INDEX && s->value < VGPU_LANE_BLOCK))
        return false;
    if (s->kind == VGPU_STEP_REFINE)
        return same[s->a];
    if (s->kind == VGPU_STEP_MERGE && s->a == VGPU_NO_STEP)
        return same[s->b];
    for (unsigned which = 0; which < 3; which++)
        if (cc_uses_step(s, which, &used) && !same[used])
            return false;
    return true;
}

bool cc_is_same_for_all(const struct cc_lane_plan *plan, uint16_t step)
{
    bool *same = cc_alloc((size_t)step + 1);

    for (uint16_t i = 0; i <= step; i++)
        same[i] = is_uniform_step(plan, same, i);
    return same[step];
}

/* ---- the list ---- */

/* Whether the step has an operand that can be any number, and can itself still be any number. */
static bool spreads_unknown(const struct cc_lane_plan *plan, const struct vgpu_step_of_lanes *step)
{
    uint16_t used;

    switch (step->kind) {
    case VGPU_STEP_ZEXT:
    case VGPU_STEP_SEXT:
        return cc_is_unknown(plan, step->a) && plan->step[step->a].bits >= 32;
    case VGPU_STEP_ADD:
    case VGPU_STEP_SUB:
    case VGPU_STEP_MUL:
    case VGPU_STEP_SHL:
    case VGPU_STEP_OR:
    case VGPU_STEP_XOR:
    case VGPU_STEP_TRUNC:
        for (unsigned which = 0; which < 2; which++)
            if (cc_uses_step(step, which, &used) && cc_is_unknown(plan, used))
                return step->bits > 1;
        return false;
    default:
        return false;
    }
}

uint16_t cc_add_step(struct cc_lane_plan *plan, struct vgpu_step_of_lanes step)
{
    if (spreads_unknown(plan, &step))
        step = (struct vgpu_step_of_lanes){.kind = VGPU_STEP_UNKNOWN, .bits = step.bits};
    for (size_t i = plan->step_count; i-- > 0;)
        if (is_same(&plan->step[i], &step))
            return (uint16_t)i;
    if (plan->step_count >= VGPU_LANE_STEPS) /* the kernel will be refused as too large */
        return 0;
    plan->step = cc_grow(plan->step, plan->step_count, &plan->step_capacity, sizeof step);
    plan->step[plan->step_count] = step;
    return (uint16_t)plan->step_count++;
}

uint16_t cc_constant_step(struct cc_lane_plan *plan, int64_t value, unsigned bits)
{
    return cc_add_step(plan, (struct vgpu_step_of_lanes){.kind = VGPU_STEP_CONSTANT,
                                                         .bits = (uint8_t)bits,
                                                         .value = value});
}

/* ---- of values ---- */

static uint8_t type_bits(struct cc_lowering *l, LLVMTypeRef type)
{
    unsigned long long bits = 0;

    if (LLVMGetTypeKind(type) == LLVM_TYPE_POINTER)
        bits = 64;
    else if (LLVMGetTypeKind(type) == LLVM_TYPE_INTEGER)
        bits = LLVMSizeOfTypeInBits(l->layout, type);
    return bits <= 64 ? (uint8_t)bits : 0;
}

uint8_t cc_step_bits(struct cc_lowering *l, LLVMValueRef value)
{
    return type_bits(l, LLVMTypeOf(value));
}

uint16_t cc_unknown_step(struct cc_planner *p, LLVMValueRef value)
{
    return cc_add_step(p->plan, (struct vgpu_step_of_lanes){.kind = VGPU_STEP_UNKNOWN,
                                                            .bits = cc_step_bits(p->l, value)});
}

/* ---- the end ---- */

static void renumber(uint16_t *step, const uint16_t *number)
{
    if (*step != VGPU_NO_STEP)
        *step = number[*step];
}

static void renumber_users(struct cc_lane_plan *plan, const uint16_t *number)
{
    for (size_t i = 0; i < plan->demand_count; i++) {
        renumber(&plan->demand[i].step, number);
        renumber(&plan->demand[i].place, number);
    }
    for (size_t i = 0; i < plan->access_count; i++) {
        renumber(&plan->access[i].step, number);
        renumber(&plan->access[i].place, number);
    }
}

static void mark_needed(const struct cc_lane_plan *plan, bool *needed)
{
    uint16_t used;

    for (size_t i = 0; i < plan->demand_count; i++)
        needed[plan->demand[i].step] = needed[plan->demand[i].place] = true;
    for (size_t i = 0; i < plan->access_count; i++)
        needed[plan->access[i].step] = needed[plan->access[i].place] = true;
    for (size_t i = plan->step_count; i-- > 0;)
        for (unsigned which = 0; which < 3 && needed[i]; which++)
            if (cc_uses_step(&plan->step[i], which, &used))
                needed[used] = true;
}

void cc_drop_steps(struct cc_lane_plan *plan)
{
    bool *needed = cc_alloc(plan->step_count + 1);
    uint16_t *number = cc_alloc((plan->step_count + 1) * sizeof *number), used, count = 0;

    memset(needed, 0, plan->step_count + 1);
    mark_needed(plan, needed);
    for (size_t i = 0; i < plan->step_count; i++) {
        struct vgpu_step_of_lanes step = plan->step[i];
        number[i] = count;
        if (!needed[i])
            continue;
        for (unsigned which = 0; which < 3; which++)
            if (cc_uses_step(&step, which, &used))
                *(which == 0 ? &step.a : which == 1 ? &step.b : &step.c) = number[used];
        plan->step[count++] = step;
    }
    plan->step_count = count;
    renumber_users(plan, number);
}
