/* SPDX-License-Identifier: MIT
 * check.c: see check.h.
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "declarator.h"
#include "diag.h"

struct checker {
    const struct cc_pass *pass;
    const struct cc_marks *marks;
    bool relaxed;
    struct cc_text *wanted;
};

/* ---- places ---- */

static bool token_named(const struct cc_source *source, int at, const char *name)
{
    const struct cc_token *token = &source->token[at];

    return token->kind == CC_NAME && cc_is(token->text, token->length, name);
}

/* The first use of the name in device code; else the first kernel. */
static struct cc_place place_of_use(const struct cc_pass *pass, const char *name)
{
    int fallback = 0;

    for (size_t i = pass->decls->count; i-- > 0;)
        if (cc_is_kernel(&pass->decls->item[i]))
            fallback = pass->decls->item[i].name;
    for (size_t i = 0; i < pass->decls->count; i++) {
        const struct cc_decl *decl = &pass->decls->item[i];
        if (decl->kind != CC_FUNCTION || decl->body < 0 || !cc_runs_on_device(decl))
            continue;
        int from = decl->init >= 0 ? decl->init : decl->body;
        for (int at = from; at < decl->body_end; at++)
            if (token_named(pass->source, at, name))
                return cc_token_place(pass->source, at);
    }
    return cc_token_place(pass->source, fallback);
}

/* The declaration of that variable as `extern`, or null. Its name is not in the record. */
static const struct cc_decl *extern_variable(const struct cc_pass *pass, const char *name)
{
    for (size_t i = 0; i < pass->decls->count; i++) {
        const struct cc_decl *decl = &pass->decls->item[i];
        if (decl->kind != CC_VARIABLE || (decl->words & CC_EXTERN) == 0)
            continue;
        for (int at = decl->spec; at < decl->last; at++)
            if (token_named(pass->source, at, name))
                return decl;
    }
    return NULL;
}

/* Is a __device__ function of that name declared without a body? */
static bool is_promised(const struct cc_pass *pass, const char *name)
{
    for (size_t i = 0; i < pass->decls->count; i++) {
        const struct cc_decl *decl = &pass->decls->item[i];
        if (decl->kind == CC_FUNCTION && (decl->words & CC_DEVICE) != 0 && decl->body < 0 &&
            decl->name >= 0 && token_named(pass->source, decl->name, name))
            return true;
    }
    return false;
}

/* ---- messages ---- */

static void host_function(const struct checker *c, const char *name, const char *qualified)
{
    cc_error(place_of_use(c->pass, name),
             "host function '%s' is called from device code; mark it __device__ (or __host__ "
             "__device__ if the host calls it too)",
             qualified);
}

static void host_variable(const struct checker *c, const char *name, const char *qualified)
{
    cc_error(place_of_use(c->pass, name),
             "host variable '%s' is used in device code; pass it as a kernel argument or declare "
             "it __device__ or __constant__",
             qualified);
}

/* A constant that the compiler could not fold into the code: its memory would be the host's. Those
 * of device code itself have the words, or are local to a function. */
static void host_constant(const struct checker *c, const char *name, const char *qualified)
{
    for (size_t i = 0; i < c->pass->decls->count; i++) {
        const struct cc_decl *decl = &c->pass->decls->item[i];
        if (decl->kind != CC_VARIABLE || (decl->words & (CC_DEVICE | CC_CONSTANT)) != 0)
            continue;
        struct cc_declarators list = cc_declarators(c->pass->source, decl->spec, decl->last);
        for (size_t k = 0; k < list.count; k++)
            if (list.item[k].name >= 0 && token_named(c->pass->source, list.item[k].name, name))
                cc_error(place_of_use(c->pass, name),
                         "host constant '%s' is read from memory in device code, which has no "
                         "memory for it; declare it __constant__ or __device__",
                         qualified);
    }
}

struct reason {
    const char *symbol, *use, *message;
};

/* Runtime support that the compiler calls for a construct. */
static const struct reason reasons[] = {
    {"_Znwm", "new",
     "operator new is called in device code; the virtual node has no device heap: "
     "allocate on the host with cudaMalloc"},
    {"_Znam", "new",
     "operator new[] is called in device code; the virtual node has no device "
     "heap: allocate on the host with cudaMalloc"},
    {"_ZdlPv", "delete",
     "operator delete is called in device code; the virtual node has no device "
     "heap"},
    {"_ZdlPvm", "delete",
     "operator delete is called in device code; the virtual node has no device "
     "heap"},
    {"_ZdaPv", "delete",
     "operator delete[] is called in device code; the virtual node has no "
     "device heap"},
    {"malloc", "malloc",
     "malloc is called in device code; the virtual node has no device heap: "
     "allocate on the host with cudaMalloc"},
    {"free", "free", "free is called in device code; the virtual node has no device heap"},
    {"__cxa_guard_acquire", "static",
     "a static variable with a constructor in device code; declare "
     "a __device__ variable outside of the function instead"},
    {"__cxa_throw", "throw", "device code cannot throw exceptions"},
    {"__cxa_allocate_exception", "throw", "device code cannot throw exceptions"},
};

/* A __device__ function or variable (`kind`) of another file. */
static void elsewhere(const struct checker *c, const char *kind, const char *symbol,
                      const char *qualified, struct cc_place place)
{
    if (c->wanted != NULL)
        cc_putf(c->wanted, "%s\t%s\t%s\t%d\t%d\t%s\n", symbol, kind, qualified, place.line,
                place.column, place.file);
    else
        cc_error(place,
                 "__device__ %s '%s' is declared but not defined in this file; compile all files "
                 "with -rdc=true (or -dc) if another one defines it, or put it into a header",
                 kind, qualified);
}

static void undefined(const struct checker *c, const char *symbol)
{
    const char *qualified, *name = cc_plain_name(symbol, &qualified);
    const struct cc_decl *variable = extern_variable(c->pass, name);

    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strcmp(symbol, reasons[i].symbol) == 0) {
            cc_error(place_of_use(c->pass, reasons[i].use), "%s", reasons[i].message);
            return;
        }
    if (is_promised(c->pass, name))
        elsewhere(c, "function", symbol, qualified, place_of_use(c->pass, name));
    else if (variable != NULL && (variable->words & (CC_DEVICE | CC_CONSTANT)) != 0)
        elsewhere(c, "variable", symbol, qualified, place_of_use(c->pass, name));
    else if (variable != NULL)
        host_variable(c, name, qualified);
    else
        host_function(c, name, qualified);
}

/* ---- symbols ---- */

static const struct cc_decl *marked_host(const struct checker *c, const char *symbol)
{
    for (size_t i = 0; i < c->marks->host_count; i++)
        if (strcmp(c->marks->host[i].symbol, symbol) == 0)
            return &c->pass->decls->item[c->marks->host[i].decl];
    return NULL;
}

static bool is_library(const char *symbol)
{
    return cc_starts(symbol, "_ZSt") || cc_starts(symbol, "_ZNSt") || cc_starts(symbol, "_ZNKSt") ||
           cc_starts(symbol, "_ZN9__gnu_cxx") || cc_starts(symbol, "_ZNK9__gnu_cxx");
}

static void check_function(const struct checker *c, const char *symbol)
{
    const struct cc_decl *decl = marked_host(c, symbol);
    const char *qualified, *name = cc_plain_name(symbol, &qualified);

    if (decl != NULL)
        host_function(c, cc_token_text(c->pass->source, decl->name, decl->name + 1),
                      cc_decl_name(c->pass->source, decl));
    else if (is_library(symbol) && !c->relaxed)
        host_function(c, name, qualified);
}

/* What the compiler and the linker put there themselves. */
static bool is_internal(const char *symbol)
{
    return cc_starts(symbol, "DW.ref.") || cc_starts(symbol, "_GLOBAL_OFFSET_TABLE_") ||
           cc_starts(symbol, "_DYNAMIC");
}

static void check_symbol(const struct checker *c, const struct cc_symbol *symbol)
{
    const char *qualified, *name = cc_plain_name(symbol->name, &qualified);

    if (is_internal(symbol->name))
        return;
    if (symbol->kind == CC_SYM_FUNCTION)
        check_function(c, symbol->name);
    else if (symbol->kind == CC_SYM_RESOLVER)
        cc_error(place_of_use(c->pass, name),
                 "'%s' has the attribute ifunc, which device code "
                 "cannot have",
                 qualified);
    else if (symbol->kind == CC_SYM_UNDEFINED && !cc_is_offered(symbol->name))
        undefined(c, symbol->name);
    else if (symbol->kind == CC_SYM_WRITABLE && cc_starts(symbol->name, "_ZGV"))
        undefined(c, "__cxa_guard_acquire");
    else if (symbol->kind == CC_SYM_WRITABLE)
        host_variable(c, name, qualified);
    else if (symbol->kind == CC_SYM_CONSTANT && !cc_starts(symbol->name, "_ZZ") &&
             !cc_starts(symbol->name, "vgpu_"))
        host_constant(c, name, qualified);
    else if (symbol->kind == CC_SYM_THREAD_LOCAL)
        cc_error(place_of_use(c->pass, name),
                 "thread_local variable '%s' is used in device code; a local variable is each "
                 "thread's own",
                 qualified);
}

void cc_check_image(const struct cc_pass *pass, const struct cc_marks *marks,
                    const struct cc_symbols *symbols, bool relaxed, struct cc_text *wanted)
{
    struct checker checker = {pass, marks, relaxed, wanted};

    for (size_t i = 0; i < symbols->count; i++)
        check_symbol(&checker, &symbols->item[i]);
}

/* ---- what the files of a device link need of each other ---- */

static bool is_there(const struct cc_symbols *symbols, const char *name)
{
    for (size_t i = 0; i < symbols->count; i++)
        if (strcmp(symbols->item[i].name, name) == 0)
            return symbols->item[i].kind == CC_SYM_FUNCTION ||
                   symbols->item[i].kind == CC_SYM_DEVICE ||
                   symbols->item[i].kind == CC_SYM_CONSTANT;
    return true; /* no kernel reaches it */
}

/* The next field of the line, ended by `end`. */
static const char *field(const char **at, char end)
{
    const char *begin = *at, *stop = strchr(begin, end);

    *at = stop != NULL ? stop + 1 : begin + strlen(begin);
    return stop != NULL ? cc_copy(begin, (size_t)(stop - begin)) : begin;
}

void cc_check_link(const struct cc_symbols *symbols, const char *wanted)
{
    while (*wanted != 0) {
        const char *symbol = field(&wanted, '\t'), *kind = field(&wanted, '\t');
        const char *name = field(&wanted, '\t'), *line = field(&wanted, '\t');
        const char *column = field(&wanted, '\t'), *file = field(&wanted, '\n');
        if (!is_there(symbols, symbol))
            cc_error((struct cc_place){file, atoi(line), atoi(column)},
                     "__device__ %s '%s' is used here, but none of the files that are linked "
                     "defines it as one for the device; add the file that does (compiled with "
                     "-rdc=true or -dc), or define it",
                     kind, name);
    }
}
