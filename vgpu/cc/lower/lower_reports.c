/* SPDX-License-Identifier: MIT
 * lower_reports.c: the callbacks that report accesses. ThreadSanitizer's pass inserts most of them.
 * This file adds those that it omits, and rejects names and functions by which a program could
 * avoid or fake them.
 */
#include <string.h>

#include "diag.h"
#include "lower.h"
#include "names.h"

/* ---- names ---- */

/* What only this compiler writes: reports of accesses, and counters. */
static bool is_written_here(const char *name)
{
    static const char *const own[] = {"vgpu_rounds", "vgpu_sweep_holds", "vgpu_sweep_count",
                                      "vgpu_early_store", "vgpu_work"};

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(name, own[i]) == 0)
            return true;
    return cc_starts(name, "__tsan_");
}

static void check_name(LLVMValueRef value)
{
    const char *name = cc_value_name(value);
    LLVMValueRef user = is_written_here(name) ? cc_first_user(value) : NULL;

    if (user != NULL)
        cc_error(cc_place_of(user), "%s is not allowed in device code", name);
    else if (!LLVMIsDeclaration(value) && cc_is_reserved(name))
        cc_error(cc_place_of(value),
                 "'%s' is the name of a function of the virtual node itself: device code must not "
                 "define it",
                 name);
}

/* Calls of these are inserted for real accesses and real work; a program's own calls of them would
 * report what never happens. A definition under a name of vgpu-exec's would be called
 * in its place. */
void cc_check_reports(struct cc_lowering *l)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f != NULL; f = LLVMGetNextFunction(f))
        check_name(f);
    for (LLVMValueRef g = LLVMGetFirstGlobal(l->module); g != NULL; g = LLVMGetNextGlobal(g))
        check_name(g);
}

/* ---- LLVM's own functions ---- */

static bool is_address(LLVMTypeRef type)
{
    if (LLVMGetTypeKind(type) == LLVM_TYPE_VECTOR)
        type = LLVMGetElementType(type);
    return LLVMGetTypeKind(type) == LLVM_TYPE_POINTER;
}

static bool takes_address(LLVMValueRef function)
{
    for (unsigned i = 0; i < LLVMCountParams(function); i++)
        if (is_address(LLVMTypeOf(LLVMGetParam(function, i))))
            return true;
    return false;
}

/* These are reported, or access no memory. */
static bool is_seen_intrinsic(const char *name)
{
    static const char *const known[] = {
        "memcpy.",  "memmove.",   "memset.",        "lifetime.",      "dbg.",         "invariant.",
        "launder.", "strip.",     "prefetch",       "objectsize",     "stackrestore", "ptrmask.",
        "assume",   "annotation", "ptr.annotation", "var.annotation", "ssa.copy"};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (cc_starts(name + strlen("llvm."), known[i]))
            return true;
    return false;
}

/* Rejects copies of argument lists, jumps to an address, and other unreported uses of pointers. */
void cc_check_intrinsics(struct cc_lowering *l)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f != NULL; f = LLVMGetNextFunction(f)) {
        const char *name = cc_value_name(f);
        if (!cc_starts(name, "llvm.") || LLVMGetFirstUse(f) == NULL || !takes_address(f) ||
            is_seen_intrinsic(name))
            continue;
        cc_error(cc_place_of(LLVMGetUser(LLVMGetFirstUse(f))),
                 "what becomes '%s' is not allowed in device code: it uses memory, or jumps, by an "
                 "address that nothing checks",
                 name);
    }
}

/* ---- accesses that ThreadSanitizer leaves out ---- */

/* Whether ThreadSanitizer reports accesses of that size. */
static bool is_usual(uint64_t bytes)
{
    return bytes <= 16 && (bytes & (bytes - 1)) == 0;
}

static void report_range(struct cc_lowering *l, LLVMValueRef before, LLVMValueRef address,
                         uint64_t bytes, bool write)
{
    LLVMTypeRef number = cc_int_type(l, 64), parameter[] = {cc_byte_pointer(l, 0), number};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(l->context), parameter, 2, 0);
    LLVMValueRef report = cc_declare(l, write ? "__tsan_write_range" : "__tsan_read_range", type);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(l->context);

    LLVMPositionBuilderBefore(b, before);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(before));
    LLVMValueRef argument[] = {LLVMBuildPointerCast(b, address, parameter[0], ""),
                               LLVMConstInt(number, bytes, 0)};
    LLVMBuildCall2(b, type, report, argument, 2, "");
}

/* Sizes such as three bytes, or 32 of a vector. */
static void report_size(struct cc_lowering *l, LLVMValueRef instruction)
{
    int operand = cc_address_operand(instruction);
    uint64_t bytes = operand < 0 ? 0 : cc_accessed_bytes(l, instruction);

    if (operand < 0 || is_usual(bytes))
        return;
    LLVMValueRef address = LLVMGetOperand(instruction, (unsigned)operand);
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(address)) == 0 && !cc_is_unreported(address))
        report_range(l, instruction, address, bytes,
                     LLVMGetInstructionOpcode(instruction) != LLVM_OP_LOAD);
}

/* A structure that is passed by value is copied by the call itself, from any memory. */
static void report_structures(struct cc_lowering *l, LLVMValueRef call)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);
    int count = LLVMIsACallInst(call) != NULL ? LLVMGetNumOperands(call) - 1 : 0;

    for (int i = 0; i < count; i++) {
        LLVMAttributeRef by_value = LLVMGetCallSiteEnumAttribute(call, (unsigned)i + 1, kind);
        if (by_value != NULL)
            report_range(l, call, LLVMGetOperand(call, (unsigned)i),
                         LLVMABISizeOfType(l->layout, LLVMGetTypeAttributeValue(by_value)), false);
    }
}

/* A kernel's entry (lower_kernel.c) reads the arguments, which lie in no window of memory. */
static bool is_entry(LLVMValueRef instruction)
{
    static const char mark[] = "disable_sanitizer_instrumentation";
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction));

    return LLVMGetEnumAttributeAtIndex(function, (unsigned)LLVM_ATTRIBUTE_FUNCTION,
                                       LLVMGetEnumAttributeKindForName(mark, sizeof mark - 1)) !=
           NULL;
}

static void report_rest(struct cc_lowering *l, LLVMValueRef instruction)
{
    if (is_entry(instruction))
        return;
    report_size(l, instruction);
    report_structures(l, instruction);
}

void cc_report_rest(struct cc_lowering *l)
{
    cc_for_instructions(l, report_rest);
}
