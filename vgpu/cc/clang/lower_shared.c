/* SPDX-License-Identifier: MIT
 * lower_shared.c: __shared__ variables. Clang has them as global variables of address space 3; here
 * several blocks are in memory at the same time, so every function that uses one asks vgpu-exec at
 * its start for the memory of the block that runs.
 */
#include "diag.h"
#include "lower.h"

enum { SHARED_SPACE = 3, STATIC_SHARED_BYTES = 48 * 1024 };

struct use {
    struct cc_lowering *l;
    LLVMValueRef variable; /* the global */
    LLVMValueRef function; /* where it is replaced */
    LLVMValueRef base;     /* what it is there: a pointer of address space 0 */
    LLVMBuilderRef b;
};

static bool is_shared(LLVMValueRef global)
{
    return LLVMGetPointerAddressSpace(LLVMTypeOf(global)) == SHARED_SPACE;
}

/* Does the constant depend on the variable? */
static bool depends(LLVMValueRef value, LLVMValueRef variable)
{
    if (value == variable)
        return true;
    if (LLVMIsAConstantExpr(value) == NULL)
        return false;
    for (int i = 0; i < LLVMGetNumOperands(value); i++)
        if (depends(LLVMGetOperand(value, (unsigned)i), variable))
            return true;
    return false;
}

/* ---- a constant that depends on the variable's address becomes instructions ---- */

static LLVMValueRef rebuild(struct use *u, LLVMValueRef value);

static LLVMValueRef rebuild_gep(struct use *u, LLVMValueRef value)
{
    int count = LLVMGetNumOperands(value) - 1;
    LLVMValueRef *index = cc_alloc((size_t)(count + 1) * sizeof *index);

    for (int i = 0; i < count; i++)
        index[i] = rebuild(u, LLVMGetOperand(value, (unsigned)i + 1));
    return LLVMBuildGEP2(u->b, LLVMGetGEPSourceElementType(value),
                         rebuild(u, LLVMGetOperand(value, 0)), index, (unsigned)count, "");
}

static LLVMValueRef rebuild(struct use *u, LLVMValueRef value)
{
    if (value == u->variable)
        return u->base;
    if (!depends(value, u->variable))
        return value;
    int op = LLVMGetConstOpcode(value);
    if (op == LLVM_OP_GEP)
        return rebuild_gep(u, value);
    if (op == LLVM_OP_PTR_TO_INT || op == LLVM_OP_INT_TO_PTR || op == LLVM_OP_BIT_CAST ||
        op == LLVM_OP_ADDR_SPACE_CAST)
        return LLVMBuildCast(u->b, op, rebuild(u, LLVMGetOperand(value, 0)), LLVMTypeOf(value), "");
    return LLVMBuildBinOp(u->b, op, rebuild(u, LLVMGetOperand(value, 0)),
                          rebuild(u, LLVMGetOperand(value, 1)), "");
}

static void replace_operands(struct use *u, LLVMValueRef instruction)
{
    for (int i = 0; i < LLVMGetNumOperands(instruction); i++) {
        LLVMValueRef operand = LLVMGetOperand(instruction, (unsigned)i), before = instruction;
        if (LLVMIsAConstant(operand) == NULL || !depends(operand, u->variable))
            continue;
        if (LLVMIsAPHINode(instruction) != NULL)
            before = LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(instruction, (unsigned)i));
        LLVMPositionBuilderBefore(u->b, before);
        LLVMSetOperand(instruction, (unsigned)i, rebuild(u, operand));
    }
}

/* ---- which functions ---- */

static bool uses(LLVMValueRef function, LLVMValueRef variable)
{
    for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(function); k; k = LLVMGetNextBasicBlock(k))
        for (LLVMValueRef i = LLVMGetFirstInstruction(k); i; i = LLVMGetNextInstruction(i))
            for (int n = 0; n < LLVMGetNumOperands(i); n++) {
                LLVMValueRef operand = LLVMGetOperand(i, (unsigned)n);
                if (LLVMIsAConstant(operand) != NULL && depends(operand, variable))
                    return true;
            }
    return false;
}

/* The call that asks for the memory, at the function's start. */
static LLVMValueRef ask(struct use *u, unsigned id)
{
    struct cc_lowering *l = u->l;
    LLVMTypeRef byte = cc_byte_pointer(l, 0), number = cc_int_type(l, 32);
    LLVMTypeRef type = LLVMGlobalGetValueType(u->variable), three[] = {number, number, number};
    unsigned align = LLVMGetAlignment(u->variable);
    LLVMValueRef argument[] = {
        LLVMConstInt(number, id, 0), LLVMConstInt(number, LLVMABISizeOfType(l->layout, type), 0),
        LLVMConstInt(number, align != 0 ? align : LLVMABIAlignmentOfType(l->layout, type), 0)};
    bool dynamic = LLVMIsDeclaration(u->variable);
    const char *name = dynamic ? "vgpu_dynamic_shared" : "vgpu_shared";
    LLVMTypeRef call = LLVMFunctionType(byte, three, dynamic ? 0 : 3, 0);

    LLVMPositionBuilderBefore(u->b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(u->function)));
    LLVMValueRef memory =
        LLVMBuildCall2(u->b, call, cc_declare(l, name, call), argument, dynamic ? 0 : 3, "");
    LLVMValueRef pointer = LLVMBuildPointerCast(u->b, memory, LLVMPointerType(type, 0), "");
    return LLVMBuildCast(u->b, LLVM_OP_ADDR_SPACE_CAST, pointer, LLVMTypeOf(u->variable), "");
}

/* ---- how much a kernel has ---- */

struct functions {
    LLVMValueRef *item;
    size_t count, capacity;
};

static bool contains(const struct functions *all, LLVMValueRef function)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->item[i] == function)
            return true;
    return false;
}

/* Adds what the functions name, what those name, and so on. */
static void add_reached(struct functions *all)
{
    for (size_t at = 0; at < all->count; at++)
        for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(all->item[at]); k;
             k = LLVMGetNextBasicBlock(k))
            for (LLVMValueRef i = LLVMGetFirstInstruction(k); i; i = LLVMGetNextInstruction(i))
                for (int n = 0; n < LLVMGetNumOperands(i); n++) {
                    LLVMValueRef f = LLVMIsAFunction(LLVMGetOperand(i, (unsigned)n));
                    if (f == NULL || LLVMIsDeclaration(f) || contains(all, f))
                        continue;
                    all->item = cc_grow(all->item, all->count, &all->capacity, sizeof *all->item);
                    all->item[all->count++] = f;
                }
}

/* The function has so many bytes of the block's memory: so has each kernel that reaches it. */
static void add_bytes(struct cc_lowering *l, LLVMValueRef function, uint32_t bytes)
{
    for (size_t i = 0; i < l->code->kernel_count; i++) {
        struct cc_kernel *kernel = &l->code->kernel[i];
        struct functions reached = {0};
        reached.item = cc_grow(NULL, 0, &reached.capacity, sizeof *reached.item);
        reached.item[reached.count++] = kernel->function;
        add_reached(&reached);
        if (contains(&reached, function))
            kernel->shared_bytes += bytes;
    }
}

static void replace_in(struct cc_lowering *l, LLVMValueRef variable, LLVMValueRef function,
                       unsigned id)
{
    struct use u = {l, variable, function, NULL, LLVMCreateBuilderInContext(l->context)};

    if (LLVMIsDeclaration(function) || !uses(function, variable))
        return;
    u.base = ask(&u, id);
    for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(function); k; k = LLVMGetNextBasicBlock(k))
        for (LLVMValueRef i = LLVMGetFirstInstruction(k); i; i = LLVMGetNextInstruction(i))
            replace_operands(&u, i);
    if (!LLVMIsDeclaration(variable))
        add_bytes(l, function,
                  (uint32_t)LLVMABISizeOfType(l->layout, LLVMGlobalGetValueType(variable)));
}

static bool fits(const struct cc_kernel *kernel)
{
    if (kernel->shared_bytes <= STATIC_SHARED_BYTES)
        return true;
    cc_error((struct cc_place){kernel->file, (int)kernel->line, 1},
             "kernel '%s' has %u bytes of static shared memory; a block has 48 KiB (49152) of it, "
             "more must be dynamic",
             kernel->name, kernel->shared_bytes);
    return false;
}

bool cc_lower_shared(struct cc_lowering *l)
{
    LLVMValueRef next;
    unsigned id = 1;
    bool sound = true;

    for (LLVMValueRef g = LLVMGetFirstGlobal(l->module); g != NULL; g = LLVMGetNextGlobal(g), id++)
        if (is_shared(g))
            for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f; f = LLVMGetNextFunction(f))
                replace_in(l, g, f, id);
    for (LLVMValueRef g = LLVMGetFirstGlobal(l->module); g != NULL; g = next) {
        next = LLVMGetNextGlobal(g);
        if (is_shared(g)) {
            LLVMReplaceAllUsesWith(g, LLVMGetUndef(LLVMTypeOf(g))); /* lists such as llvm.used */
            LLVMDeleteGlobal(g);
        }
    }
    for (size_t i = 0; i < l->code->kernel_count; i++)
        sound &= fits(&l->code->kernel[i]);
    return sound;
}
