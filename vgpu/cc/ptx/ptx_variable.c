/* SPDX-License-Identifier: MIT
 * ptx_variable.c: variables of a PTX module, with their initial values.
 */
#include "ptx_module.h"

#include <stdlib.h>
#include <string.h>

struct variable {
    const char *name;
    struct cc_ptx_type type;
    unsigned align, vector;
    uint64_t count;       /* elements; 0: as many as it has initial values, or dynamic */
    uint64_t *number;     /* initial values */
    LLVMValueRef *symbol; /* in their places the addresses; null: numbers */
    size_t values, room, symbol_room;
    bool has_symbols, managed;
};

static const char unknown_variable[] = "a variable that the virtual node does not know";
enum { BYTES_MAX = (1 << 29) - 1 }; /* the image holds all of a variable */
static const char variable_too_large[] =
    "a variable of 512 MiB or more: allocate such memory (cuMemAlloc)";

/* ---- initial values ---- */

static void add_value(struct variable *v, uint64_t number, LLVMValueRef symbol)
{
    if (v->symbol == NULL || v->values == v->symbol_room)
        v->symbol = cc_grow(v->symbol, v->values, &v->symbol_room, sizeof *v->symbol);
    v->number = cc_grow(v->number, v->values, &v->room, sizeof *v->number);
    v->symbol[v->values] = symbol;
    v->number[v->values++] = number;
    v->has_symbols |= symbol != NULL;
}

/* The address of what has the name: sum, sum+8 */
static LLVMValueRef symbol_value(struct cc_ptx_module *m, const char *word)
{
    const char *name = cc_copy(word, strcspn(word, "+"));
    struct cc_ptx_statement nowhere = {.l = m->l};
    LLVMValueRef pointer = cc_ptx_symbol(&nowhere, name);
    LLVMTypeRef number = cc_int_type(m->l, 64);

    if (pointer == NULL)
        return NULL;
    uint64_t offset = word[strlen(name)] == '+' ? strtoull(word + strlen(name) + 1, NULL, 0) : 0;
    return LLVMConstAdd(LLVMConstPtrToInt(pointer, number), LLVMConstInt(number, offset, 0));
}

static bool read_value(struct cc_ptx_module *m, struct variable *v)
{
    const char *word = cc_ptx_next(m);
    bool bits = *word == '0' && strchr("fFdD", word[1]) != NULL && word[1] != 0;
    char *end;

    if (*word == 0)
        return false; /* the PTX ends here */
    if (strcmp(word, "generic") == 0 && cc_ptx_take(m, "(")) {
        word = cc_ptx_next(m);
        if (!cc_ptx_take(m, ")"))
            return false;
        if (*cc_ptx_peek(m) == '+')
            word = cc_format("%s%s", word, cc_ptx_next(m));
    }
    uint64_t number = strtoull(word + 2 * bits, &end, bits ? 16 : 0);
    end += *end == 'U';
    if (*end == '.' || *end == 'e') {
        double wide = strtod(word, &end);
        float narrow = (float)wide;
        memcpy(&number, &wide, sizeof wide);
        if (v->type.bits == 32)
            number = 0, memcpy(&number, &narrow, sizeof narrow);
    }
    LLVMValueRef symbol = *end != 0 ? symbol_value(m, word) : NULL;
    if (*end != 0 && (symbol == NULL || v->type.bits != 64))
        return false;
    add_value(v, number, symbol);
    return true;
}

/* 1; {1, 2}; {{1, 2}, {3}} */
static bool read_values(struct cc_ptx_module *m, struct variable *v)
{
    int depth = 0;

    do {
        if (cc_ptx_take(m, "{"))
            depth++;
        else if (cc_ptx_take(m, "}"))
            depth--;
        else if (!cc_ptx_take(m, ",") && !read_value(m, v))
            return false;
    } while (depth > 0);
    return true;
}

/* As bytes; where it has addresses, as words. */
static LLVMValueRef initial_value(struct cc_ptx_module *m, const struct variable *v)
{
    size_t bytes = v->type.bits / 8, count = v->count * v->vector;
    LLVMTypeRef word = cc_int_type(m->l, 64);

    if (v->has_symbols) {
        LLVMValueRef *element = cc_alloc((count + 1) * sizeof *element);
        for (size_t i = 0; i < count; i++)
            element[i] = i < v->values && v->symbol[i] != NULL
                             ? v->symbol[i]
                             : LLVMConstInt(word, i < v->values ? v->number[i] : 0, 0);
        return LLVMConstArray(word, element, (unsigned)count);
    }
    char *data = cc_alloc(count * bytes + 1);
    for (size_t i = 0; i < v->values && i < count; i++)
        memcpy(data + i * bytes, &v->number[i], bytes);
    return LLVMConstStringInContext(m->l->context, data, (unsigned)(count * bytes), 1);
}

/* ---- declarations ---- */

/* (.managed, .unified(1, 2)); whether it has .managed */
static bool read_attributes(struct cc_ptx_module *m)
{
    bool managed = false;
    int depth = 0;

    do {
        const char *word = cc_ptx_next(m);
        managed |= strcmp(word, ".managed") == 0;
        depth += *word == '(' ? 1 : *word == ')' ? -1 : 0;
    } while (depth > 0 && *cc_ptx_peek(m) != 0);
    return managed;
}

/* .align 4 .v2 .f32 name[3][4] */
static bool read_declaration(struct cc_ptx_module *m, struct variable *v)
{
    const char *word;
    bool known = false;

    v->vector = 1, v->count = 1;
    for (word = cc_ptx_next(m); *word == '.'; word = cc_ptx_next(m)) {
        if (strcmp(word, ".align") == 0)
            v->align = (unsigned)atoi(cc_ptx_next(m));
        else if (strcmp(word, ".v2") == 0 || strcmp(word, ".v4") == 0)
            v->vector = (unsigned)(word[2] - '0');
        else if (strcmp(word, ".attribute") == 0)
            v->managed |= read_attributes(m);
        else if (!cc_ptx_type(word + 1, &v->type) || known)
            return false;
        else
            known = true;
    }
    v->name = word;
    while (cc_ptx_take(m, "[")) {
        if (cc_ptx_take(m, "]")) {
            v->count = 0;
            continue;
        }
        uint64_t more = strtoull(cc_ptx_next(m), NULL, 0);
        if (__builtin_mul_overflow(v->count, more, &v->count))
            v->count = UINT64_MAX;
        if (!cc_ptx_take(m, "]"))
            return false;
    }
    if (cc_ptx_take(m, "=") && !read_values(m, v))
        return false;
    if (v->count == 0 && v->values != 0)
        v->count = v->values / v->vector;
    return known && v->type.kind != 'p' && cc_ptx_take(m, ";");
}

bool cc_ptx_is_compilers(const char *name)
{
    return *name == '$' || cc_starts(name, "__unnamed_");
}

static LLVMValueRef refuse_variable(struct cc_ptx_module *m, struct cc_place place,
                                    const char *from, const char *why)
{
    cc_ptx_refuse(m, place, from, why);
    return NULL;
}

static bool is_defined(const struct cc_ptx_module *m, const char *name)
{
    LLVMValueRef global = LLVMGetNamedGlobal(m->l->module, name);

    return LLVMGetNamedFunction(m->l->module, name) != NULL ||
           (global != NULL && !LLVMIsDeclaration(global));
}

LLVMValueRef cc_ptx_variable(struct cc_ptx_module *m, enum cc_ptx_space space, bool external,
                             LLVMBuilderRef entry, const char **name)
{
    struct cc_place place = cc_ptx_here(m);
    const char *from = m->at;
    struct variable v = {0};

    if (!read_declaration(m, &v))
        return refuse_variable(m, place, from, unknown_variable);
    *name = v.name;
    if (v.count > BYTES_MAX / (v.vector * (v.type.bits / 8)))
        return refuse_variable(m, place, from, variable_too_large);
    if (entry == NULL && is_defined(m, v.name))
        return refuse_variable(m, place, from, CC_PTX_TWICE);
    unsigned bytes = (unsigned)v.count * v.vector * (v.type.bits / 8);
    LLVMTypeRef type = v.has_symbols ? LLVMArrayType(cc_int_type(m->l, 64), bytes / 8)
                                     : LLVMArrayType(cc_int_type(m->l, 8), bytes);
    unsigned align = v.align != 0 ? v.align : v.type.bits / 8 * v.vector;
    LLVMValueRef made = space == CC_PTX_LOCAL
                            ? LLVMBuildAlloca(entry, type, "")
                            : LLVMAddGlobalInAddressSpace(m->l->module, type, v.name, space);
    LLVMSetAlignment(made, align);
    if (space == CC_PTX_LOCAL || external)
        return made;
    if (space == CC_PTX_SHARED) {
        LLVMSetInitializer(made, LLVMGetUndef(type));
        LLVMSetLinkage(made, LLVM_LINKAGE_INTERNAL);
        return made;
    }
    LLVMSetInitializer(made, v.values != 0 ? initial_value(m, &v) : LLVMConstNull(type));
    if (cc_ptx_is_compilers(v.name)) {
        LLVMSetLinkage(made, LLVM_LINKAGE_INTERNAL);
        LLVMSetGlobalConstant(made, 1);
    } else if (v.managed) {
        LLVMSetSection(made, "vgpu_managed"); /* lower_managed.c's mark */
    } else {
        LLVMSetExternallyInitialized(made, 1);
    }
    return made;
}
