/* SPDX-License-Identifier: MIT
 * host_managed.c: __managed__ variables in host code. Clang emits each as a variable of the host
 * (the shadow of a __device__ variable); here it becomes a pointer to the object in managed memory,
 * which every function that names the variable loads. The runtime sets it when the variable is
 * registered, before any other constructor runs.
 */
#include <string.h>

#include "diag.h"
#include "lower.h"
#include "names.h"

enum { EARLY = 1000 }; /* priority of constructors; without a number it is 65535 */

static LLVMValueRef cell_of(struct cc_lowering *l, LLVMValueRef variable)
{
    return LLVMGetNamedGlobal(l->module, cc_format("%s.managed", cc_value_name(variable)));
}

static LLVMValueRef load_cell(struct cc_lowering *l, LLVMBuilderRef b, LLVMValueRef variable,
                              unsigned id)
{
    (void)id;
    return LLVMBuildLoad2(b, LLVMTypeOf(variable), cell_of(l, variable), "");
}

static LLVMValueRef take_cell(struct cc_lowering *l, LLVMBuilderRef b, LLVMValueRef variable,
                              unsigned id)
{
    (void)b, (void)id;
    return LLVMConstPointerCast(cell_of(l, variable), LLVMTypeOf(variable));
}

static void add_pointer_cell(struct cc_lowering *l, LLVMValueRef variable)
{
    const char *name = cc_format("%s.managed", cc_value_name(variable));
    LLVMTypeRef pointer = LLVMTypeOf(variable);
    LLVMValueRef cell = LLVMAddGlobal(l->module, pointer, name);

    if (!LLVMIsDeclaration(variable))
        LLVMSetInitializer(cell, LLVMConstNull(pointer));
    LLVMSetLinkage(cell, LLVMGetLinkage(variable));
}

static bool change_managed(struct cc_lowering *l, LLVMValueRef variable)
{
    const char *qualified;

    add_pointer_cell(l, variable);
    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f; f = LLVMGetNextFunction(f)) {
        bool registers = strcmp(cc_value_name(f), "__cuda_register_globals") == 0;
        cc_replace_in(l, variable, f, registers ? take_cell : load_cell, 0);
    }
    if (cc_delete_unused(variable))
        return true;
    cc_plain_name(cc_value_name(variable), &qualified);
    cc_fail("the address of the __managed__ variable '%s' is the first value of a variable, but "
            "it is known when the program runs only; assign it in a function",
            qualified);
    return false;
}

/* Registers the file's variables before constructors of this and other files run. */
static void register_early(struct cc_lowering *l)
{
    LLVMValueRef list = LLVMGetNamedGlobal(l->module, "llvm.global_ctors"), row[64], field[3];
    LLVMValueRef rows = list != NULL ? LLVMGetInitializer(list) : NULL;
    int count = rows != NULL ? LLVMGetNumOperands(rows) : 0;

    if (count == 0 || count > 64)
        return;
    for (int i = 0; i < count; i++) {
        row[i] = LLVMGetOperand(rows, (unsigned)i);
        for (unsigned k = 0; k < 3; k++)
            field[k] = LLVMGetOperand(row[i], k);
        char *text = LLVMPrintValueToString(field[1]);
        if (strstr(text, "@__cuda_module_ctor") == NULL)
            continue;
        field[0] = LLVMConstInt(cc_int_type(l, 32), EARLY, 0);
        row[i] = LLVMConstStructInContext(l->context, field, 3, 0);
    }
    LLVMSetInitializer(list, LLVMConstArray(LLVMTypeOf(row[0]), row, (unsigned)count));
}

bool cc_change_managed(int release, const char *bitcode, const char *changed)
{
    struct cc_lowering l;
    LLVMValueRef next;

    if (!cc_read_host(release, bitcode, &l))
        return false;
    for (LLVMValueRef g = LLVMGetFirstGlobal(l.module); g != NULL; g = next) {
        next = LLVMGetNextGlobal(g);
        if (cc_is_managed(g) && !change_managed(&l, g))
            return false;
    }
    register_early(&l);
    return LLVMWriteBitcodeToFile(l.module, changed) == 0;
}
