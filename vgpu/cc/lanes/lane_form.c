/* SPDX-License-Identifier: MIT
 * lane_form.c: the fast form of kernels (lanes.h): a function that runs the threads of a block in
 * loops over threadIdx.z, y and x, around the kernel's own code.
 *
 * It is built from the same code as the careful form, after the optimizer and before
 * ThreadSanitizer's pass: so both have the same accesses. The kernel's blocks are marked by calls
 * before they are inlined; the copies of the marks then show where to put counters, and which
 * conditions are known.
 */
#include "lane_regions.h"

#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "load_llvm.h"

enum { PLAIN, WIDE, EDGE, VARIANTS }; /* lanes.h: run, wide, edge */
static const char *const variant_name[VARIANTS] = {"", "_wide", "_edge"};

/* A kernel's fast form under construction. */
struct lanes {
    struct cc_lowering *l;
    size_t kernel; /* its number */
    int variant;
    bool unused;
    LLVMValueRef entry, call, function;
    LLVMValueRef source; /* the kernel, or its copy (lane_calls.c) */
    struct cc_lane_plan plan;
    struct cc_lanes_of of;
    LLVMValueRef *counter; /* variables of the function */
    LLVMValueRef index[VGPU_LANE_INDICES], shared[VGPU_LANE_SHARED_MAX];
    LLVMValueRef structure[VGPU_LANE_OBJECTS]; /* addresses of objects that are arguments */
    LLVMBasicBlockRef body;                    /* the kernel is inlined into it */
    LLVMBasicBlockRef done;                    /* counters are added in it */
    const char *careful;                       /* why it has no fast form */
};

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

static void take_mark_back(struct lanes *f, LLVMValueRef instruction)
{
    (void)f;
    cc_take_mark_back(instruction);
}

/* ---- loops around it ---- */

static LLVMValueRef address_in(struct lanes *f, LLVMBuilderRef b, unsigned parameter, uint64_t at,
                               unsigned bits)
{
    LLVMValueRef offset = cc_number(f->l, at, 64);

    return LLVMBuildGEP2(b, cc_int_type(f->l, bits), LLVMGetParam(f->function, parameter), &offset,
                         1, "");
}

static void read_indices(struct lanes *f, LLVMBuilderRef b)
{
    LLVMTypeRef word = cc_int_type(f->l, 32);

    for (unsigned i = VGPU_LANE_BLOCK; i < VGPU_LANE_INDICES; i++) {
        f->index[i] = LLVMBuildLoad2(b, word, address_in(f, b, 1, i, 32), "");
        if (i >= VGPU_LANE_BLOCK_DIM && f->plan.grows_count != 0)
            cc_set_positive(f->l, f->index[i]);
    }
    for (unsigned i = 0; i < 3; i++)
        f->of.block_dim[i] = f->index[VGPU_LANE_BLOCK_DIM + i];
}

static void read_shared(struct lanes *f, LLVMBuilderRef b)
{
    LLVMTypeRef byte = cc_byte_pointer(f->l, 0);

    for (unsigned i = 0; i < f->plan.shared_count; i++) {
        LLVMValueRef at = cc_number(f->l, i, 64);
        f->shared[i] = LLVMBuildLoad2(
            b, byte, LLVMBuildGEP2(b, byte, LLVMGetParam(f->function, 3), &at, 1, ""), "");
    }
}

static void read_structures(struct lanes *f, LLVMBuilderRef b)
{
    LLVMTypeRef byte = cc_byte_pointer(f->l, 0);

    for (size_t i = 0; i < f->plan.object_count; i++) {
        LLVMValueRef at = cc_number(f->l, f->plan.object[i].argument, 64);
        if (LLVMIsAArgument(f->plan.object[i].global) != NULL)
            f->structure[i] = LLVMBuildLoad2(
                b, byte, LLVMBuildGEP2(b, byte, LLVMGetParam(f->function, 0), &at, 1, ""), "");
    }
}

static size_t counters_of(const struct lanes *f)
{
    return f->plan.counted_count + f->plan.guarded.count;
}

static void make_variables(struct lanes *f, LLVMBuilderRef b)
{
    f->counter = cc_alloc((counters_of(f) + 1) * sizeof *f->counter);
    f->of.lane = LLVMBuildAlloca(b, cc_int_type(f->l, 64), "");
    f->of.in_warp = LLVMBuildAlloca(b, cc_int_type(f->l, 64), "");
    f->of.warp_lane = LLVMBuildAlloca(b, cc_int_type(f->l, 64), "");
    f->of.warp_x = LLVMBuildAlloca(b, cc_int_type(f->l, 32), "");
    for (int i = 0; i < 3; i++)
        f->of.thread[i] = LLVMBuildAlloca(b, cc_int_type(f->l, 32), "");
    for (size_t i = 0; i < counters_of(f); i++) {
        f->counter[i] = LLVMBuildAlloca(b, cc_int_type(f->l, 64), "");
        LLVMBuildStore(b, cc_number(f->l, 0, 64), f->counter[i]);
    }
}

static bool is_divided(const struct lanes *f)
{
    return f->plan.barrier_count != 0 || f->plan.warp_count != 0 ||
           (f->variant == WIDE && f->plan.split_count != 0);
}

/* The regions of a divided kernel add their own. */
static void add_counters(struct lanes *f, LLVMBuilderRef b)
{
    LLVMTypeRef number = cc_int_type(f->l, 64);

    for (size_t i = 0; i < counters_of(f) && !is_divided(f); i++) {
        LLVMValueRef to = address_in(f, b, 2, i, 64);
        LLVMValueRef sum = LLVMBuildBinOp(b, LLVM_OP_ADD, LLVMBuildLoad2(b, number, to, ""),
                                          LLVMBuildLoad2(b, number, f->counter[i], ""), "");
        LLVMBuildStore(b, sum, to);
    }
    LLVMBuildRetVoid(b);
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

static void make_place(struct lanes *f, LLVMBuilderRef b)
{
    if (!is_divided(f)) {
        struct cc_loops loops = cc_make_loops(&f->of, b);
        LLVMPositionBuilderAtEnd(b, loops.body);
        LLVMBuildBr(b, loops.next);
        f->body = loops.body;
        f->done = loops.after;
    } else { /* lane_regions.c builds the loops */
        f->body = cc_add_block(f->l, f->function);
        f->done = cc_add_block(f->l, f->function);
        LLVMBuildBr(b, f->body);
        LLVMPositionBuilderAtEnd(b, f->body);
        LLVMBuildBr(b, f->done);
    }
    LLVMPositionBuilderAtEnd(b, f->done);
    add_counters(f, b);
}

/* void run(args, index, count, shared): the entry, which reads the arguments, is called before
 * the loops; its call of the kernel is moved into them later. */
static void make_function(struct lanes *f)
{
    struct cc_lowering *l = f->l;
    LLVMTypeRef type[] = {
        LLVMTypeOf(LLVMGetParam(f->entry, 0)), LLVMPointerType(cc_int_type(l, 32), 0),
        LLVMPointerType(cc_int_type(l, 64), 0), LLVMPointerType(cc_byte_pointer(l, 0), 0)};
    LLVMTypeRef made = LLVMFunctionType(LLVMVoidTypeInContext(l->context), type, 4, 0);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(l->context);

    const char *name = cc_format("vgpu_lanes_%zu%s", f->kernel, variant_name[f->variant]);
    f->function = LLVMAddFunction(l->module, name, made);
    if (f->variant == WIDE)
        cc_lengthen_vectors(l, f->function);
    LLVMSetLinkage(f->function, LLVM_LINKAGE_INTERNAL);
    add_attribute(l, f->function, "disable_sanitizer_instrumentation");
    add_attribute(l, f->function, "null_pointer_is_valid");
    add_attribute(l, f->function, "nounwind");
    f->of.l = l;
    f->of.function = f->function;
    LLVMPositionBuilderAtEnd(b, cc_add_block(f->l, f->function));
    make_variables(f, b);
    read_indices(f, b);
    read_shared(f, b);
    read_structures(f, b);
    LLVMValueRef args = LLVMGetParam(f->function, 0);
    inline_call(l, LLVMBuildCall2(b, LLVMGlobalGetValueType(f->entry), f->entry, &args, 1, ""));
    make_place(f, b);
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
    for (int i = 0; i < 3; i++) /* private to each thread, from its start to its end */
        f->index[i] = LLVMBuildLoad2(b, cc_int_type(f->l, 32), f->of.thread[i], "");
    LLVMInsertIntoBuilder(b, call);
    LLVMSetOperand(call, (unsigned)LLVMGetNumOperands(call) - 1, f->source);
    inline_call(f->l, call);
}

/* ---- the kernel is inlined ---- */

/* The mark is behind the division. */
static void lower_division(struct lanes *f, LLVMBuilderRef b, LLVMValueRef mark, int which)
{
    if (which == CC_MARK_DIVIDED && f->variant == WIDE)
        cc_divide_vectors(f->l, b, LLVMGetPreviousInstruction(mark));
    if (which != CC_MARK_GUARDED)
        return;
    size_t number = (size_t)LLVMConstIntGetZExtValue(LLVMGetOperand(mark, 0));

    cc_guard_division(f->l, b, LLVMGetPreviousInstruction(mark),
                      f->counter[f->plan.counted_count + number], f->variant == WIDE);
}

static void lower_instruction(struct lanes *f, LLVMValueRef i)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(f->l->context);
    int index = LLVMGetInstructionOpcode(i) == LLVM_OP_LOAD ? cc_index_read(f->l, i) : -1;
    LLVMTypeRef number = cc_int_type(f->l, 64);
    int shared = cc_shared_number(&f->plan, i);
    LLVMValueRef by = index >= 0 ? f->index[index] : shared >= 0 ? f->shared[shared] : NULL;

    LLVMPositionBuilderBefore(b, i);
    int which = cc_mark_of(i);
    if (which == CC_MARK_STRUCTURE)
        by = f->structure[LLVMConstIntGetZExtValue(LLVMGetOperand(i, 0))];
    if (which == CC_MARK_GUARD)
        by = f->variant == EDGE
                 ? LLVMGetOperand(i, 1)
                 : cc_number(f->l, LLVMConstIntGetZExtValue(LLVMGetOperand(i, 0)), 1);
    if (which == CC_MARK_COUNT && getenv("VGPU_CC_UNCOUNTED") == NULL) { /* bench/kernels */
        LLVMValueRef counter = f->counter[LLVMConstIntGetZExtValue(LLVMGetOperand(i, 0))];
        LLVMBuildStore(b,
                       LLVMBuildBinOp(b, LLVM_OP_ADD, LLVMBuildLoad2(b, number, counter, ""),
                                      cc_number(f->l, 1, 64), ""),
                       counter);
    }
    lower_division(f, b, i, which);
    if (by != NULL)
        LLVMReplaceAllUsesWith(i, by);
    if (by != NULL || (which != CC_MARKS && which != CC_MARK_GROWS &&
                       (which != CC_MARK_SPLIT || f->variant != WIDE)))
        LLVMInstructionEraseFromParent(i);
}

static void lower_growth(struct lanes *f, LLVMValueRef i)
{
    if (cc_mark_of(i) == CC_MARK_GROWS)
        cc_promise_growth(f->l, i);
}

/* What all threads load from a structure, or as a __managed__ variable's address, is loaded before
 * their loops. */
static void lower_known_load(struct lanes *f, LLVMValueRef i)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(f->l->context);
    int64_t offset;

    if (LLVMGetInstructionOpcode(i) != LLVM_OP_LOAD ||
        !cc_is_known_load(f->l, &f->plan, f->structure, i, &offset))
        return;
    LLVMValueRef address = LLVMGetOperand(i, 0), by = cc_number(f->l, (uint64_t)offset, 64);
    LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(LLVMGetEntryBasicBlock(f->function)));
    LLVMValueRef at = LLVMBuildPointerCast(b, cc_object_of(address), cc_byte_pointer(f->l, 0), "");
    at = LLVMBuildGEP2(b, cc_int_type(f->l, 8), at, &by, 1, "");
    LLVMValueRef load =
        LLVMBuildLoad2(b, LLVMTypeOf(i), LLVMBuildPointerCast(b, at, LLVMTypeOf(address), ""), "");
    LLVMSetAlignment(load, LLVMGetAlignment(i));
    LLVMReplaceAllUsesWith(i, load);
    LLVMInstructionEraseFromParent(i);
}

static void lower_atomic(struct lanes *f, LLVMValueRef i)
{
    if (cc_is_atomic(i))
        cc_lower_atomic(f->l, i);
}

/* ---- a module's kernels ---- */

static LLVMValueRef find_kernel(struct lanes *f)
{
    f->entry = LLVMGetNamedFunction(f->l->module, cc_format("vgpu_entry_%zu", f->kernel));
    for (LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f->entry)); i != NULL;
         i = LLVMGetNextInstruction(i))
        if (LLVMIsACallInst(i) != NULL && LLVMIsAFunction(LLVMGetCalledValue(i)) != NULL &&
            !LLVMIsDeclaration(LLVMGetCalledValue(i)))
            f->call = i;
    return f->call != NULL ? LLVMGetCalledValue(f->call) : NULL;
}

/* Function passes skip functions with these attributes. */
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

/* Clang has made vectors of what lies side by side in one thread (a float4): they would keep
 * threads from being a vector. */
static const char scalar_passes[] = "function(scalarizer)";

/* A condition that is the same in all threads is asked before their loop. */
static const char *lane_passes(void)
{
    /* From LLVM 18 on it ends the program if once was not enough. */
    const char *combine =
        cc_llvm_release() < 18 ? "instcombine" : "instcombine<no-verify-fixpoint>";

    return cc_format("function(simplifycfg,sroa,simplifycfg,%s,loop-mssa(licm),"
                     "loop-mssa(simple-loop-unswitch<nontrivial>),simplifycfg,%s,loop-mssa(licm),"
                     "loop(loop-rotate),loop(indvars),loop-vectorize,slp-vectorizer,%s,"
                     "loop-mssa(licm),simplifycfg)",
                     combine, combine, combine);
}

/* Drops the fast form, for the reason `why`. */
static void drop_form(struct lanes *f, const char *why)
{
    LLVMDeleteFunction(f->function);
    f->function = NULL;
    f->careful = why;
}

static void divide_form(struct lanes *f)
{
    struct cc_regions r = {.l = f->l,
                           .of = &f->of,
                           .function = f->function,
                           .first = f->body,
                           .done = f->done,
                           .counter = f->counter,
                           .totals = LLVMGetParam(f->function, 2),
                           .counters = counters_of(f)};
    LLVMBuilderRef b = LLVMCreateBuilderInContext(f->l->context);

    LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(LLVMGetEntryBasicBlock(f->function)));
    r.counted = address_in(f, b, 2, counters_of(f), 64);
    r.shuffled = address_in(f, b, 2, counters_of(f) + 1, 64);
    const char *why = cc_make_regions(&r);
    if (why != NULL)
        drop_form(f, why);
}

/* Without a condition that may be false in some threads there is no edge. */
static size_t add_variants(struct lanes *f)
{
    for (int i = 1; i < VARIANTS; i++) {
        f[i] = f[0];
        f[i].variant = i;
        f[i].unused = i == EDGE && f->plan.guard_count == 0;
    }
    return VARIANTS;
}

static bool make_all(struct lanes *f, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (f[i].variant == PLAIN)
            cc_put_marks(f[i].l, &f[i].plan, f[i].source);
    for (size_t i = 0; i < count; i++)
        if (!f[i].unused)
            make_function(&f[i]);
    if (!cc_run_passes(f->l, "always-inline"))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!f[i].unused)
            fill_loops(&f[i]);
    if (!cc_run_passes(f->l, "always-inline"))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (f[i].unused)
            continue;
        for_instructions(&f[i], f[i].function, lower_instruction);
        for_instructions(&f[i], f[i].function, lower_known_load);
        for_instructions(&f[i], f[i].source, take_mark_back);
        for_instructions(&f[i], f[i].function, lower_atomic);
        cc_make_exact(f[i].l, f[i].function);
        for_instructions(&f[i], f[i].function, lower_growth);
    }
    set_optimized(f->l, true);
    if (!cc_run_passes(f->l, scalar_passes))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!f[i].unused && is_divided(&f[i]))
            divide_form(&f[i]);
    cc_delete_marks(f->l);
    bool done = cc_run_passes(f->l, lane_passes());
    set_optimized(f->l, false);
    return done;
}

static LLVMValueRef lanes_table(const struct lanes *f)
{
    LLVMValueRef run[VARIANTS];

    for (int i = 0; i < VARIANTS; i++)
        run[i] = f[i].function;
    return cc_lanes_table(f->l, &f->plan, run);
}

static void delete_copies(const LLVMValueRef *kernel, const LLVMValueRef *source, size_t kernels)
{
    for (size_t i = 0; i < kernels; i++)
        if (source[i] != kernel[i])
            LLVMDeleteFunction(source[i]);
}

/* Plans the fast forms of all kernels that may have one, `count` in all. */
static bool prepare(struct cc_lowering *l, struct lanes *f, LLVMValueRef *kernel,
                    LLVMValueRef *source, cc_set_lanes *set, size_t *count)
{
    size_t kernels = l->code->kernel_count;

    for (size_t i = 0; i < kernels; i++) {
        struct lanes of = {.l = l, .kernel = i};
        kernel[i] = source[i] = find_kernel(&of);
    }
    if (!cc_inline_calls(l, source, kernels))
        return false;
    for (size_t i = 0; i < kernels; i++) {
        struct lanes *at = &f[*count];
        *at = (struct lanes){.l = l, .kernel = i, .source = source[i]};
        cc_find_sums(l, source[i], find_kernel(at) != NULL ? at->call : NULL,
                     &l->code->kernel[i].sums);
        const char *why =
            at->call == NULL ? "it does nothing" : cc_plan_lanes(l, source[i], at->call, &at->plan);
        if (why != NULL)
            set(l, i, NULL, why);
        else
            *count += add_variants(at);
    }
    return true;
}

bool cc_add_lanes(struct cc_lowering *l, cc_set_lanes *set)
{
    size_t kernels = l->code->kernel_count, count = 0;
    struct lanes *f = cc_alloc((VARIANTS * kernels + 1) * sizeof *f);
    LLVMValueRef *kernel = cc_alloc((kernels + 1) * sizeof(LLVMValueRef)),
                 *source = cc_alloc((kernels + 1) * sizeof(LLVMValueRef));

    for (LLVMValueRef g = LLVMGetFirstFunction(l->module); g != NULL; g = LLVMGetNextFunction(g))
        cc_make_exact(l, g), cc_note_unused(l, g);
    if (!prepare(l, f, kernel, source, set, &count) || (count != 0 && !make_all(f, count)))
        return false;
    for (size_t i = 0; i < count; i += VARIANTS)
        set(l, f[i].kernel, f[i].function != NULL ? lanes_table(&f[i]) : NULL, f[i].careful);
    delete_copies(kernel, source, kernels);
    return true;
}
