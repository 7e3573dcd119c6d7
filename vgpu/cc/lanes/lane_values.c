/* SPDX-License-Identifier: MIT
 * lane_values.c: see lane_values.h.
 */
#include "lane_values.h"

#include <string.h>

#include "protocol.h"

/* ---- table of values ---- */

static size_t noted_place(const struct cc_planner *p, LLVMValueRef value)
{
    size_t at = (size_t)((uint64_t)(uintptr_t)value * 0x9E3779B97F4A7C15ull >> 20);

    for (at %= p->noted_room; p->noted[at].value != NULL && p->noted[at].value != value;)
        at = (at + 1) % p->noted_room;
    return at;
}

void cc_note_value(struct cc_planner *p, LLVMValueRef value, uint16_t step)
{
    if (p->noted_count * 2 >= p->noted_room) {
        struct cc_noted *old = p->noted;
        size_t room = p->noted_room;
        p->noted_room = room != 0 ? 2 * room : 256;
        p->noted = cc_alloc(p->noted_room * sizeof *p->noted);
        memset(p->noted, 0, p->noted_room * sizeof *p->noted);
        for (size_t i = 0; i < room; i++)
            if (old[i].value != NULL)
                p->noted[noted_place(p, old[i].value)] = old[i];
    }
    size_t at = noted_place(p, value);
    p->noted_count += p->noted[at].value == NULL;
    p->noted[at] = (struct cc_noted){value, step};
}

void cc_bind_value(struct cc_planner *p, int block, LLVMValueRef value, uint16_t step)
{
    struct cc_binding *binding = cc_alloc(sizeof *binding);

    *binding = (struct cc_binding){value, step, p->known[block]};
    p->known[block] = binding;
}

/* ---- arguments ---- */

/* Whether the pointer is args[*index] plus *offset bytes, as loaded by the entry. */
static bool is_argument_place(struct cc_lowering *l, LLVMValueRef pointer, unsigned *index,
                              int64_t *offset)
{
    LLVMValueRef at = LLVMIsAInstruction(pointer);
    int op = at != NULL ? LLVMGetInstructionOpcode(at) : 0;

    if (op == LLVM_OP_BIT_CAST)
        return is_argument_place(l, LLVMGetOperand(at, 0), index, offset);
    if (op != LLVM_OP_LOAD)
        return false;
    int64_t bytes = 0;
    LLVMValueRef slot = LLVMGetOperand(at, 0);
    while (LLVMIsAInstruction(slot) != NULL) {
        if (LLVMGetInstructionOpcode(slot) == LLVM_OP_GEP) {
            LLVMValueRef by = LLVMIsAConstantInt(LLVMGetOperand(slot, 1));
            if (by == NULL || LLVMGetNumOperands(slot) != 2)
                return false;
            bytes += LLVMConstIntGetSExtValue(by) *
                     (int64_t)LLVMABISizeOfType(l->layout, LLVMGetGEPSourceElementType(slot));
        } else if (LLVMGetInstructionOpcode(slot) != LLVM_OP_BIT_CAST) {
            return false;
        }
        slot = LLVMGetOperand(slot, 0);
    }
    *index = (unsigned)(bytes / 8);
    *offset = 0;
    return LLVMIsAArgument(slot) != NULL && bytes >= 0 && bytes % 8 == 0 &&
           *index < VGPU_PARAMS_MAX;
}

/* The argument that the entry passes by `call`: LLVM's passes may have removed parameters. */
static LLVMValueRef passed_argument(LLVMValueRef kernel, LLVMValueRef call, LLVMValueRef argument)
{
    for (unsigned i = 0; i < LLVMCountParams(kernel); i++)
        if (LLVMGetParam(kernel, i) == argument)
            return LLVMGetOperand(call, i);
    return NULL;
}

enum cc_passing cc_passing_of(struct cc_lowering *l, LLVMValueRef kernel, LLVMValueRef call,
                              LLVMValueRef argument, unsigned *index)
{
    LLVMValueRef passed = passed_argument(kernel, call, argument);
    int64_t offset;

    if (passed == NULL || LLVMIsAInstruction(passed) == NULL)
        return CC_PASSED_OTHERWISE;
    if (is_argument_place(l, passed, index, &offset))
        return CC_PASSED_STRUCTURE;
    return LLVMGetInstructionOpcode(passed) == LLVM_OP_LOAD &&
                   is_argument_place(l, LLVMGetOperand(passed, 0), index, &offset) && offset == 0
               ? CC_PASSED_VALUE
               : CC_PASSED_OTHERWISE;
}

static uint16_t argument_step(struct cc_planner *p, LLVMValueRef argument)
{
    struct vgpu_step_of_lanes step = {.kind = VGPU_STEP_ARGUMENT,
                                      .bits = cc_step_bits(p->l, argument)};
    LLVMValueRef passed = passed_argument(p->kernel, p->call, argument);
    unsigned index = 0;

    while (passed != NULL && LLVMIsAInstruction(passed) != NULL &&
           LLVMGetInstructionOpcode(passed) == LLVM_OP_TRUNC && step.bits == 1)
        passed = LLVMGetOperand(passed, 0);
    if (passed != NULL && LLVMIsAInstruction(passed) != NULL &&
        is_argument_place(p->l, passed, &index, &step.value))
        return cc_structure_step(p, argument, index);
    if (passed == NULL || LLVMIsAInstruction(passed) == NULL ||
        LLVMGetInstructionOpcode(passed) != LLVM_OP_LOAD ||
        !is_argument_place(p->l, LLVMGetOperand(passed, 0), &index, &step.value))
        return cc_unknown_step(p, argument);
    step.a = (uint16_t)index;
    return cc_add_step(p->plan, step);
}

/* ---- comparisons in conditions ---- */

static bool is_bool(LLVMValueRef value, unsigned number)
{
    LLVMValueRef constant = LLVMIsAConstantInt(value);

    return constant != NULL && LLVMConstIntGetZExtValue(constant) == number;
}

unsigned cc_second_part(LLVMValueRef c, bool value)
{
    int op = LLVMGetInstructionOpcode(c);

    if (op == (value ? LLVM_OP_AND : LLVM_OP_OR))
        return 1;
    if (op != LLVM_OP_SELECT)
        return 0; /* a ? b : false, a ? true : b */
    return is_bool(LLVMGetOperand(c, value ? 2 : 1), !value) ? (value ? 1 : 2) : 0;
}

void cc_find_implied(LLVMValueRef condition, bool holds, struct cc_comparisons *implied)
{
    LLVMValueRef c = LLVMIsAInstruction(condition);
    unsigned second = c != NULL ? cc_second_part(c, holds) : 0;

    if (second != 0) {
        cc_find_implied(LLVMGetOperand(c, 0), holds, implied);
        cc_find_implied(LLVMGetOperand(c, second), holds, implied);
    } else if (c != NULL && LLVMGetInstructionOpcode(c) == LLVM_OP_COMPARE && implied->count < 8) {
        int how = LLVMGetICmpPredicate(c) - CC_COMPARE_BASE;
        implied->compare[implied->count] = c;
        implied->how[implied->count++] = holds ? how : cc_opposite(how);
    }
}

uint16_t cc_refined_step(struct cc_planner *p, LLVMValueRef value, uint16_t step,
                         LLVMValueRef compare, int how, int block)
{
    bool left = LLVMGetOperand(compare, 0) == value;
    struct vgpu_step_of_lanes refined = {.kind = VGPU_STEP_REFINE,
                                         .bits = cc_step_bits(p->l, value),
                                         .a = step,
                                         .value = left ? how : cc_mirrored(how)};

    if (!left && LLVMGetOperand(compare, 1) != value)
        return step;
    refined.b = cc_step_of(p, LLVMGetOperand(compare, left ? 1 : 0), block);
    return refined.b == VGPU_NO_STEP || cc_is_unknown(p->plan, refined.b)
               ? step
               : cc_add_step(p->plan, refined);
}

/* ---- values ---- */

static uint16_t binary_step(struct cc_planner *p, LLVMValueRef i, int kind, int block)
{
    struct vgpu_step_of_lanes step = {.kind = (uint8_t)kind,
                                      .bits = cc_step_bits(p->l, i),
                                      .a = cc_step_of(p, LLVMGetOperand(i, 0), block),
                                      .b = cc_step_of(p, LLVMGetOperand(i, 1), block)};

    return step.a == VGPU_NO_STEP || step.b == VGPU_NO_STEP ? VGPU_NO_STEP
                                                            : cc_add_step(p->plan, step);
}

static uint16_t cast_step(struct cc_planner *p, LLVMValueRef i, int kind, int block)
{
    uint16_t a = cc_step_of(p, LLVMGetOperand(i, 0), block);

    if (a == VGPU_NO_STEP)
        return a;
    if (p->plan->step[a].bits == cc_step_bits(p->l, i)) /* a pointer's number */
        return a;
    return cc_add_step(p->plan, (struct vgpu_step_of_lanes){.kind = (uint8_t)kind,
                                                            .bits = cc_step_bits(p->l, i),
                                                            .a = a,
                                                            .value = p->plan->step[a].bits});
}

static uint16_t compare_step(struct cc_planner *p, LLVMValueRef i, int block)
{
    struct vgpu_step_of_lanes step = {.kind = VGPU_STEP_COMPARE,
                                      .bits = 1,
                                      .a = cc_step_of(p, LLVMGetOperand(i, 0), block),
                                      .b = cc_step_of(p, LLVMGetOperand(i, 1), block),
                                      .value = LLVMGetICmpPredicate(i) - CC_COMPARE_BASE};

    return step.a == VGPU_NO_STEP || step.b == VGPU_NO_STEP ? VGPU_NO_STEP
                                                            : cc_add_step(p->plan, step);
}

/* The value where the select's condition is true, or false. */
static uint16_t chosen_step(struct cc_planner *p, LLVMValueRef select, unsigned which, int block)
{
    LLVMValueRef value = LLVMGetOperand(select, which);
    struct cc_comparisons implied = {0};
    uint16_t step = cc_step_of(p, value, block);

    if (step == VGPU_NO_STEP || LLVMIsAConstant(value) != NULL)
        return step;
    cc_find_implied(LLVMGetOperand(select, 0), which == 1, &implied);
    for (int i = 0; i < implied.count; i++)
        step = cc_refined_step(p, value, step, implied.compare[i], implied.how[i], block);
    return step;
}

static uint16_t select_step(struct cc_planner *p, LLVMValueRef i, int block)
{
    struct vgpu_step_of_lanes step = {.kind = VGPU_STEP_SELECT,
                                      .bits = cc_step_bits(p->l, i),
                                      .a = cc_step_of(p, LLVMGetOperand(i, 0), block),
                                      .b = chosen_step(p, i, 1, block),
                                      .c = chosen_step(p, i, 2, block)};

    return step.a == VGPU_NO_STEP || step.b == VGPU_NO_STEP || step.c == VGPU_NO_STEP
               ? VGPU_NO_STEP
               : cc_add_step(p->plan, step);
}

/* Adds `by` elements of `bytes` bytes to the sum so far. */
static uint16_t add_scaled(struct cc_planner *p, uint16_t sum, LLVMValueRef by, uint64_t bytes,
                           int block)
{
    struct vgpu_step_of_lanes step = {.bits = 64, .a = cc_step_of(p, by, block)};

    if (step.a == VGPU_NO_STEP || sum == VGPU_NO_STEP)
        return VGPU_NO_STEP;
    if (p->plan->step[step.a].bits < 64) {
        step.kind = VGPU_STEP_SEXT;
        step.value = p->plan->step[step.a].bits;
        step.a = cc_add_step(p->plan, step);
    }
    step.kind = VGPU_STEP_MUL;
    step.value = 0;
    step.b = cc_constant_step(p->plan, (int64_t)bytes, 64);
    step.b = cc_add_step(p->plan, step);
    step.kind = VGPU_STEP_ADD;
    step.a = sum;
    return cc_add_step(p->plan, step);
}

uint16_t cc_offset_step(struct cc_planner *p, LLVMValueRef gep, int block)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    uint16_t sum = cc_constant_step(p->plan, 0, 64);

    for (int i = 1; i < LLVMGetNumOperands(gep); i++) {
        LLVMValueRef by = LLVMGetOperand(gep, (unsigned)i);
        int kind = LLVMGetTypeKind(type);
        if (i > 1 && kind == LLVM_TYPE_STRUCT) {
            unsigned field = (unsigned)LLVMConstIntGetZExtValue(by);
            LLVMValueRef one = LLVMConstInt(cc_int_type(p->l, 64), 1, 0);
            sum = add_scaled(p, sum, one, LLVMOffsetOfElement(p->l->layout, type, field), block);
            type = LLVMStructGetTypeAtIndex(type, field);
            continue;
        }
        if (i > 1 && kind != LLVM_TYPE_ARRAY && kind != LLVM_TYPE_VECTOR)
            return VGPU_NO_STEP;
        if (i > 1)
            type = LLVMGetElementType(type);
        sum = add_scaled(p, sum, by, LLVMABISizeOfType(p->l->layout, type), block);
    }
    return sum;
}

static uint16_t gep_step(struct cc_planner *p, LLVMValueRef gep, int block)
{
    struct vgpu_step_of_lanes step = {
        .kind = VGPU_STEP_ADD, .bits = 64, .a = cc_step_of(p, LLVMGetOperand(gep, 0), block)};

    if (step.a == VGPU_NO_STEP)
        return VGPU_NO_STEP;
    step.b = cc_offset_step(p, gep, block);
    return step.b == VGPU_NO_STEP ? VGPU_NO_STEP : cc_add_step(p->plan, step);
}

static uint16_t load_step(struct cc_planner *p, LLVMValueRef load, int block)
{
    int index = cc_index_read(p->l, load);

    if (index < 0)
        return cc_loaded_step(p, load, cc_uncounted_object(p, LLVMGetOperand(load, 0), block));
    return cc_add_step(
        p->plan, (struct vgpu_step_of_lanes){.kind = VGPU_STEP_INDEX, .bits = 32, .value = index});
}

/* llvm.smax and its like. */
static uint16_t call_step(struct cc_planner *p, LLVMValueRef call, int block)
{
    static const struct {
        const char *name;
        int how;
    } choice[] = {{"llvm.smax.", VGPU_SGT},
                  {"llvm.smin.", VGPU_SLT},
                  {"llvm.umax.", VGPU_UGT},
                  {"llvm.umin.", VGPU_ULT}};
    const char *name = cc_value_name(LLVMGetCalledValue(call));
    int shared = cc_shared_number(p->plan, call);

    if (shared >= 0)
        return cc_add_step(
            p->plan, (struct vgpu_step_of_lanes){
                         .kind = VGPU_STEP_INDEX, .bits = 64, .value = VGPU_LANE_SHARED + shared});
    for (size_t i = 0; i < sizeof choice / sizeof *choice; i++) {
        if (!cc_starts(name, choice[i].name))
            continue;
        struct vgpu_step_of_lanes step = {.kind = VGPU_STEP_COMPARE,
                                          .bits = 1,
                                          .a = cc_step_of(p, LLVMGetOperand(call, 0), block),
                                          .b = cc_step_of(p, LLVMGetOperand(call, 1), block),
                                          .value = choice[i].how};
        if (step.a == VGPU_NO_STEP || step.b == VGPU_NO_STEP)
            return VGPU_NO_STEP;
        return cc_add_step(p->plan, (struct vgpu_step_of_lanes){.kind = VGPU_STEP_SELECT,
                                                                .bits = cc_step_bits(p->l, call),
                                                                .a = cc_add_step(p->plan, step),
                                                                .b = step.a,
                                                                .c = step.b});
    }
    return cc_unknown_step(p, call);
}

/* Of an instruction, or a constant expression. */
static uint16_t operation_step(struct cc_planner *p, LLVMValueRef i, int block)
{
    static const uint8_t binary[] = {
        [LLVM_OP_ADD] = VGPU_STEP_ADD,      [LLVM_OP_SUB] = VGPU_STEP_SUB,
        [LLVM_OP_MULTIPLY] = VGPU_STEP_MUL, [LLVM_OP_UDIV] = VGPU_STEP_UDIV,
        [LLVM_OP_SDIV] = VGPU_STEP_SDIV,    [LLVM_OP_UREM] = VGPU_STEP_UREM,
        [LLVM_OP_SREM] = VGPU_STEP_SREM,    [LLVM_OP_SHL] = VGPU_STEP_SHL,
        [LLVM_OP_LSHR] = VGPU_STEP_LSHR,    [LLVM_OP_ASHR] = VGPU_STEP_ASHR,
        [LLVM_OP_AND] = VGPU_STEP_AND,      [LLVM_OP_OR] = VGPU_STEP_OR,
        [LLVM_OP_XOR] = VGPU_STEP_XOR};
    int op = LLVMIsAInstruction(i) != NULL ? LLVMGetInstructionOpcode(i) : LLVMGetConstOpcode(i);

    if (op < (int)sizeof binary && binary[op] != 0)
        return binary_step(p, i, binary[op], block);
    switch (op) {
    case LLVM_OP_ZEXT:
        return cast_step(p, i, VGPU_STEP_ZEXT, block);
    case LLVM_OP_SEXT:
        return cast_step(p, i, VGPU_STEP_SEXT, block);
    case LLVM_OP_TRUNC:
        return cast_step(p, i, VGPU_STEP_TRUNC, block);
    case LLVM_OP_PTR_TO_INT:
        return cast_step(p, i, VGPU_STEP_TRUNC, block);
    case LLVM_OP_INT_TO_PTR:
        return cast_step(p, i, VGPU_STEP_ZEXT, block);
    case LLVM_OP_ADDR_SPACE_CAST:
    case LLVM_OP_BIT_CAST:
        return cc_step_bits(p->l, LLVMGetOperand(i, 0)) == cc_step_bits(p->l, i)
                   ? cc_step_of(p, LLVMGetOperand(i, 0), block)
                   : cc_unknown_step(p, i);
    case LLVM_OP_COMPARE:
        return compare_step(p, i, block);
    case LLVM_OP_SELECT:
        return select_step(p, i, block);
    case LLVM_OP_GEP:
        return gep_step(p, i, block);
    case LLVM_OP_LOAD:
        return load_step(p, i, block);
    case LLVM_OP_CALL:
        return call_step(p, i, block);
    case LLVM_OP_PHI: /* of a loop that is not analysed yet */
        return VGPU_NO_STEP;
    default:
        return cc_unknown_step(p, i);
    }
}

int cc_uncounted_object(struct cc_planner *p, LLVMValueRef address, int block)
{
    LLVMValueRef object = cc_object_of(address);
    uint16_t step = cc_is_uncounted(object) ? cc_step_of(p, object, block) : VGPU_NO_STEP;

    if (step == VGPU_NO_STEP || p->plan->step[step].kind != VGPU_STEP_OBJECT)
        return -1;
    return (int)p->plan->step[step].value;
}

uint16_t cc_step_of(struct cc_planner *p, LLVMValueRef value, int block)
{
    uint8_t bits = cc_step_bits(p->l, value);
    LLVMValueRef number = LLVMIsAConstantInt(value);

    if (bits == 0)
        return VGPU_NO_STEP;
    if (number != NULL)
        return cc_constant_step(p->plan,
                                bits == 1 ? (int64_t)LLVMConstIntGetZExtValue(number)
                                          : LLVMConstIntGetSExtValue(number),
                                bits);
    for (struct cc_binding *b = p->known[block]; b != NULL; b = b->next)
        if (b->value == value)
            return b->step;
    if (p->noted_room != 0 && p->noted[noted_place(p, value)].value == value)
        return p->noted[noted_place(p, value)].step;
    uint16_t step = LLVMIsAInstruction(value) != NULL || LLVMIsAConstantExpr(value) != NULL
                        ? operation_step(p, value, block)
                    : LLVMIsAArgument(value) != NULL ? argument_step(p, value)
                                                     : cc_global_step(p, value);
    if (step != VGPU_NO_STEP)
        cc_note_value(p, value, step);
    return step;
}
