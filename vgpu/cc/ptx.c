/* SPDX-License-Identifier: MIT
 * ptx.c: the few statements of inline PTX that have a meaning here: those that programs use where
 * CUDA C++ has no word of its own, or that stand for one of its functions. Every other assembly is
 * an error (rules.c).
 */
#include "passes.h"

struct statement {
    const char *ptx;   /* without white space, %% for % */
    const char *value; /* what it does; with an output, what is put there */
    bool output;       /* exactly one: "=..."(lvalue) */
};

static const struct statement known[] = {
    {"\"trap;\"", "__trap()", false},
    {"\"membar.cta;\"", "__threadfence_block()", false},
    {"\"membar.gl;\"", "__threadfence()", false},
    {"\"membar.sys;\"", "__threadfence_system()", false},
    {"\"mov.u64%0,%%globaltimer;\"", "vgpu_globaltimer()", true},
    {"\"mov.u64%0,%%clock64;\"", "vgpu_clock64()", true},
};

static bool same_ptx(const struct cc_token *token, const char *ptx)
{
    for (uint32_t i = 0; i < token->length; i++) {
        if (token->text[i] == ' ')
            continue;
        if (token->text[i] != *ptx++)
            return false;
    }
    return *ptx == 0;
}

static bool is_asm(const struct cc_source *source, int at)
{
    return cc_token_is(source, at, "asm") || cc_token_is(source, at, "__asm__");
}

/* The `(` of the assembly at `at`, or -1. */
static int opening(const struct cc_source *source, int at)
{
    if (cc_token_is(source, at + 1, "volatile") || cc_token_is(source, at + 1, "__volatile__"))
        at++;
    return cc_token_is(source, at + 1, "(") && source->token[at + 1].match > 0 ? at + 1 : -1;
}

/* Which statement the assembly at `at` is, or null. It may clobber "memory". */
static const struct statement *statement_at(const struct cc_source *source, int at)
{
    int open = is_asm(source, at) ? opening(source, at) : -1;

    for (size_t i = 0; open > 0 && i < sizeof known / sizeof *known; i++) {
        int next = open + 2;
        if (!same_ptx(&source->token[open + 1], known[i].ptx))
            continue;
        if (!known[i].output)
            return cc_token_is(source, next, ")") || cc_token_is(source, next, ":") ||
                           cc_token_is(source, next, "::")
                       ? &known[i]
                       : NULL;
        return cc_token_is(source, next, ":") && cc_token_is(source, next + 2, "(") ? &known[i]
                                                                                    : NULL;
    }
    return NULL;
}

bool cc_is_known_ptx(const struct cc_source *source, int at)
{
    return statement_at(source, at) != NULL;
}

/* asm("mov.u64 %0, ...;" : "=l"(x)) becomes (x) = value; one without an output its value. */
static void rewrite(struct cc_source *source, int at, const struct statement *statement)
{
    int open = opening(source, at), close = source->token[open].match;

    if (!statement->output) {
        cc_edit_delete(source, at, close + 1);
        cc_edit_before(source, at, statement->value);
        return;
    }
    int operand = open + 4, end = source->token[operand].match;
    cc_edit_delete(source, at, operand);
    cc_edit_after(source, end, cc_format(" = %s", statement->value));
    cc_edit_delete(source, end + 1, close + 1);
}

void cc_rewrite_ptx(struct cc_pass *pass)
{
    for (size_t i = 0; i < pass->decls->count; i++) {
        const struct cc_decl *decl = &pass->decls->item[i];
        if (decl->kind != CC_FUNCTION || decl->body < 0 || !cc_runs_on_device(decl))
            continue;
        for (int at = decl->body; at < decl->body_end; at++) {
            const struct statement *statement = statement_at(pass->source, at);
            if (statement != NULL)
                rewrite(pass->source, at, statement);
        }
    }
}
