/* SPDX-License-Identifier: MIT
 * rules.c: what the tokens alone show to be wrong; nvcc refuses it too, or the virtual node does
 * not model it.
 */
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
    {"__device__", "lambdas marked __device__ are not supported; write a struct with a __device__ "
                   "operator()"},
};

static void check_words(const struct cc_pass *pass, const struct cc_decl *decl, int at)
{
    for (size_t i = 0; i < sizeof device_rules / sizeof *device_rules; i++) {
        bool specifier = at < decl->body && cc_token_is(pass->source, at, "__device__");
        if (cc_token_is(pass->source, at, device_rules[i].word) && !specifier &&
            !cc_token_is(pass->source, at + 1, "__shared__"))
            cc_error(cc_token_place(pass->source, at), "%s", device_rules[i].message);
    }
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
        check_words(pass, decl, i);
        if (i > decl->body)
            check_static(pass, i);
    }
}

static void check_unmodelled(const struct cc_pass *pass, const struct cc_decl *decl)
{
    struct cc_place place = cc_token_place(pass->source, decl->spec);

    if ((decl->words & CC_MANAGED) != 0)
        cc_error(place, "__managed__ variables are not modelled by the virtual node yet");
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
    /* In a host function: a lambda for the device. */
    for (int i = 0; (size_t)i < pass->source->token_count; i++) {
        const struct cc_decl *decl;
        if (!cc_token_is(pass->source, i, "__device__"))
            continue;
        decl = cc_function_at(pass->decls, i);
        bool lambda =
            cc_token_is(pass->source, i - 1, "]") || cc_token_is(pass->source, i - 1, ")");
        if (decl != NULL && i > decl->body && decl->body >= 0 && lambda)
            check_words(pass, decl, i);
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

void cc_check_host_rules(const struct cc_pass *pass)
{
    for (size_t i = 0; i < pass->decls->count; i++) {
        const struct cc_decl *decl = &pass->decls->item[i];
        if (decl->kind != CC_FUNCTION || decl->body < 0 || cc_runs_on_device(decl))
            continue;
        for (int at = decl->body; at < decl->body_end; at++)
            check_kernel_call(pass, at);
    }
}
