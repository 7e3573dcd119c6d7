/* SPDX-License-Identifier: MIT
 * lower_order.c: which kernels cannot tell in which order their blocks run: neither they nor the
 * functions that they call wait for another block, print, read a clock, or use atomics, except for
 * sums (lane_sums.c).
 *
 * Functions that can tell are found from the callbacks on, caller by caller. Where such a function
 * has its address taken, every call through a pointer may be one of it.
 */
#include "diag.h"
#include "lower.h"
#include "names.h"

static const char told[] = "vgpu-tells-order";

struct tellers { /* functions that can tell, whose callers are to be found */
    struct cc_lowering *l;
    LLVMValueRef *function;
    size_t count;
    bool by_pointer; /* one of them may be called through a pointer */
};

static bool is_teller(LLVMValueRef function)
{
    return LLVMGetStringAttributeAtIndex(function, (unsigned)LLVM_ATTRIBUTE_FUNCTION, told,
                                         sizeof told - 1) != NULL;
}

static void add_teller(struct tellers *t, LLVMValueRef function)
{
    if (is_teller(function))
        return;
    LLVMAddAttributeAtIndex(function, (unsigned)LLVM_ATTRIBUTE_FUNCTION,
                            LLVMCreateStringAttribute(t->l->context, told, sizeof told - 1, "", 0));
    t->function[t->count++] = function;
}

/* A caller of one of these can wait for another block, or observe the order of blocks. */
static bool is_callback(LLVMValueRef function)
{
    static const char *const tell[] = {
        "vgpu_atomic",      "vgpu_clock64",          "vgpu_printf",      "vgpu_fence",
        "vgpu_assert_fail", "vgpu_grid_meet",        "vgpu_cooperative", "__tsan_atomic",
        "__tsan_vola",      "__tsan_unaligned_vola", "vgpu_vprintf",     "vgpu_globaltimer",
        "vgpu_load_vector", "vgpu_cluster"};
    for (size_t i = 0; i < sizeof tell / sizeof *tell; i++)
        if (cc_starts(cc_value_name(function), tell[i]))
            return LLVMIsDeclaration(function);
    return false;
}

static void add_tellers_of(struct tellers *t, LLVMValueRef value)
{
    for (LLVMUseRef use = LLVMGetFirstUse(value); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsACallInst(user) == NULL || LLVMGetCalledValue(user) != value)
            t->by_pointer = true;
        if (LLVMIsAInstruction(user) != NULL)
            add_teller(t, LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)));
    }
}

static bool calls_pointers(LLVMValueRef function)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b != NULL;
         b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != NULL; i = LLVMGetNextInstruction(i))
            if (LLVMIsACallInst(i) != NULL && LLVMIsAFunction(LLVMGetCalledValue(i)) == NULL &&
                LLVMIsAInlineAsm(LLVMGetCalledValue(i)) == NULL)
                return true;
    return false;
}

/* Marks all callers, and those that call them. */
static void follow_callers(struct tellers *t)
{
    for (size_t i = 0; i < t->count; i++)
        if (!cc_starts(cc_value_name(t->function[i]), "vgpu_entry_")) /* the table's */
            add_tellers_of(t, t->function[i]);
}

static size_t count_functions(struct cc_lowering *l)
{
    size_t count = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f != NULL; f = LLVMGetNextFunction(f))
        count++;
    return count;
}

void cc_find_order(struct cc_lowering *l)
{
    struct tellers t = {.l = l};
    t.function = cc_alloc((count_functions(l) + 1) * sizeof *t.function);
    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f != NULL; f = LLVMGetNextFunction(f))
        if (is_callback(f))
            add_teller(&t, f);
    follow_callers(&t);
    if (t.by_pointer) {
        for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f != NULL;
             f = LLVMGetNextFunction(f))
            if (calls_pointers(f))
                add_teller(&t, f);
        follow_callers(&t);
    }
    for (size_t i = 0; i < l->code->kernel_count; i++) {
        const struct cc_sums *sums = &l->code->kernel[i].sums;
        if (!is_teller(LLVMGetNamedFunction(l->module, cc_format("vgpu_entry_%zu", i))) ||
            (sums->only && !sums->summed))
            cc_set_any_order(l, i);
        else if (sums->only)
            cc_set_sums(l, i, sums->summed, sums->others);
    }
}
