/* SPDX-License-Identifier: MIT
 * lower_values.c: names, types and places of LLVM's values.
 */
#include "lower.h"

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

LLVMValueRef cc_declare(struct cc_lowering *l, const char *name, LLVMTypeRef type)
{
    LLVMValueRef found = LLVMGetNamedFunction(l->module, name);

    return found != NULL ? found : LLVMAddFunction(l->module, name, type);
}

static struct cc_place place_of_function(LLVMValueRef function)
{
    LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
    unsigned length;

    if (subprogram == NULL)
        return (struct cc_place){"", 0, 1};
    const char *file = LLVMDIFileGetFilename(LLVMDIScopeGetFile(subprogram), &length);
    return (struct cc_place){cc_copy(file, length), (int)LLVMDISubprogramGetLine(subprogram), 1};
}

struct cc_place cc_place_of(LLVMValueRef value)
{
    unsigned length;

    if (LLVMIsAFunction(value) != NULL)
        return place_of_function(value);
    if (LLVMIsAInstruction(value) == NULL || LLVMInstructionGetDebugLoc(value) == NULL)
        return (struct cc_place){"", 0, 1};
    const char *file = LLVMGetDebugLocFilename(value, &length);
    return (struct cc_place){cc_copy(file != NULL ? file : "", file != NULL ? length : 0),
                             (int)LLVMGetDebugLocLine(value), (int)LLVMGetDebugLocColumn(value)};
}
