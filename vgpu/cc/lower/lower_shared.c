/* SPDX-License-Identifier: MIT
 * lower_shared.c: __shared__ variables. Clang emits them as global variables of address space 3;
 * here several blocks are resident at the same time, so every function that uses one requests the
 * current block's memory from vgpu-exec at its start.
 */
#include "diag.h"
#include "launch_limits.h"
#include "lower.h"

enum { SHARED_SPACE = 3 };

static bool is_shared(LLVMValueRef global)
{
    return LLVMGetPointerAddressSpace(LLVMTypeOf(global)) == SHARED_SPACE;
}

/* Inserts the call that requests the memory, at the function's start. */
static LLVMValueRef shared_address(struct cc_lowering *l, LLVMBuilderRef b, LLVMValueRef variable,
                                   unsigned id)
{
    LLVMTypeRef byte = cc_byte_pointer(l, 0), number = cc_int_type(l, 32);
    LLVMTypeRef type = LLVMGlobalGetValueType(variable), three[] = {number, number, number};
    unsigned align = LLVMGetAlignment(variable);
    LLVMValueRef argument[] = {
        LLVMConstInt(number, id, 0), LLVMConstInt(number, LLVMABISizeOfType(l->layout, type), 0),
        LLVMConstInt(number, align != 0 ? align : LLVMABIAlignmentOfType(l->layout, type), 0)};
    bool dynamic = LLVMIsDeclaration(variable);
    const char *name = dynamic ? "vgpu_dynamic_shared" : "vgpu_shared";
    LLVMTypeRef call = LLVMFunctionType(byte, three, dynamic ? 0 : 3, 0);

    LLVMValueRef memory =
        LLVMBuildCall2(b, call, cc_declare(l, name, call), argument, dynamic ? 0 : 3, "");
    LLVMValueRef pointer = LLVMBuildPointerCast(b, memory, LLVMPointerType(type, 0), "");
    if (l->debug)
        cc_tell_shared(l, b, variable, pointer);
    return LLVMBuildCast(b, LLVM_OP_ADDR_SPACE_CAST, pointer, LLVMTypeOf(variable), "");
}

/* ---- bytes per kernel ---- */

struct functions {
    LLVMValueRef *item;
    size_t count, capacity;
};

static bool has_function(const struct functions *all, LLVMValueRef function)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->item[i] == function)
            return true;
    return false;
}

/* Adds the functions that these use, transitively. */
static void add_reached(struct functions *all)
{
    for (size_t at = 0; at < all->count; at++)
        for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(all->item[at]); k;
             k = LLVMGetNextBasicBlock(k))
            for (LLVMValueRef i = LLVMGetFirstInstruction(k); i; i = LLVMGetNextInstruction(i))
                for (int n = 0; n < LLVMGetNumOperands(i); n++) {
                    LLVMValueRef f = LLVMIsAFunction(LLVMGetOperand(i, (unsigned)n));
                    if (f == NULL || LLVMIsDeclaration(f) || has_function(all, f))
                        continue;
                    all->item = cc_grow(all->item, all->count, &all->capacity, sizeof *all->item);
                    all->item[all->count++] = f;
                }
}

/* Adds the bytes of a variable in this function to each kernel that reaches the function. */
static void add_shared_bytes(struct cc_lowering *l, LLVMValueRef function, uint32_t bytes)
{
    for (size_t i = 0; i < l->code->kernel_count; i++) {
        struct cc_kernel *kernel = &l->code->kernel[i];
        struct functions reached = {0};
        reached.item = cc_grow(NULL, 0, &reached.capacity, sizeof *reached.item);
        reached.item[reached.count++] = kernel->function;
        add_reached(&reached);
        if (has_function(&reached, function))
            kernel->shared_bytes += bytes;
    }
}

static void replace_in(struct cc_lowering *l, LLVMValueRef variable, LLVMValueRef function,
                       unsigned id)
{
    if (cc_replace_in(l, variable, function, shared_address, id) && !LLVMIsDeclaration(variable))
        add_shared_bytes(l, function,
                         (uint32_t)LLVMABISizeOfType(l->layout, LLVMGlobalGetValueType(variable)));
}

static bool shared_fits(const struct cc_kernel *kernel)
{
    if (kernel->shared_bytes <= VGPU_STATIC_SHARED_MAX)
        return true;
    cc_error((struct cc_place){kernel->file, (int)kernel->line, 1},
             "kernel '%s' has %u bytes of static shared memory; a block has %d KiB (%d) of it, "
             "more must be dynamic",
             kernel->name, kernel->shared_bytes, VGPU_STATIC_SHARED_MAX / 1024,
             VGPU_STATIC_SHARED_MAX);
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
        sound &= shared_fits(&l->code->kernel[i]);
    return sound;
}
