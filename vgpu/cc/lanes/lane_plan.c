/* SPDX-License-Identifier: MIT
 * lane_plan.c: analyses a kernel: can its threads run in loops, and which steps compute the ranges
 * of its accesses (lanes.h)? It visits the blocks in order; every integer and pointer gets a step,
 * once its operands have theirs.
 */
#include <string.h>

#include "lane_values.h"

static const char too_large[] = "it is too large";

/* ---- reachability of blocks ---- */

/* The step for whether successor `which` of the block can be taken. */
static uint16_t edge_step(struct cc_planner *p, int from, unsigned which)
{
    const struct cc_block *b = &p->graph.block[from];
    uint16_t condition = VGPU_NO_STEP;

    if (LLVMGetNumSuccessors(b->terminator) == 2 &&
        LLVMGetSuccessor(b->terminator, 0) != LLVMGetSuccessor(b->terminator, 1))
        condition = cc_step_of(p, LLVMGetOperand(b->terminator, 0), from);
    if (condition == VGPU_NO_STEP || cc_is_unknown(p->plan, condition))
        return p->place[from];
    return cc_add_step(p->plan, (struct vgpu_step_of_lanes){.kind = VGPU_STEP_EDGE,
                                                            .bits = 1,
                                                            .a = p->place[from],
                                                            .b = condition,
                                                            .value = which == 0});
}

static uint16_t edge_between(struct cc_planner *p, int from, int to)
{
    LLVMValueRef end = p->graph.block[from].terminator;

    return edge_step(p, from, LLVMGetSuccessor(end, 0) == p->graph.block[to].block ? 0 : 1);
}

static void find_place(struct cc_planner *p, int number)
{
    const struct cc_block *b = &p->graph.block[number];

    if (number == 0) {
        p->place[0] = cc_constant_step(p->plan, 1, 1);
        return;
    }
    p->place[number] = VGPU_NO_STEP;
    for (int i = 0; i < b->from_count; i++) {
        if (b->from[i] == b->latch)
            continue;
        uint16_t edge = edge_between(p, b->from[i], number);
        p->place[number] =
            p->place[number] == VGPU_NO_STEP
                ? edge
                : cc_add_step(p->plan, (struct vgpu_step_of_lanes){.kind = VGPU_STEP_EITHER,
                                                                   .bits = 1,
                                                                   .a = p->place[number],
                                                                   .b = edge});
    }
}

/* ---- refinement of values where a condition holds ---- */

static void bind_refined(struct cc_planner *p, int number, LLVMValueRef compare, int how)
{
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef value = LLVMGetOperand(compare, i);
        uint16_t step = cc_step_of(p, value, number);
        if (step == VGPU_NO_STEP || LLVMIsAConstant(value) != NULL)
            continue;
        uint16_t refined = cc_refined_step(p, value, step, compare, how, number);
        if (refined != step)
            cc_bind_value(p, number, value, refined);
    }
}

static void find_refinements(struct cc_planner *p, int number)
{
    const struct cc_block *b = &p->graph.block[number];

    p->known[number] = number == 0 ? NULL : p->known[b->dominator];
    if (b->from_count != 1)
        return;
    LLVMValueRef end = p->graph.block[b->from[0]].terminator;
    if (LLVMGetNumSuccessors(end) != 2 || LLVMGetSuccessor(end, 0) == LLVMGetSuccessor(end, 1))
        return;
    struct cc_comparisons implied = {0};
    cc_find_implied(LLVMGetOperand(end, 0), LLVMGetSuccessor(end, 0) == b->block, &implied);
    for (int i = 0; i < implied.count; i++)
        bind_refined(p, number, implied.compare[i], implied.how[i]);
}

/* ---- phis ---- */

/* Reads of one index come to be merged with each other: behind barriers it is read again. */
static uint16_t merged_index(struct cc_planner *p, LLVMValueRef phi)
{
    int index = -1;

    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMValueRef value = LLVMGetIncomingValue(phi, i);
        int read =
            LLVMIsAInstruction(value) != NULL && LLVMGetInstructionOpcode(value) == LLVM_OP_LOAD
                ? cc_index_read(p->l, value)
                : -1;
        if (read < 0 || (index >= 0 && read != index))
            return VGPU_NO_STEP;
        index = read;
    }
    return cc_add_step(
        p->plan, (struct vgpu_step_of_lanes){.kind = VGPU_STEP_INDEX, .bits = 32, .value = index});
}

/* What the phi can be by the ways into the block, but for the one `without`. */
static uint16_t merged_step(struct cc_planner *p, int number, LLVMValueRef phi, int without)
{
    struct vgpu_step_of_lanes step = {.kind = VGPU_STEP_MERGE, .bits = cc_step_bits(p->l, phi)};
    uint16_t found = VGPU_NO_STEP;

    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        int from = cc_block_number(&p->graph, LLVMGetIncomingBlock(phi, i));
        if (from == without)
            continue;
        step.a = found;
        step.b = cc_step_of(p, LLVMGetIncomingValue(phi, i), from);
        step.c = edge_between(p, from, number);
        if (step.b == VGPU_NO_STEP)
            return cc_unknown_step(p, phi);
        found = cc_add_step(p->plan, step);
    }
    return found == VGPU_NO_STEP ? cc_unknown_step(p, phi) : found;
}

/* ---- loops ---- */

/* `a` NONE: nothing yet. */
static uint16_t sum_of(struct cc_planner *p, uint16_t a, uint16_t b, unsigned bits)
{
    struct vgpu_step_of_lanes step = {.kind = VGPU_STEP_ADD, .bits = (uint8_t)bits, .a = a, .b = b};

    return a == VGPU_NO_STEP ? b : cc_add_step(p->plan, step);
}

/* Which operand of the addition leads back to the phi; -1: neither. */
static int towards(LLVMValueRef next, LLVMValueRef phi)
{
    LLVMValueRef left = LLVMGetOperand(next, 0), right = LLVMGetOperand(next, 1);

    if (right == phi)
        return 1;
    if (left == phi || LLVMIsAConstantInt(right) != NULL)
        return 0;
    for (int i = 0; i < 2; i++) { /* of a loop that was unrolled: phi + a + a + a */
        LLVMValueRef from = LLVMIsAInstruction(LLVMGetOperand(next, (unsigned)i));
        for (int depth = 0; depth < 16 && from != NULL; depth++) {
            if (LLVMGetInstructionOpcode(from) != LLVM_OP_ADD)
                break;
            if (LLVMGetOperand(from, 0) == phi || LLVMGetOperand(from, 1) == phi)
                return i;
            from = LLVMIsAInstruction(LLVMGetOperand(from, 0));
        }
    }
    return -1;
}

/* If `next` is `phi` plus numbers: the step of their sum. */
static uint16_t added_step(struct cc_planner *p, int header, LLVMValueRef next, LLVMValueRef phi)
{
    unsigned bits = cc_step_bits(p->l, phi);
    uint16_t sum = VGPU_NO_STEP, one;
    int64_t number = 0;

    for (int depth = 0; depth < 64 && LLVMIsAInstruction(next) != NULL; depth++) {
        int op = LLVMGetInstructionOpcode(next);
        if (op == LLVM_OP_GEP && LLVMGetOperand(next, 0) == phi && depth == 0)
            return cc_offset_step(p, next, header);
        int way = op == LLVM_OP_ADD ? towards(next, phi) : -1;
        if (way < 0)
            break;
        LLVMValueRef by = LLVMGetOperand(next, (unsigned)!way);
        if (LLVMIsAConstantInt(by) != NULL) {
            if (__builtin_add_overflow(number, LLVMConstIntGetSExtValue(by), &number))
                break;
        } else if ((one = cc_step_of(p, by, header)) != VGPU_NO_STEP) {
            sum = sum_of(p, sum, one, bits);
        } else {
            break;
        }
        next = LLVMGetOperand(next, (unsigned)way);
        if (next == phi)
            return number == 0 && sum != VGPU_NO_STEP
                       ? sum
                       : sum_of(p, sum, cc_constant_step(p->plan, number, bits), bits);
    }
    return VGPU_NO_STEP;
}

/* `next` is `phi` shifted by a number: that number's step, and which way. */
static uint16_t shifted_step(struct cc_planner *p, LLVMValueRef next, LLVMValueRef phi, int *way)
{
    int op = LLVMIsAInstruction(next) != NULL ? LLVMGetInstructionOpcode(next) : 0;
    LLVMValueRef by = op == LLVM_OP_LSHR || op == LLVM_OP_ASHR || op == LLVM_OP_SHL
                          ? LLVMIsAConstantInt(LLVMGetOperand(next, 1))
                          : NULL;

    if (by == NULL || LLVMGetOperand(next, 0) != phi)
        return VGPU_NO_STEP;
    *way = op == LLVM_OP_SHL ? VGPU_LOOP_DOUBLES : VGPU_LOOP_HALVES;
    return cc_constant_step(p->plan, LLVMConstIntGetSExtValue(by), cc_step_bits(p->l, phi));
}

static LLVMValueRef incoming_from(const struct cc_planner *p, LLVMValueRef phi, int from)
{
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
        if (LLVMGetIncomingBlock(phi, i) == p->graph.block[from].block)
            return LLVMGetIncomingValue(phi, i);
    return NULL;
}

/* The numbers that `next` becomes while the loop goes on do not turn over: TRIPS is 0 otherwise
 * (lane_trips.c). Of a loop that counts in constants LLVM knows as much without that. */
static void note_growth(struct cc_planner *p, LLVMValueRef next, LLVMValueRef phi, int how)
{
    struct cc_lane_plan *plan = p->plan;
    LLVMValueRef sum = LLVMIsAInstruction(next);

    if (how == VGPU_EQ || how == VGPU_NE || sum == NULL ||
        LLVMGetInstructionOpcode(sum) != LLVM_OP_ADD ||
        (LLVMGetOperand(sum, 0) != phi && LLVMGetOperand(sum, 1) != phi) ||
        LLVMIsAConstantInt(LLVMGetOperand(sum, LLVMGetOperand(sum, 0) == phi ? 1 : 0)) != NULL)
        return;
    plan->grows = cc_grow(plan->grows, plan->grows_count, &plan->grows_capacity, sizeof sum);
    plan->grows[plan->grows_count++] = sum;
}

/* The loop's TRIPS, from the condition `left how right` under which it continues; *counted: the phi
 * in the condition. */
static uint16_t trips_by(struct cc_planner *p, int header, LLVMValueRef left, int how,
                         LLVMValueRef right, LLVMValueRef *counted)
{
    const struct cc_block *b = &p->graph.block[header];

    for (LLVMValueRef phi = LLVMGetFirstInstruction(b->block);
         phi != NULL && LLVMIsAPHINode(phi) != NULL; phi = LLVMGetNextInstruction(phi)) {
        LLVMValueRef next = incoming_from(p, phi, b->latch);
        if ((left != phi && left != next) || cc_step_bits(p->l, phi) == 0)
            continue;
        struct vgpu_step_of_lanes step = {.kind = VGPU_STEP_TRIPS,
                                          .bits = cc_step_bits(p->l, phi),
                                          .a = merged_step(p, header, phi, b->latch),
                                          .b = cc_step_of(p, right, header),
                                          .c = added_step(p, header, next, phi),
                                          .value = how | (left == phi ? VGPU_LOOP_OLD : 0)};
        int way = 0;
        if (step.c == VGPU_NO_STEP)
            step.c = shifted_step(p, next, phi, &way);
        step.value |= way;
        if (step.b == VGPU_NO_STEP || step.c == VGPU_NO_STEP || cc_is_unknown(p->plan, step.a) ||
            cc_is_unknown(p->plan, step.b) ||
            (how == VGPU_NE && cc_depends_on_unknown(p->plan, step.b))) /* it may vary */
            continue;
        *counted = phi;
        note_growth(p, next, phi, how);
        return cc_add_step(p->plan, step);
    }
    return VGPU_NO_STEP;
}

static bool is_in_loop(const struct cc_planner *p, int header, int block)
{
    for (; block != CC_NO_BLOCK; block = p->graph.block[block].header)
        if (block == header)
            return true;
    return false;
}

/* From the conditions under which the block continues the loop. */
static uint16_t trips_at(struct cc_planner *p, int header, int exit, LLVMValueRef *counted)
{
    LLVMValueRef end = p->graph.block[exit].terminator;
    struct cc_comparisons implied = {0};
    uint16_t trips = VGPU_NO_STEP;

    if (LLVMGetNumSuccessors(end) != 2)
        return VGPU_NO_STEP;
    bool stays[2];
    for (unsigned i = 0; i < 2; i++)
        stays[i] = is_in_loop(p, header, cc_block_number(&p->graph, LLVMGetSuccessor(end, i)));
    if (stays[0] == stays[1])
        return VGPU_NO_STEP;
    cc_find_implied(LLVMGetOperand(end, 0), stays[0], &implied);
    for (int i = 0; i < implied.count && trips == VGPU_NO_STEP; i++) {
        LLVMValueRef left = LLVMGetOperand(implied.compare[i], 0),
                     right = LLVMGetOperand(implied.compare[i], 1);
        trips = trips_by(p, header, left, implied.how[i], right, counted);
        if (trips == VGPU_NO_STEP)
            trips = trips_by(p, header, right, cc_mirrored(implied.how[i]), left, counted);
    }
    return trips;
}

/* From a block that every iteration passes: the last one with a usable condition. */
static uint16_t find_trips(struct cc_planner *p, int header, LLVMValueRef *counted)
{
    uint16_t trips = VGPU_NO_STEP;

    for (int at = p->graph.block[header].latch; trips == VGPU_NO_STEP && at >= header;
         at = p->graph.block[at].dominator) {
        trips = trips_at(p, header, at, counted);
        if (at == header)
            break;
    }
    return trips;
}

static const char *plan_header(struct cc_planner *p, int number)
{
    const struct cc_block *b = &p->graph.block[number];
    LLVMValueRef counted = NULL;
    uint16_t trips = find_trips(p, number, &counted);

    if (trips == VGPU_NO_STEP)
        return "it has a loop of which nothing says beforehand when it ends";
    cc_add_demand(p->plan, (struct vgpu_lane_demand){
                               .kind = VGPU_DEMAND_LOOP, .step = trips, .place = p->place[number]});
    for (LLVMValueRef phi = LLVMGetFirstInstruction(b->block);
         phi != NULL && LLVMIsAPHINode(phi) != NULL; phi = LLVMGetNextInstruction(phi)) {
        if (cc_step_bits(p->l, phi) == 0)
            continue;
        struct vgpu_step_of_lanes step = {
            .kind = phi == counted ? VGPU_STEP_COUNTED : VGPU_STEP_SERIES,
            .bits = cc_step_bits(p->l, phi),
            .a = merged_step(p, number, phi, b->latch),
            .b = trips,
            .c = added_step(p, number, incoming_from(p, phi, b->latch), phi)};
        uint16_t index = merged_index(p, phi);
        if (phi == counted)
            step.c = p->plan->step[trips].c;
        cc_note_value(p, phi,
                      index != VGPU_NO_STEP    ? index
                      : step.c == VGPU_NO_STEP ? cc_unknown_step(p, phi)
                                               : cc_add_step(p->plan, step));
    }
    return NULL;
}

/* ---- guards ---- */

/* Whether only the kernel's end follows. */
static bool leads_out(LLVMBasicBlockRef block)
{
    for (int depth = 0; depth < 8; depth++) {
        LLVMValueRef first = LLVMGetFirstInstruction(block);
        int op = LLVMGetInstructionOpcode(first);
        if (op == LLVM_OP_RET)
            return true;
        if (op != LLVM_OP_BR || LLVMGetNumSuccessors(first) != 1)
            return false;
        block = LLVMGetSuccessor(first, 0);
    }
    return false;
}

static void add_guard(struct cc_planner *p, int number, LLVMValueRef user, unsigned operand,
                      bool value)
{
    struct cc_lane_plan *plan = p->plan;
    uint16_t step = cc_step_of(p, LLVMGetOperand(user, operand), number);

    if (step == VGPU_NO_STEP || !cc_varies_by_block(plan, step))
        return;
    cc_add_demand(plan, (struct vgpu_lane_demand){.kind = VGPU_DEMAND_GUARD,
                                                  .step = step,
                                                  .place = p->place[number],
                                                  .value = value});
    plan->guard =
        cc_grow(plan->guard, plan->guard_count, &plan->guard_capacity, sizeof *plan->guard);
    plan->guard[plan->guard_count++] = (struct cc_guard){user, operand, value};
}

/* The operand must be `value` for all threads, or else those parts of it that can be checked. */
static void add_guards(struct cc_planner *p, int number, LLVMValueRef user, unsigned operand,
                       bool value)
{
    LLVMValueRef c = LLVMIsAInstruction(LLVMGetOperand(user, operand));
    bool here = c != NULL && LLVMGetInstructionParent(c) == p->graph.block[number].block;
    unsigned second = here ? cc_second_part(c, value) : 0;

    if (second == 0) {
        add_guard(p, number, user, operand, value);
        return;
    }
    add_guards(p, number, c, 0, value);
    add_guards(p, number, c, second, value);
}

/* `if (i >= n) return;`: the fast form is only for blocks in which no thread returns there. Not if
 * the condition depends on the thread alone: it would be the same in every block. */
static void plan_guard(struct cc_planner *p, int number)
{
    const struct cc_block *b = &p->graph.block[number];

    if (LLVMGetNumSuccessors(b->terminator) != 2 || b->header != CC_NO_BLOCK ||
        b->latch != CC_NO_BLOCK)
        return;
    bool out[2] = {leads_out(LLVMGetSuccessor(b->terminator, 0)),
                   leads_out(LLVMGetSuccessor(b->terminator, 1))};
    if (out[0] != out[1])
        add_guards(p, number, b->terminator, 0, out[1]);
}

/* ---- the whole kernel ---- */

static const char *plan_block(struct cc_planner *p, int number)
{
    const struct cc_block *b = &p->graph.block[number];
    const char *why = NULL;

    find_place(p, number);
    find_refinements(p, number);
    if (b->latch != CC_NO_BLOCK)
        why = plan_header(p, number);
    for (LLVMValueRef i = LLVMGetFirstInstruction(b->block); i != NULL && why == NULL;
         i = LLVMGetNextInstruction(i)) {
        if (LLVMIsAPHINode(i) == NULL)
            why = cc_plan_instruction(p, i, number);
        else if (b->latch == CC_NO_BLOCK && cc_step_bits(p->l, i) != 0)
            cc_note_value(p, i, merged_step(p, number, i, CC_NO_BLOCK));
    }
    if (why == NULL)
        plan_guard(p, number);
    return why;
}

const char *cc_plan_lanes(struct cc_lowering *l, LLVMValueRef kernel, LLVMValueRef call,
                          struct cc_lane_plan *plan)
{
    struct cc_planner p = {.l = l, .kernel = kernel, .call = call, .plan = plan};
    const char *why = cc_refused_instruction(l, kernel);

    if (why == NULL)
        why = cc_make_graph(kernel, &p.graph);
    if (why != NULL)
        return why;
    p.place = cc_alloc((size_t)p.graph.count * sizeof *p.place);
    p.known = cc_alloc((size_t)p.graph.count * sizeof *p.known);
    for (int i = 0; i < p.graph.count && why == NULL; i++)
        why = plan->step_count < VGPU_LANE_STEPS ? plan_block(&p, i) : too_large;
    if (why == NULL &&
        (plan->step_count >= VGPU_LANE_STEPS || plan->access_count > VGPU_LANE_ACCESSES ||
         plan->counted_count + plan->guarded.count > VGPU_LANE_COUNTERS ||
         plan->object_count > VGPU_LANE_OBJECTS))
        why = too_large;
    if (why == NULL)
        cc_plan_splits(&p);
    if (why == NULL && plan->step_count >= VGPU_LANE_STEPS)
        why = too_large;
    if (why == NULL)
        cc_drop_steps(plan);
    return why;
}
