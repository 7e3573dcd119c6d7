/* SPDX-License-Identifier: MIT
 * values.c: names, types and source locations of LLVM values.
 */
#include <string.h>
#include <unistd.h>

#include "module.h"

const char *cc_value_name(LLVMValueRef value)
{
    size_t length;
    const char *name = LLVMGetValueName2(value, &length);

    return cc_copy(name, length);
}

LLVMTypeRef cc_int_type(const struct cc_lowering *l, unsigned bits)
{
    return LLVMIntTypeInContext(l->context, bits);
}

LLVMTypeRef cc_byte_pointer(const struct cc_lowering *l, unsigned space)
{
    return LLVMPointerType(cc_int_type(l, 8), space);
}

LLVMValueRef cc_number(const struct cc_lowering *l, uint64_t value, unsigned bits)
{
    return LLVMConstInt(cc_int_type(l, bits), value, 0);
}

LLVMBasicBlockRef cc_add_block(const struct cc_lowering *l, LLVMValueRef function)
{
    return LLVMAppendBasicBlockInContext(l->context, function, "");
}

LLVMValueRef cc_declare(struct cc_lowering *l, const char *name, LLVMTypeRef type)
{
    LLVMValueRef found = LLVMGetNamedFunction(l->module, name);

    return found != NULL ? found : LLVMAddFunction(l->module, name, type);
}

void cc_for_instructions(struct cc_lowering *l, cc_step *does)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f != NULL; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                does(l, i);
}

/* Clang removes the common prefix of the file's path and the working folder from the name. */
static const char *scope_file(LLVMMetadataRef scope)
{
    LLVMMetadataRef file = LLVMDIScopeGetFile(scope);
    unsigned length;
    char here[4096] = "";

    if (file == NULL)
        return "";
    const char *text = LLVMDIFileGetFilename(file, &length), *name = cc_copy(text, length);
    text = LLVMDIFileGetDirectory(file, &length);
    const char *folder = text != NULL ? cc_copy(text, length) : "";
    bool is_here = getcwd(here, sizeof here) != NULL && strcmp(folder, here) == 0;
    return *name == '/' || *folder == 0 || is_here ? name : cc_format("%s/%s", folder, name);
}

static struct cc_place place_of_function(LLVMValueRef function)
{
    LLVMMetadataRef subprogram = LLVMGetSubprogram(function);

    if (subprogram == NULL)
        return (struct cc_place){"", 0, 1};
    return (struct cc_place){scope_file(subprogram), (int)LLVMDISubprogramGetLine(subprogram), 1};
}

/* Whether the location is in a header of the compiler or the system. */
static bool is_systems(LLVMMetadataRef location)
{
    return cc_starts(scope_file(LLVMDILocationGetScope(location)), "/usr/");
}

struct cc_place cc_place_of(LLVMValueRef value)
{
    LLVMMetadataRef at = NULL, caller;

    if (LLVMIsAFunction(value) != NULL)
        return place_of_function(value);
    if (LLVMIsAInstruction(value) != NULL)
        at = LLVMInstructionGetDebugLoc(value);
    if (at == NULL)
        return (struct cc_place){"", 0, 1};
    while (is_systems(at) && (caller = LLVMDILocationGetInlinedAt(at)) != NULL)
        at = caller;
    return (struct cc_place){scope_file(LLVMDILocationGetScope(at)), (int)LLVMDILocationGetLine(at),
                             (int)LLVMDILocationGetColumn(at)};
}

static LLVMTypeRef accessed_type(LLVMValueRef instruction)
{
    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVM_OP_STORE:
        return LLVMTypeOf(LLVMGetOperand(instruction, 0));
    case LLVM_OP_LOAD:
        return LLVMTypeOf(instruction);
    default:
        return LLVMTypeOf(LLVMGetOperand(instruction, 1));
    }
}

uint64_t cc_accessed_bytes(struct cc_lowering *l, LLVMValueRef instruction)
{
    return LLVMStoreSizeOfType(l->layout, accessed_type(instruction));
}

bool cc_run_passes(struct cc_lowering *l, const char *passes)
{
    LLVMErrorRef error =
        LLVMRunPasses(l->module, passes, l->machine, LLVMCreatePassBuilderOptions());

    if (error == NULL)
        return true;
    cc_fail("LLVM's passes '%s': %s", passes, LLVMGetErrorMessage(error));
    return false;
}
