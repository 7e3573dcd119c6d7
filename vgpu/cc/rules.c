/* SPDX-License-Identifier: MIT
 * rules.c: what the tokens alone show to be wrong; nvcc refuses it too, or the virtual node does
 * not model it.
 */
#include <string.h>

#include "diag.h"
#include "launch.h"
#include "passes.h"

struct rule {
    const char *word;
    const char *message;
};

/* Words that have no place in a function for the device. */
static const struct rule device_rules[] = {
    {"asm", "inline assembly in device code is not supported by the virtual node"},
    {"__asm__", "inline assembly in device code is not supported by the virtual node"},
    {"__asm", "inline assembly in device code is not supported by the virtual node"},
    {"no_sanitize", "no_sanitize is not allowed in device code: the virtual node watches its "
                    "accesses"},
    {"__no_sanitize__", "no_sanitize is not allowed in device code: the virtual node watches its "
                        "accesses"},
    {"no_sanitize_thread", "no_sanitize_thread is not allowed in device code: the virtual node "
                           "watches its accesses"},
    {"__no_sanitize_thread__", "no_sanitize_thread is not allowed in device code: the virtual node "
                               "watches its accesses"},
    {"disable_sanitizer_instrumentation", "disable_sanitizer_instrumentation is not allowed in "
                                          "device code: the virtual node watches its accesses"},
    {"throw", "device code cannot throw exceptions"},
    {"try", "device code cannot catch exceptions"},
    {"thread_local", "device code has no thread_local variables; a local variable is each thread's "
                     "own"},
    {"__thread", "device code has no thread_local variables; a local variable is each thread's "
                 "own"},
};

static void check_words(const struct cc_pass *pass, int at)
{
    if (cc_is_known_ptx(pass->source, at))
        return;
    for (size_t i = 0; i < sizeof device_rules / sizeof *device_rules; i++)
        if (cc_token_is(pass->source, at, device_rules[i].word))
            cc_error(cc_token_place(pass->source, at), "%s", device_rules[i].message);
}

/* `static int n;` in device code: one variable for all threads that CUDA puts into device memory.
 * Constants and __shared__ variables may be called static. */
static void check_static(const struct cc_pass *pass, int at)
{
    int end = cc_statement_end(pass->source, at);

    if (!cc_token_is(pass->source, at, "static"))
        return;
    for (int i = at; i < end; i++)
        if (cc_token_is(pass->source, i, "__shared__") || cc_token_is(pass->source, i, "const") ||
            cc_token_is(pass->source, i, "constexpr"))
            return;
    cc_error(cc_token_place(pass->source, at),
             "static variable in device code; declare a __device__ variable outside of the "
             "function instead");
}

static void check_device_function(const struct cc_pass *pass, const struct cc_decl *decl)
{
    for (int i = decl->spec; i <= decl->last; i++) {
        check_words(pass, i);
        if (i > decl->body)
            check_static(pass, i);
    }
}

static void check_unmodelled(const struct cc_pass *pass, const struct cc_decl *decl)
{
    struct cc_place place = cc_token_place(pass->source, decl->spec);

    if ((decl->words & CC_CLUSTER_DIMS) != 0)
        cc_error(place, "thread block clusters are not modelled by the virtual node yet");
}

void cc_check_device_rules(const struct cc_pass *pass)
{
    for (size_t i = 0; i < pass->decls->count; i++) {
        const struct cc_decl *decl = &pass->decls->item[i];
        check_unmodelled(pass, decl);
        if (decl->kind == CC_FUNCTION && decl->body >= 0 && cc_runs_on_device(decl))
            check_device_function(pass, decl);
    }
}

/* ---- host ---- */

/* The kernel that the name at `at` must mean: no other function has it. */
static const struct cc_decl *only_kernel(const struct cc_pass *pass, int at)
{
    const struct cc_decl *kernel = NULL;

    for (size_t i = 0; i < pass->decls->count; i++) {
        const struct cc_decl *decl = &pass->decls->item[i];
        if (decl->kind != CC_FUNCTION || !cc_same_token(pass->source, at, decl->name))
            continue;
        if (!cc_is_kernel(decl))
            return NULL;
        kernel = decl;
    }
    return kernel;
}

/* Is the name at `at` called? Template arguments may stand between. */
static bool is_called(const struct cc_source *source, int at)
{
    if (cc_token_is(source, at - 1, ".") || cc_token_is(source, at - 1, "->"))
        return false;
    if (cc_token_is(source, at + 1, "<")) {
        int close = cc_match_angle(source, at + 1);
        at = close > 0 ? close : at;
    }
    return cc_token_is(source, at + 1, "(");
}

static void check_kernel_call(const struct cc_pass *pass, int at)
{
    if (pass->source->token[at].kind != CC_NAME || !is_called(pass->source, at) ||
        cc_is_launched(pass->source, at))
        return;
    const struct cc_decl *kernel = only_kernel(pass, at);
    if (kernel != NULL)
        cc_error(cc_token_place(pass->source, at),
                 "kernel '%s' is called like a function; launch it: %s<<<blocks, threads>>>(...)",
                 cc_decl_name(pass->source, kernel), cc_token_text(pass->source, at, at + 1));
}

/* ---- __device__ variables in host code ---- */

/* In cudaMemcpyToSymbol(...) and its like, in sizeof or behind a member access. */
static bool may_be_named(const struct cc_pass *pass, int at)
{
    const struct cc_source *source = pass->source;

    if (cc_token_is(source, at - 1, ".") || cc_token_is(source, at - 1, "->"))
        return true;
    for (int i = at - 1; i > 0 && !cc_token_is(source, i, ";"); i--) {
        const struct cc_token *callee = &source->token[i - 1];
        if (source->token[i].match >= 0 && source->token[i].match < i)
            i = source->token[i].match;
        else if (cc_token_is(source, i, "(") && callee->kind == CC_NAME &&
                 (cc_is(callee->text, callee->length, "sizeof") ||
                  strstr(cc_copy(callee->text, callee->length), "Symbol") != NULL))
            return true;
    }
    return false;
}

/* `int counter` in the function hides the variable: another name or a type stands before it. */
static bool is_hidden(const struct cc_pass *pass, const struct cc_decl *decl, int name)
{
    for (int i = decl->params; i < decl->body_end; i++) {
        const struct cc_token *before = &pass->source->token[i - 1];
        bool type = before->kind == CC_NAME && (!cc_is_keyword(before->text, before->length) ||
                                                cc_is_type_keyword(before->text, before->length));
        if (cc_same_token(pass->source, i, name) &&
            (type || cc_token_is(pass->source, i - 1, "*") ||
             cc_token_is(pass->source, i - 1, ">")))
            return true;
    }
    return false;
}

static void check_variable(const struct cc_pass *pass, const struct cc_decl *decl,
                           const struct cc_device_var *var)
{
    if (is_hidden(pass, decl, var->token))
        return;
    for (int at = decl->body; at < decl->body_end; at++)
        if (cc_same_token(pass->source, at, var->token) && !may_be_named(pass, at))
            cc_warning(cc_token_place(pass->source, at),
                       "__device__ variable '%s' is used in host code, where it is only a name; "
                       "copy it with cudaMemcpyFromSymbol or cudaMemcpyToSymbol",
                       var->name + 2);
}

void cc_check_host_rules(const struct cc_pass *pass)
{
    struct cc_device_vars vars = cc_find_device_vars(pass);

    for (size_t i = 0; i < pass->decls->count; i++) {
        const struct cc_decl *decl = &pass->decls->item[i];
        if (decl->kind != CC_FUNCTION || decl->body < 0 || cc_runs_on_device(decl))
            continue;
        for (int at = decl->body; at < decl->body_end; at++)
            check_kernel_call(pass, at);
        for (size_t k = 0; k < vars.count; k++)
            check_variable(pass, decl, &vars.item[k]);
    }
}
