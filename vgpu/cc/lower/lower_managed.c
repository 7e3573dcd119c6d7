/* SPDX-License-Identifier: MIT
 * lower_managed.c: __managed__ variables in device code. The object lies in managed memory, which
 * the runtime allocates; the image has a slot for its address (struct cc_managed), from which each
 * function that names the variable loads it.
 */
#include <string.h>

#include "diag.h"
#include "image.h"
#include "lower.h"
#include "names.h"

bool cc_is_managed(LLVMValueRef global)
{
    const char *section = LLVMGetSection(global);

    return section != NULL && strcmp(section, CC_MANAGED_SECTION) == 0;
}

static uint64_t name_hash(const char *text)
{
    uint64_t start = 14695981039346656037u;

    for (const char *c = text; *c != 0; c++)
        start = (start ^ (unsigned char)*c) * 1099511628211u;
    return start;
}

static struct cc_managed describe(struct cc_lowering *l, LLVMValueRef variable)
{
    LLVMTypeRef type = LLVMGlobalGetValueType(variable);
    struct cc_managed managed = {.symbol = cc_value_name(variable),
                                 .bytes = LLVMABISizeOfType(l->layout, type)};
    uint64_t align = LLVMABIAlignmentOfType(l->layout, type);
    const char *all = cc_format("%s:%s", l->source, managed.symbol);

    managed.mark[0] = VGPU_MANAGED_MARK;
    managed.mark[1] = name_hash(all);
    managed.value_at = (sizeof managed.mark + align - 1) / align * align;
    return managed;
}

/* { mark, first value }: not constant, so that the compiler does not assume its contents. */
static LLVMValueRef add_place(struct cc_lowering *l, LLVMValueRef variable,
                              const struct cc_managed *managed)
{
    LLVMTypeRef number = cc_int_type(l, 64);
    LLVMValueRef field[] = {LLVMConstInt(number, managed->mark[0], 0),
                            LLVMConstInt(number, managed->mark[1], 0),
                            LLVMGetInitializer(variable)};
    LLVMValueRef value = LLVMConstStructInContext(l->context, field, 3, 0);
    LLVMValueRef place = LLVMAddGlobal(l->module, LLVMTypeOf(value),
                                       cc_format(CC_PLACE_PREFIX "%s", managed->symbol));

    LLVMSetInitializer(place, value);
    LLVMSetExternallyInitialized(place, 1);
    LLVMSetVisibility(place, LLVM_VISIBILITY_HIDDEN);
    LLVMSetAlignment(place, LLVMGetAlignment(variable) > 8 ? LLVMGetAlignment(variable) : 8);
    return place;
}

/* A function that loads the address: the load must not be reported as the program's. */
static const char *getter_of(LLVMValueRef variable)
{
    return cc_format("vgpu_managed:%s", cc_value_name(variable));
}

/* In address space 0: ThreadSanitizer's pass leaves out what comes from a pointer of another one.
 */
static LLVMTypeRef pointer_to(LLVMValueRef variable)
{
    return LLVMPointerType(LLVMGlobalGetValueType(variable), 0);
}

static void add_getter(struct cc_lowering *l, LLVMValueRef variable, LLVMValueRef place)
{
    LLVMTypeRef pointer = pointer_to(variable);
    LLVMValueRef f =
        LLVMAddFunction(l->module, getter_of(variable), LLVMFunctionType(pointer, NULL, 0, 0));
    LLVMBuilderRef b = LLVMCreateBuilderInContext(l->context);

    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(l->context, f, ""));
    LLVMValueRef at = LLVMBuildPointerCast(b, place, LLVMPointerType(pointer, 0), "");
    LLVMBuildRet(b, LLVMBuildLoad2(b, pointer, at, ""));
    LLVMSetLinkage(f, LLVM_LINKAGE_INTERNAL);
}

static LLVMValueRef managed_address(struct cc_lowering *l, LLVMBuilderRef b, LLVMValueRef variable,
                                    unsigned id)
{
    LLVMTypeRef type = LLVMFunctionType(pointer_to(variable), NULL, 0, 0);
    LLVMValueRef getter = LLVMGetNamedFunction(l->module, getter_of(variable));

    (void)id;
    return LLVMBuildCast(b, LLVM_OP_ADDR_SPACE_CAST, LLVMBuildCall2(b, type, getter, NULL, 0, ""),
                         LLVMTypeOf(variable), "");
}

static bool lower(struct cc_lowering *l, LLVMValueRef variable)
{
    struct cc_device_code *code = l->code;
    struct cc_managed managed = describe(l, variable);
    const char *qualified;

    add_getter(l, variable, add_place(l, variable, &managed));
    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f; f = LLVMGetNextFunction(f))
        cc_replace_in(l, variable, f, managed_address, 0);
    code->managed =
        cc_grow(code->managed, code->managed_count, &code->managed_capacity, sizeof managed);
    code->managed[code->managed_count++] = managed;
    if (cc_delete_unused(variable))
        return true;
    cc_plain_name(managed.symbol, &qualified);
    cc_fail("the address of the __managed__ variable '%s' is the first value of a variable, but "
            "it is known when the program runs only; assign it in a function",
            qualified);
    return false;
}

bool cc_lower_managed(struct cc_lowering *l)
{
    LLVMValueRef next;
    bool sound = true;

    for (LLVMValueRef g = LLVMGetFirstGlobal(l->module); g != NULL; g = next) {
        next = LLVMGetNextGlobal(g);
        l->code->names_managed |= cc_is_managed(g);
        if (cc_is_managed(g) && !LLVMIsDeclaration(g))
            sound &= lower(l, g);
    }
    return sound;
}
