/* SPDX-License-Identifier: MIT
 * lane_loops.c: the fast form of kernels (lanes.h): a function that runs the threads of a block in
 * loops over threadIdx.z, y and x, around the kernel's own code.
 *
 * It is built from the same code as the careful form, after the optimizer and before
 * ThreadSanitizer's pass: so both have the same accesses. The kernel's blocks are marked by calls
 * before they are inlined; the copies of the marks then show where to put counters, and which
 * conditions are known.
 */
#include "lane_plan.h"

#include <string.h>

#include "image.h"

enum { MARK_COUNT, MARK_GUARD, MARKS };
static const char *const mark_name[MARKS] = {"vgpu_lane_count", "vgpu_lane_guard"};

/* A kernel's fast form while it is made. */
struct lanes {
    struct cc_lowering *l;
    size_t kernel; /* its number */
    LLVMValueRef entry, call, function;
    struct cc_lane_plan plan;
    LLVMValueRef thread[3], *counter; /* variables of the function */
    LLVMValueRef index[VGPU_LANE_INDICES];
    LLVMBasicBlockRef body; /* of the innermost loop */
};

static LLVMValueRef number_of(const struct cc_lowering *l, uint64_t value, unsigned bits)
{
    return LLVMConstInt(cc_int_type(l, bits), value, 0);
}

static LLVMValueRef mark(struct cc_lowering *l, int which)
{
    LLVMTypeRef parameter[] = {cc_int_type(l, 32), cc_int_type(l, 1)};
    LLVMTypeRef result = which == MARK_GUARD ? parameter[1] : LLVMVoidTypeInContext(l->context);

    return cc_declare(l, mark_name[which],
                      LLVMFunctionType(result, parameter, which == MARK_GUARD ? 2 : 1, 0));
}

static LLVMValueRef call_mark(struct cc_lowering *l, LLVMBuilderRef b, int which, uint32_t value,
                              LLVMValueRef condition)
{
    LLVMValueRef function = mark(l, which), argument[] = {number_of(l, value, 32), condition};

    return LLVMBuildCall2(b, LLVMGlobalGetValueType(function), function, argument,
                          which == MARK_GUARD ? 2 : 1, "");
}

/* ---- marks in the kernel ---- */

static void put_marks(struct lanes *f)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(f->l->context);

    for (size_t i = 0; i < f->plan.counted_count; i++) {
        LLVMValueRef first = LLVMGetFirstInstruction(f->plan.counted[i]);
        while (LLVMIsAPHINode(first) != NULL)
            first = LLVMGetNextInstruction(first);
        LLVMPositionBuilderBefore(b, first);
        call_mark(f->l, b, MARK_COUNT, (uint32_t)i, NULL);
    }
    for (size_t i = 0; i < f->plan.guard_count; i++) {
        const struct cc_guard *g = &f->plan.guard[i];
        LLVMPositionBuilderBefore(b, g->user);
        LLVMSetOperand(
            g->user, g->operand,
            call_mark(f->l, b, MARK_GUARD, g->value, LLVMGetOperand(g->user, g->operand)));
    }
}

static int mark_of(LLVMValueRef instruction)
{
    LLVMValueRef called =
        LLVMIsACallInst(instruction) != NULL ? LLVMGetCalledValue(instruction) : NULL;

    for (int i = 0; i < MARKS && called != NULL; i++)
        if (LLVMIsAFunction(called) != NULL && strcmp(cc_value_name(called), mark_name[i]) == 0)
            return i;
    return MARKS;
}

typedef void step(struct lanes *f, LLVMValueRef instruction);

static void for_instructions(struct lanes *f, LLVMValueRef function, step *does)
{
    LLVMValueRef next;

    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != NULL; i = next) {
            next = LLVMGetNextInstruction(i);
            does(f, i);
        }
}

/* Removes the marks from the kernel. */
static void take_mark_back(struct lanes *f, LLVMValueRef instruction)
{
    int which = mark_of(instruction);

    (void)f;
    if (which == MARK_GUARD)
        LLVMReplaceAllUsesWith(instruction, LLVMGetOperand(instruction, 1));
    if (which != MARKS)
        LLVMInstructionEraseFromParent(instruction);
}

/* ---- loops around it ---- */

static LLVMBasicBlockRef add_block(struct lanes *f)
{
    return LLVMAppendBasicBlockInContext(f->l->context, f->function, "");
}

static LLVMValueRef address_in(struct lanes *f, LLVMBuilderRef b, unsigned parameter, uint64_t at,
                               unsigned bits)
{
    LLVMValueRef offset = number_of(f->l, at, 64);

    return LLVMBuildGEP2(b, cc_int_type(f->l, bits), LLVMGetParam(f->function, parameter), &offset,
                         1, "");
}

static void read_indices(struct lanes *f, LLVMBuilderRef b)
{
    LLVMTypeRef word = cc_int_type(f->l, 32);

    for (unsigned i = VGPU_LANE_BLOCK; i < VGPU_LANE_INDICES; i++)
        f->index[i] = LLVMBuildLoad2(b, word, address_in(f, b, 1, i, 32), "");
}

static void make_variables(struct lanes *f, LLVMBuilderRef b)
{
    f->counter = cc_alloc((f->plan.counted_count + 1) * sizeof *f->counter);
    for (int i = 0; i < 3; i++)
        f->thread[i] = LLVMBuildAlloca(b, cc_int_type(f->l, 32), "");
    for (size_t i = 0; i < f->plan.counted_count; i++) {
        f->counter[i] = LLVMBuildAlloca(b, cc_int_type(f->l, 64), "");
        LLVMBuildStore(b, number_of(f->l, 0, 64), f->counter[i]);
    }
}

static void add_counters(struct lanes *f, LLVMBuilderRef b)
{
    LLVMTypeRef number = cc_int_type(f->l, 64);

    for (size_t i = 0; i < f->plan.counted_count; i++) {
        LLVMValueRef to = address_in(f, b, 2, i, 64);
        LLVMValueRef sum = LLVMBuildBinOp(b, LLVM_OP_ADD, LLVMBuildLoad2(b, number, to, ""),
                                          LLVMBuildLoad2(b, number, f->counter[i], ""), "");
        LLVMBuildStore(b, sum, to);
    }
    LLVMBuildRetVoid(b);
}

/* do { ... } while (++thread < blockDim), for z, y and x; a block has one thread at least. */
static void make_loops(struct lanes *f, LLVMBuilderRef b)
{
    LLVMTypeRef word = cc_int_type(f->l, 32);
    LLVMBasicBlockRef start[3], next[3];

    for (int i = 2; i >= 0; i--) {
        start[i] = add_block(f);
        LLVMBuildStore(b, number_of(f->l, 0, 32), f->thread[i]);
        LLVMBuildBr(b, start[i]);
        LLVMPositionBuilderAtEnd(b, start[i]);
    }
    f->body = start[0];
    for (int i = 0; i < 3; i++) {
        next[i] = add_block(f);
        LLVMBuildBr(b, next[i]);
        LLVMPositionBuilderAtEnd(b, next[i]);
        LLVMValueRef more = LLVMBuildBinOp(
            b, LLVM_OP_ADD, LLVMBuildLoad2(b, word, f->thread[i], ""), number_of(f->l, 1, 32), "");
        LLVMBuildStore(b, more, f->thread[i]);
        LLVMValueRef is =
            LLVMBuildICmp(b, VGPU_ULT + 32, more, f->index[VGPU_LANE_BLOCK_DIM + i], "");
        LLVMBasicBlockRef after = add_block(f);
        LLVMBuildCondBr(b, is, start[i], after);
        LLVMPositionBuilderAtEnd(b, after);
    }
    add_counters(f, b);
}

static void add_attribute(struct cc_lowering *l, LLVMValueRef function, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

    LLVMAddAttributeAtIndex(function, (unsigned)LLVM_ATTRIBUTE_FUNCTION,
                            LLVMCreateEnumAttribute(l->context, kind, 0));
}

static void inline_call(struct cc_lowering *l, LLVMValueRef call)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("alwaysinline", 12);

    LLVMAddCallSiteAttribute(call, (unsigned)LLVM_ATTRIBUTE_FUNCTION,
                             LLVMCreateEnumAttribute(l->context, kind, 0));
}

/* void run(args, index, count): the entry, which reads the arguments, is called before the loops;
 * the call of the kernel in it is moved into them later. */
static void make_function(struct lanes *f)
{
    struct cc_lowering *l = f->l;
    LLVMTypeRef type[] = {LLVMTypeOf(LLVMGetParam(f->entry, 0)),
                          LLVMPointerType(cc_int_type(l, 32), 0),
                          LLVMPointerType(cc_int_type(l, 64), 0)};
    LLVMTypeRef made = LLVMFunctionType(LLVMVoidTypeInContext(l->context), type, 3, 0);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(l->context);

    f->function = LLVMAddFunction(l->module, cc_format("vgpu_lanes_%zu", f->kernel), made);
    LLVMSetLinkage(f->function, LLVM_LINKAGE_INTERNAL);
    add_attribute(l, f->function, "disable_sanitizer_instrumentation");
    add_attribute(l, f->function, "null_pointer_is_valid");
    add_attribute(l, f->function, "nounwind");
    LLVMPositionBuilderAtEnd(b, add_block(f));
    make_variables(f, b);
    read_indices(f, b);
    LLVMValueRef args = LLVMGetParam(f->function, 0);
    inline_call(l, LLVMBuildCall2(b, LLVMGlobalGetValueType(f->entry), f->entry, &args, 1, ""));
    make_loops(f, b);
}

static LLVMValueRef call_in(LLVMValueRef function, LLVMValueRef called)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsACallInst(i) != NULL && LLVMGetCalledValue(i) == called)
                return i;
    return NULL;
}

/* Inlines the entry: its call of the kernel becomes the loops' body. */
static void fill_loops(struct lanes *f)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(f->l->context);
    LLVMValueRef call = call_in(f->function, LLVMGetCalledValue(f->call));

    LLVMInstructionRemoveFromParent(call);
    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(f->body));
    LLVMInsertIntoBuilder(b, call);
    inline_call(f->l, call);
}

/* ---- the kernel is inlined ---- */

static void lower_instruction(struct lanes *f, LLVMValueRef i)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(f->l->context);
    int index = LLVMGetInstructionOpcode(i) == LLVM_OP_LOAD ? cc_index_read(f->l, i) : -1;
    LLVMTypeRef number = cc_int_type(f->l, 64);
    LLVMValueRef by = NULL;

    LLVMPositionBuilderBefore(b, i);
    if (index >= VGPU_LANE_BLOCK)
        by = f->index[index];
    else if (index >= 0)
        by = LLVMBuildLoad2(b, cc_int_type(f->l, 32), f->thread[index], "");
    int which = mark_of(i);
    if (which == MARK_GUARD)
        by = number_of(f->l, LLVMConstIntGetZExtValue(LLVMGetOperand(i, 0)), 1);
    if (which == MARK_COUNT) {
        LLVMValueRef counter = f->counter[LLVMConstIntGetZExtValue(LLVMGetOperand(i, 0))];
        LLVMBuildStore(b,
                       LLVMBuildBinOp(b, LLVM_OP_ADD, LLVMBuildLoad2(b, number, counter, ""),
                                      number_of(f->l, 1, 64), ""),
                       counter);
    }
    if (by != NULL)
        LLVMReplaceAllUsesWith(i, by);
    if (by != NULL || which != MARKS)
        LLVMInstructionEraseFromParent(i);
}

/* ---- tables ---- */

static LLVMValueRef add_bytes(struct cc_lowering *l, const void *data, size_t bytes)
{
    LLVMValueRef text =
        LLVMConstStringInContext(l->context, (const char *)data, (unsigned)bytes, 1);
    LLVMValueRef global = LLVMAddGlobal(l->module, LLVMTypeOf(text), "");

    LLVMSetInitializer(global, text);
    LLVMSetGlobalConstant(global, 1);
    LLVMSetAlignment(global, 8);
    LLVMSetLinkage(global, LLVM_LINKAGE_PRIVATE);
    return LLVMConstPointerCast(global, cc_byte_pointer(l, 0));
}

#define ADD_ROWS(l, row, count) add_bytes(l, row, (count) * sizeof *(row))

/* With the layout of struct vgpu_lanes. */
static LLVMValueRef lanes_table(struct lanes *f)
{
    struct cc_lowering *l = f->l;
    const struct cc_lane_plan *p = &f->plan;
    LLVMValueRef field[] = {LLVMConstPointerCast(f->function, cc_byte_pointer(l, 0)),
                            ADD_ROWS(l, p->step, p->step_count),
                            ADD_ROWS(l, p->demand, p->demand_count),
                            ADD_ROWS(l, p->access, p->access_count),
                            number_of(l, p->step_count, 32),
                            number_of(l, p->demand_count, 32),
                            number_of(l, p->access_count, 32),
                            number_of(l, p->counted_count, 32)};
    _Static_assert(sizeof(struct vgpu_lanes) == 48, "lanes_table writes this layout");
    LLVMValueRef row = LLVMConstStructInContext(l->context, field, sizeof field / sizeof *field, 0);
    LLVMValueRef global = LLVMAddGlobal(l->module, LLVMTypeOf(row), "");

    LLVMSetInitializer(global, row);
    LLVMSetGlobalConstant(global, 1);
    LLVMSetLinkage(global, LLVM_LINKAGE_PRIVATE);
    return LLVMConstPointerCast(global, cc_byte_pointer(l, 0));
}

/* ---- a module's kernels ---- */

static const char *prepare(struct lanes *f)
{
    f->entry = LLVMGetNamedFunction(f->l->module, cc_format("vgpu_entry_%zu", f->kernel));
    for (LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f->entry)); i != NULL;
         i = LLVMGetNextInstruction(i))
        if (LLVMIsACallInst(i) != NULL && LLVMIsAFunction(LLVMGetCalledValue(i)) != NULL &&
            !LLVMIsDeclaration(LLVMGetCalledValue(i)))
            f->call = i;
    return f->call == NULL ? "it does nothing" : cc_plan_lanes(f->l, f->call, &f->plan);
}

/* Function passes skip functions that are marked so. */
static void set_optimized(struct cc_lowering *l, bool lanes_only)
{
    static const char *const word[] = {"optnone", "noinline"};
    unsigned kind[] = {LLVMGetEnumAttributeKindForName(word[0], strlen(word[0])),
                       LLVMGetEnumAttributeKindForName(word[1], strlen(word[1]))};

    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f != NULL; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f) || cc_starts(cc_value_name(f), "vgpu_lanes_"))
            continue;
        for (unsigned i = 0; i < 2 && lanes_only; i++)
            add_attribute(l, f, word[i]);
        for (unsigned i = 0; i < 2 && !lanes_only; i++)
            LLVMRemoveEnumAttributeAtIndex(f, (unsigned)LLVM_ATTRIBUTE_FUNCTION, kind[i]);
    }
}

static bool optimize(struct cc_lowering *l)
{
    set_optimized(l, true);
    bool done = cc_run_passes(
        l, "function(sroa,simplifycfg,instcombine,loop-mssa(licm),loop(loop-rotate),loop(indvars),"
           "loop-vectorize,instcombine,loop-mssa(licm),simplifycfg)");
    set_optimized(l, false);
    return done;
}

static bool make_all(struct lanes *f, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_marks(&f[i]);
    for (size_t i = 0; i < count; i++)
        make_function(&f[i]);
    if (!cc_run_passes(f->l, "always-inline"))
        return false;
    for (size_t i = 0; i < count; i++)
        fill_loops(&f[i]);
    if (!cc_run_passes(f->l, "always-inline"))
        return false;
    for (size_t i = 0; i < count; i++) {
        for_instructions(&f[i], f[i].function, lower_instruction);
        for_instructions(&f[i], LLVMGetCalledValue(f[i].call), take_mark_back);
    }
    for (int i = 0; i < MARKS; i++)
        if (LLVMGetNamedFunction(f->l->module, mark_name[i]) != NULL)
            LLVMDeleteFunction(LLVMGetNamedFunction(f->l->module, mark_name[i]));
    return optimize(f->l);
}

bool cc_add_lanes(struct cc_lowering *l, cc_set_lanes *set)
{
    size_t kernels = l->code->kernel_count, count = 0;
    struct lanes *f = cc_alloc((kernels + 1) * sizeof *f);

    for (size_t i = 0; i < kernels; i++) {
        f[count] = (struct lanes){.l = l, .kernel = i};
        const char *why = prepare(&f[count]);
        if (why != NULL)
            set(l, i, NULL, why);
        else
            count++;
    }
    if (count != 0 && !make_all(f, count))
        return false;
    for (size_t i = 0; i < count; i++)
        set(l, f[i].kernel, lanes_table(&f[i]), NULL);
    return true;
}
