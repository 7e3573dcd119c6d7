/* SPDX-License-Identifier: MIT
 * lower_debug.c: -G: debug information for lowered variables, from Clang's for the original ones.
 *
 * A __shared__ variable becomes a local one of each function that uses it: a debugger follows a
 * pointer in the function's frame. A dynamic one, for which Clang has no debug information, is that
 * pointer. __device__ and __constant__ variables are in a compile unit of their own: Clang's unit
 * gives them an address space that this processor does not have.
 */
#include <string.h>

#include "lower.h"
#include "names.h"

enum { LANGUAGE_CXX = 3, FULL_EMISSION = 1, POINTER_BITS = 64 }; /* LLVM's numbers */
enum { NAMESPACE = 20 };                                         /* of metadata */
enum { DW_OP_DEREF = 0x06 };
enum { DW_ATE_FLOAT = 4, DW_ATE_SIGNED = 5, DW_ATE_UNSIGNED_CHAR = 8 };
enum { OPERAND_NAME = 1, OPERAND_TYPE = 3 }; /* of a DIVariable, in every release */

/* Clang's debug information for a variable. */
struct variable_info {
    const char *name;
    LLVMMetadataRef type, file, scope;
    unsigned line;
};

static LLVMDIBuilderRef info_builder(struct cc_lowering *l)
{
    if (l->info == NULL)
        l->info = LLVMCreateDIBuilder(l->module);
    return l->info;
}

static unsigned info_kind(const struct cc_lowering *l)
{
    return LLVMGetMDKindIDInContext(l->context, "dbg", 3);
}

/* False: there is none. */
static bool read_info(const struct cc_lowering *l, LLVMValueRef global, struct variable_info *info)
{
    LLVMValueRef operand[16];
    LLVMMetadataRef variable = NULL;
    unsigned length;
    size_t count;
    LLVMValueMetadataEntry *entry = LLVMGlobalCopyAllMetadata(global, &count);

    for (size_t i = 0; i < count && variable == NULL; i++)
        if (LLVMValueMetadataEntriesGetKind(entry, (unsigned)i) == info_kind(l))
            variable = LLVMDIGlobalVariableExpressionGetVariable(
                LLVMValueMetadataEntriesGetMetadata(entry, (unsigned)i));
    if (variable == NULL)
        return false;
    LLVMValueRef node = LLVMMetadataAsValue(l->context, variable);
    if (LLVMGetMDNodeNumOperands(node) > sizeof operand / sizeof *operand)
        return false;
    LLVMGetMDNodeOperands(node, operand);
    if (operand[OPERAND_NAME] == NULL || operand[OPERAND_TYPE] == NULL)
        return false;
    const char *name = LLVMGetMDString(operand[OPERAND_NAME], &length);
    *info = (struct variable_info){.name = cc_copy(name, length),
                                   .type = LLVMValueAsMetadata(operand[OPERAND_TYPE]),
                                   .file = LLVMDIVariableGetFile(variable),
                                   .scope = LLVMDIVariableGetScope(variable),
                                   .line = LLVMDIVariableGetLine(variable)};
    return true;
}

/* ---- __shared__ ---- */

static LLVMMetadataRef basic_type(struct cc_lowering *l, const char *name, uint64_t bits,
                                  unsigned encoding)
{
    return LLVMDIBuilderCreateBasicType(info_builder(l), name, strlen(name), bits, encoding, 0);
}

/* The type of a dynamic array's elements, as far as LLVM has it. */
static LLVMMetadataRef element_info(struct cc_lowering *l, LLVMTypeRef array)
{
    enum { FLOAT = 2, DOUBLE = 3, ARRAY = 11 };
    LLVMTypeRef type = LLVMGetTypeKind(array) == ARRAY ? LLVMGetElementType(array) : array;
    int kind = LLVMGetTypeKind(type);
    unsigned bits = kind == LLVM_TYPE_INTEGER ? LLVMGetIntTypeWidth(type) : 0;

    if (kind == FLOAT)
        return basic_type(l, "float", 32, DW_ATE_FLOAT);
    if (kind == DOUBLE)
        return basic_type(l, "double", 64, DW_ATE_FLOAT);
    if (bits == 16 || bits == 32 || bits == 64)
        return basic_type(l,
                          bits == 16   ? "short"
                          : bits == 32 ? "int"
                                       : "long",
                          bits, DW_ATE_SIGNED);
    return basic_type(l, "unsigned char", 8, DW_ATE_UNSIGNED_CHAR);
}

static struct variable_info dynamic_info(struct cc_lowering *l, LLVMValueRef variable)
{
    struct variable_info info = {0};
    LLVMMetadataRef element = element_info(l, LLVMGlobalGetValueType(variable));

    cc_plain_name(cc_value_name(variable), &info.name);
    for (const char *at; (at = strstr(info.name, "::")) != NULL;)
        info.name = at + 2; /* declared in a function: sum(...)::tile */
    info.type = LLVMDIBuilderCreatePointerType(info_builder(l), element, POINTER_BITS, 0, 0, "", 0);
    return info;
}

void cc_tell_shared(struct cc_lowering *l, LLVMBuilderRef b, LLVMValueRef variable,
                    LLVMValueRef pointer)
{
    LLVMBasicBlockRef block = LLVMGetInstructionParent(pointer);
    LLVMMetadataRef function = LLVMGetSubprogram(LLVMGetBasicBlockParent(block)), expression;
    bool dynamic = LLVMIsDeclaration(variable);
    uint64_t follow = DW_OP_DEREF;
    struct variable_info info;

    if (function == NULL || (!dynamic && !read_info(l, variable, &info)))
        return;
    if (dynamic)
        info = dynamic_info(l, variable);
    unsigned line = info.line != 0 ? info.line : LLVMDISubprogramGetLine(function);
    LLVMValueRef kept = LLVMBuildAlloca(b, LLVMTypeOf(pointer), "");
    LLVMValueRef store = LLVMBuildStore(b, pointer, kept);
    expression = LLVMDIBuilderCreateExpression(info_builder(l), &follow, dynamic ? 0 : 1);
    LLVMMetadataRef local =
        LLVMDIBuilderCreateAutoVariable(info_builder(l), function, info.name, strlen(info.name),
                                        LLVMDIScopeGetFile(function), line, info.type, 1, 0, 0);
    LLVMDIBuilderInsertDeclareBefore(
        info_builder(l), kept, local, expression,
        LLVMDIBuilderCreateDebugLocation(l->context, line, 0, function, NULL), store);
}

/* ---- __device__ and __constant__ ---- */

static void make_compile_unit(struct cc_lowering *l, LLVMMetadataRef file)
{
    static const char producer[] = "vgpu-cc";

    if (l->unit == NULL)
        l->unit = LLVMDIBuilderCreateCompileUnit(info_builder(l), LANGUAGE_CXX, file, producer,
                                                 sizeof producer - 1, 0, "", 0, 0, "", 0,
                                                 FULL_EMISSION, 0, 1, 0, "", 0, "", 0);
}

/* The namespace, or else the new unit: all other scopes belong to Clang's unit. */
static LLVMMetadataRef outer_scope(const struct cc_lowering *l, LLVMMetadataRef scope)
{
    return scope != NULL && LLVMGetMetadataKind(scope) == NAMESPACE ? scope : l->unit;
}

void cc_tell_global(struct cc_lowering *l, LLVMValueRef old, LLVMValueRef global)
{
    struct variable_info info;

    if (!read_info(l, old, &info))
        return;
    make_compile_unit(l, info.file);
    LLVMMetadataRef none = LLVMDIBuilderCreateExpression(info_builder(l), NULL, 0);
    LLVMGlobalSetMetadata(
        global, info_kind(l),
        LLVMDIBuilderCreateGlobalVariableExpression(info_builder(l), outer_scope(l, info.scope),
                                                    info.name, strlen(info.name), "", 0, info.file,
                                                    info.line, info.type, 0, none, NULL, 0));
}

void cc_end_info(struct cc_lowering *l)
{
    if (l->info != NULL)
        LLVMDIBuilderFinalize(l->info);
}
