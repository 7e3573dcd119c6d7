/* SPDX-License-Identifier: MIT
 * lane_marks.c: calls that mark what the fast form of a kernel (lane_form.c) needs to find in its
 * copies of the kernel's code.
 */
#include <string.h>

#include "lane_plan.h"

static const char *const mark_name[CC_MARKS] = {
    "vgpu_lane_count",   "vgpu_lane_guard",   CC_SPLIT_MARK,    "vgpu_lane_structure",
    "vgpu_lane_guarded", "vgpu_lane_divided", "vgpu_lane_grows"};

/* Whether it stands for a value, which it is given. */
static bool has_value(int which)
{
    return which == CC_MARK_GUARD || which == CC_MARK_STRUCTURE;
}

static LLVMValueRef mark(struct cc_lowering *l, int which)
{
    LLVMTypeRef parameter[] = {
        cc_int_type(l, 32), which == CC_MARK_STRUCTURE ? cc_byte_pointer(l, 0) : cc_int_type(l, 1)};
    LLVMTypeRef result = has_value(which) ? parameter[1] : LLVMVoidTypeInContext(l->context);

    return cc_declare(l, mark_name[which],
                      LLVMFunctionType(result, parameter, has_value(which) ? 2 : 1, 0));
}

static LLVMValueRef call_mark(struct cc_lowering *l, LLVMBuilderRef b, int which, uint32_t value,
                              LLVMValueRef given)
{
    LLVMValueRef function = mark(l, which), argument[] = {cc_number(l, value, 32), given};

    return LLVMBuildCall2(b, LLVMGlobalGetValueType(function), function, argument,
                          has_value(which) ? 2 : 1, "");
}

static LLVMValueRef first_after_phis(LLVMBasicBlockRef block)
{
    LLVMValueRef first = LLVMGetFirstInstruction(block);

    while (LLVMIsAPHINode(first) != NULL)
        first = LLVMGetNextInstruction(first);
    return first;
}

/* The loops would copy a structure for each thread: they use the one that all have got. */
static void mark_structure(struct cc_lowering *l, LLVMBuilderRef b, const struct cc_lane_plan *plan,
                           LLVMValueRef kernel, uint32_t object)
{
    LLVMValueRef parameter = plan->object[object].global;

    if (LLVMIsAArgument(parameter) == NULL)
        return;
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(kernel);
    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(entry));
    LLVMValueRef given = LLVMBuildPointerCast(b, parameter, cc_byte_pointer(l, 0), "");
    LLVMValueRef marked = call_mark(l, b, CC_MARK_STRUCTURE, object, given);
    LLVMValueRef used = LLVMBuildPointerCast(b, marked, LLVMTypeOf(parameter), "");
    LLVMReplaceAllUsesWith(parameter, used);
    if (given == parameter)
        LLVMSetOperand(marked, 1, parameter);
    else
        LLVMSetOperand(given, 0, parameter);
}

static void put_behind(struct cc_lowering *l, LLVMBuilderRef b, int which, LLVMValueRef *at,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        LLVMPositionBuilderBefore(b, LLVMGetNextInstruction(at[i]));
        call_mark(l, b, which, (uint32_t)i, NULL);
    }
}

void cc_put_marks(struct cc_lowering *l, const struct cc_lane_plan *plan, LLVMValueRef kernel)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(l->context);

    for (size_t i = 0; i < plan->counted_count; i++) {
        LLVMPositionBuilderBefore(b, first_after_phis(plan->counted[i]));
        call_mark(l, b, CC_MARK_COUNT, (uint32_t)i, NULL);
    }
    for (size_t i = 0; i < plan->split_count; i++) {
        LLVMPositionBuilderBefore(b, first_after_phis(plan->split[i]));
        call_mark(l, b, CC_MARK_SPLIT, 0, NULL);
    }
    put_behind(l, b, CC_MARK_GUARDED, plan->guarded.at, plan->guarded.count);
    put_behind(l, b, CC_MARK_DIVIDED, plan->divided.at, plan->divided.count);
    put_behind(l, b, CC_MARK_GROWS, plan->grows, plan->grows_count);
    for (size_t i = 0; i < plan->object_count; i++)
        mark_structure(l, b, plan, kernel, (uint32_t)i);
    for (size_t i = 0; i < plan->guard_count; i++) {
        const struct cc_guard *g = &plan->guard[i];
        LLVMPositionBuilderBefore(b, g->user);
        LLVMSetOperand(
            g->user, g->operand,
            call_mark(l, b, CC_MARK_GUARD, g->value, LLVMGetOperand(g->user, g->operand)));
    }
}

int cc_mark_of(LLVMValueRef instruction)
{
    LLVMValueRef called =
        LLVMIsACallInst(instruction) != NULL ? LLVMGetCalledValue(instruction) : NULL;

    for (int i = 0; i < CC_MARKS && called != NULL; i++)
        if (LLVMIsAFunction(called) != NULL && strcmp(cc_value_name(called), mark_name[i]) == 0)
            return i;
    return CC_MARKS;
}

void cc_take_mark_back(LLVMValueRef instruction)
{
    int which = cc_mark_of(instruction);

    if (has_value(which))
        LLVMReplaceAllUsesWith(instruction, LLVMGetOperand(instruction, 1));
    if (which != CC_MARKS)
        LLVMInstructionEraseFromParent(instruction);
}

void cc_delete_marks(struct cc_lowering *l)
{
    for (int i = 0; i < CC_MARKS; i++)
        if (LLVMGetNamedFunction(l->module, mark_name[i]) != NULL)
            LLVMDeleteFunction(LLVMGetNamedFunction(l->module, mark_name[i]));
}
