/* SPDX-License-Identifier: MIT
 * ptx_signature.c: the parameters and results of PTX functions.
 *
 * A kernel's bytes are passed as Clang passes structures, by value in memory; between functions
 * they are an array of words.
 */
#include "ptx_module.h"

#include <stdlib.h>
#include <string.h>

enum { KERNEL_CONVENTION = 71 };

/* .align 8 .b8 name[24]; .u64 .ptr .global .align 4 name */
bool cc_ptx_read_param(struct cc_ptx_module *m, struct cc_ptx_param *param)
{
    struct cc_place place = cc_ptx_here(m);
    const char *from = m->at, *word;
    struct cc_ptx_type type = {0};

    for (word = cc_ptx_next(m); *word == '.'; word = cc_ptx_next(m))
        if (strcmp(word, ".align") == 0)
            param->align = (unsigned)atoi(cc_ptx_next(m));
        else if (strcmp(word, ".ptr") != 0 && type.bits == 0 && !cc_ptx_type(word + 1, &type))
            return cc_ptx_refuse(m, place, from, "a parameter that the virtual node does not know");
    param->name = word;
    param->bits = type.bits;
    param->bytes = (type.bits + 7) / 8;
    if (cc_ptx_take(m, "[")) {
        param->bytes *= strtoull(cc_ptx_next(m), NULL, 0);
        param->bits = 0;
        cc_ptx_take(m, "]");
    }
    return type.bits != 0 || cc_ptx_refuse(m, place, from, "a parameter without a type");
}

static bool read_list(struct cc_ptx_module *m, struct cc_ptx_param **list, unsigned *count)
{
    size_t room = 0;

    while (!cc_ptx_take(m, ")")) {
        struct cc_ptx_param param = {.align = 1};
        struct cc_place place = cc_ptx_here(m);
        const char *from = m->at, *word = cc_ptx_next(m);
        param.is_register = strcmp(word, ".reg") == 0;
        if (!param.is_register && strcmp(word, ".param") != 0)
            return cc_ptx_refuse(m, place, from, "a parameter that the virtual node does not know");
        if (!cc_ptx_read_param(m, &param))
            return false;
        *list = cc_grow(*list, *count, &room, sizeof param);
        (*list)[(*count)++] = param;
        cc_ptx_take(m, ",");
    }
    return true;
}

/* .maxntid 256, 1, 1 */
static void read_threads(struct cc_ptx_module *m, struct cc_ptx_signature *signature)
{
    signature->threads = strtoull(cc_ptx_next(m), NULL, 0);
    while (cc_ptx_take(m, ","))
        signature->threads *= strtoull(cc_ptx_next(m), NULL, 0);
}

/* .reqnctapercluster 2, 1, 1 */
static void read_cluster_size(struct cc_ptx_module *m, struct cc_ptx_signature *signature)
{
    for (int i = 0; i < 3; i++)
        signature->cluster[i] =
            i == 0 || cc_ptx_take(m, ",") ? strtoull(cc_ptx_next(m), NULL, 0) : 1;
}

/* Limits of registers and the like, which change nothing here. */
static void read_directives(struct cc_ptx_module *m, struct cc_ptx_signature *signature)
{
    while (*cc_ptx_peek(m) == '.') {
        const char *word = cc_ptx_next(m);
        if (strcmp(word, ".maxntid") == 0 || strcmp(word, ".reqntid") == 0)
            read_threads(m, signature);
        else if (strcmp(word, ".reqnctapercluster") == 0)
            read_cluster_size(m, signature);
        else if (strcmp(word, ".pragma") == 0)
            cc_ptx_skip_past(m, ";");
        else
            while (strchr("0123456789,", *cc_ptx_peek(m)) != NULL && *cc_ptx_peek(m) != 0)
                cc_ptx_next(m);
    }
}

bool cc_ptx_read_signature(struct cc_ptx_module *m, struct cc_ptx_signature *signature)
{
    struct cc_place place = cc_ptx_here(m);
    const char *from = m->at;
    struct cc_ptx_param *result = NULL;
    unsigned results = 0;

    if (cc_ptx_take(m, "(") && !read_list(m, &result, &results))
        return false;
    signature->name = cc_ptx_next(m);
    if (results > 1)
        return cc_ptx_refuse(m, place, from, "a function with several results");
    signature->has_result = results == 1;
    if (results == 1)
        signature->result = result[0];
    if (cc_ptx_take(m, "(") && !read_list(m, &signature->param, &signature->params))
        return false;
    read_directives(m, signature);
    return true;
}

LLVMTypeRef cc_ptx_param_type(struct cc_lowering *l, const struct cc_ptx_param *param)
{
    return param->bits != 0 ? cc_int_type(l, param->bits)
                            : LLVMArrayType(cc_int_type(l, 64), (unsigned)((param->bytes + 7) / 8));
}

static bool is_by_value(const struct cc_ptx_signature *signature, const struct cc_ptx_param *param)
{
    return signature->is_kernel && param->bits == 0;
}

LLVMTypeRef cc_ptx_function_type(struct cc_lowering *l, const struct cc_ptx_signature *signature)
{
    LLVMTypeRef *type = cc_alloc((signature->params + 1) * sizeof *type);

    for (unsigned i = 0; i < signature->params; i++) {
        const struct cc_ptx_param *param = &signature->param[i];
        LLVMTypeRef bytes = LLVMArrayType(cc_int_type(l, 8), (unsigned)param->bytes);
        type[i] =
            is_by_value(signature, param) ? LLVMPointerType(bytes, 0) : cc_ptx_param_type(l, param);
    }
    return LLVMFunctionType(signature->has_result ? cc_ptx_param_type(l, &signature->result)
                                                  : LLVMVoidTypeInContext(l->context),
                            type, signature->params, 0);
}

static LLVMAttributeRef attribute_of(struct cc_lowering *l, const char *name, uint64_t value)
{
    return LLVMCreateEnumAttribute(l->context, LLVMGetEnumAttributeKindForName(name, strlen(name)),
                                   value);
}

static void set_by_value(struct cc_lowering *l, LLVMValueRef function, unsigned index,
                         const struct cc_ptx_param *param)
{
    LLVMTypeRef bytes = LLVMArrayType(cc_int_type(l, 8), (unsigned)param->bytes);
    unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);

    LLVMAddAttributeAtIndex(function, index + 1, LLVMCreateTypeAttribute(l->context, kind, bytes));
    LLVMAddAttributeAtIndex(function, index + 1, attribute_of(l, "align", param->align));
}

/* !{function, "maxntidx", 256} */
static void annotate(struct cc_lowering *l, LLVMValueRef function, const char *word, uint64_t value)
{
    LLVMValueRef part[] = {function,
                           LLVMMDStringInContext(l->context, word, (unsigned)strlen(word)),
                           cc_number(l, value, 32)};

    LLVMAddNamedMetadataOperand(l->module, "nvvm.annotations",
                                LLVMMDNodeInContext(l->context, part, 3));
}

LLVMValueRef cc_ptx_declare_function(struct cc_lowering *l,
                                     const struct cc_ptx_signature *signature)
{
    LLVMValueRef function = LLVMGetNamedFunction(l->module, signature->name);

    if (function != NULL)
        return function;
    function = LLVMAddFunction(l->module, signature->name, cc_ptx_function_type(l, signature));
    if (!signature->is_kernel)
        return function;
    LLVMSetFunctionCallConv(function, KERNEL_CONVENTION);
    for (unsigned i = 0; i < signature->params; i++)
        if (is_by_value(signature, &signature->param[i]))
            set_by_value(l, function, i, &signature->param[i]);
    if (signature->threads != 0)
        annotate(l, function, "maxntidx", signature->threads);
    for (int i = 0; i < 3 && signature->cluster[0] != 0; i++)
        annotate(l, function, cc_format("cluster_dim_%c", 'x' + i), signature->cluster[i]);
    return function;
}
