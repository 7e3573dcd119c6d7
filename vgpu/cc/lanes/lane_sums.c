/* SPDX-License-Identifier: MIT
 * lane_sums.c: kernels whose blocks may run in any order although they have atomics: on global
 * memory they have only sums, which are atomics of one kind that commute (additions of integers,
 * minima, maxima, and, or, xor) and whose results nothing uses. The order shows only if the kernel
 * also reads or stores in the same memory: so each access must be through a parameter, and the
 * launch decides whether two parameters point to the same allocation (vgpu_kernel.summed, others).
 */
#include <string.h>

#include "image.h"
#include "lane_values.h"

struct sums_search {
    struct cc_lowering *l;
    LLVMValueRef kernel, call; /* called by the entry */
    struct cc_sums found;
    int op, type; /* of all sums; op -1: none yet */
};

enum { PARAMETERS_MAX = 64 }; /* bits of cc_sums.summed */

/* ---- to which memory ---- */

static bool object_is_shared(LLVMValueRef object)
{
    LLVMValueRef called = LLVMIsACallInst(object) != NULL ? LLVMGetCalledValue(object) : NULL;

    return called != NULL && LLVMIsAFunction(called) != NULL &&
           (strcmp(cc_value_name(called), "vgpu_shared") == 0 ||
            strcmp(cc_value_name(called), "vgpu_dynamic_shared") == 0);
}

/* Notes an access at the address; false: it may be to any memory. */
static bool note_reach(struct sums_search *s, LLVMValueRef address, bool sums, bool stores)
{
    LLVMValueRef object = cc_object_of(address);
    unsigned index = 0;

    if (object_is_shared(object))
        return true;
    if (LLVMIsAArgument(object) == NULL)
        return !sums && !stores && cc_is_uncounted(object); /* constants */
    switch (cc_passing_of(s->l, s->kernel, s->call, object, &index)) {
    case CC_PASSED_STRUCTURE:
        return !sums && !stores;
    case CC_PASSED_VALUE:
        *(sums ? &s->found.summed : &s->found.others) |= 1ull << index % PARAMETERS_MAX;
        return index < PARAMETERS_MAX;
    default:
        return false;
    }
}

/* ---- which atomics ---- */

/* Operations that commute with each other get one number; -1: it commutes with no other. */
static int commuting(int op)
{
    switch (op) {
    case VGPU_ATOMIC_ADD:
    case VGPU_ATOMIC_SUB:
        return VGPU_ATOMIC_ADD;
    case VGPU_ATOMIC_MIN:
    case VGPU_ATOMIC_MAX:
    case VGPU_ATOMIC_AND:
    case VGPU_ATOMIC_OR:
    case VGPU_ATOMIC_XOR:
        return op;
    default:
        return -1;
    }
}

/* In shared memory the other blocks do not see it; but its threads must not wait for each other. */
static bool note_sum(struct sums_search *s, LLVMValueRef call)
{
    LLVMValueRef address = LLVMGetOperand(call, CC_ATOMIC_ADDRESS);
    int op = commuting(cc_atomic_number(call, CC_ATOMIC_OP));
    int type = cc_atomic_number(call, CC_ATOMIC_TYPE);
    int scope = cc_atomic_number(call, CC_ATOMIC_SCOPE);
    bool unused = scope >= 0 && (scope & VGPU_UNUSED) && !(scope & VGPU_ACQUIRES);

    if (object_is_shared(cc_object_of(address)))
        return unused || cc_always_changes(call);
    if (!unused || op < 0 || type < 0 || type == VGPU_F32 || type == VGPU_F64 ||
        (s->op >= 0 && (s->op != op || s->type != type)))
        return false;
    s->op = op;
    s->type = type;
    return note_reach(s, address, true, true);
}

/* ---- a kernel ---- */

static bool note_instruction(struct sums_search *s, LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVM_OP_LOAD:
        return cc_index_read(s->l, i) >= 0 || note_reach(s, LLVMGetOperand(i, 0), false, false);
    case LLVM_OP_STORE:
        return note_reach(s, LLVMGetOperand(i, 1), false, true);
    default:
        return !cc_is_atomic(i) || note_sum(s, i);
    }
}

void cc_find_sums(struct cc_lowering *l, LLVMValueRef kernel, LLVMValueRef call,
                  struct cc_sums *sums)
{
    struct sums_search s = {.l = l, .kernel = kernel, .call = call, .op = -1};
    bool only = kernel != NULL && call != NULL && cc_refused_instruction(l, kernel) == NULL;

    for (LLVMBasicBlockRef b = only ? LLVMGetFirstBasicBlock(kernel) : NULL; b != NULL && only;
         b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != NULL && only;
             i = LLVMGetNextInstruction(i))
            only = note_instruction(&s, i);
    s.found.only = only;
    *sums = only ? s.found : (struct cc_sums){0};
}
