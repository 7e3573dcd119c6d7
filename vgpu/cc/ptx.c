/* SPDX-License-Identifier: MIT
 * ptx.c: the few statements of inline PTX that have a meaning here: those that programs use where
 * CUDA C++ has no word of its own, or that stand for one of its functions. Every other assembly is
 * an error (rules.c).
 */
#include "ptx.h"

#include "mem.h"
#include "passes.h"

static const struct {
    const char *ptx;
    struct cc_ptx is;
} known[] = {
    {"trap;", {"__trap()", 0, 0, false}},
    {"membar.cta;", {"__threadfence_block()", 0, 0, false}},
    {"membar.gl;", {"__threadfence()", 0, 0, false}},
    {"membar.sys;", {"__threadfence_system()", 0, 0, false}},
    {"mov.u64%0,%globaltimer;", {"vgpu_globaltimer()", 1, 0, true}},
    {"mov.u64%0,%clock64;", {"vgpu_clock64()", 1, 0, true}},
    /* a kernel starts when the one before it has ended: there is nothing left to wait for */
    {"griddepcontrol.wait;", {"(void)0", 0, 0, false}},
    {"griddepcontrol.launch_dependents;", {"(void)0", 0, 0, false}},
};

/* What stands between the quotes of one string, without white space and with %% as %. */
static const char *plain(const struct cc_token *token)
{
    char *text = cc_alloc(token->length + 1), *to = text;

    for (uint32_t i = 1; i + 1 < token->length; i++) {
        if (token->text[i] == ' ' || (token->text[i] == '%' && token->text[i - 1] == '%'))
            continue;
        if (token->text[i] == '\\' && strchr("nt", token->text[i + 1])) {
            i++;
            continue;
        }
        *to++ = token->text[i];
    }
    *to = 0;
    return text;
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

/* Where the operands of an assembly stand: the `(` of each, outputs first. */
struct operands {
    int open[8], outputs, inputs;
};

static bool is_string(const struct cc_source *source, int at)
{
    return source->token[at].kind == CC_STRING;
}

static bool is_memory(const struct cc_source *source, int at)
{
    const struct cc_token *token = &source->token[at];
    return is_string(source, at) && token->length == 8 && !memcmp(token->text, "\"memory\"", 8);
}

/* Reads `"=r"(a), "r"(b)` from *at on. Returns how many, or -1. */
static int read_operands(const struct cc_source *source, int *at, int *open, int room)
{
    int count = 0;

    while (is_string(source, *at) && cc_token_is(source, *at + 1, "(")) {
        if (count == room || source->token[*at + 1].match < 0)
            return -1;
        open[count++] = *at + 1;
        *at = source->token[*at + 1].match + 1;
        if (!cc_token_is(source, *at, ","))
            break;
        ++*at;
    }
    return count;
}

/* `:` outputs `:` inputs `: "memory"`; `::` may be one token. */
static bool split(const struct cc_source *source, int open, struct operands *to)
{
    int at = open + 2, close = source->token[open].match;

    if (cc_token_is(source, at, ":")) {
        at++;
        to->outputs = read_operands(source, &at, to->open, 4);
    }
    if (to->outputs >= 0 && (cc_token_is(source, at, ":") || cc_token_is(source, at, "::"))) {
        at++;
        to->inputs = read_operands(source, &at, to->open + to->outputs, 8 - to->outputs);
    }
    for (; at < close; at++)
        if (!cc_token_is(source, at, ":") && !cc_token_is(source, at, "::") &&
            !is_memory(source, at))
            return false;
    return to->outputs >= 0 && to->inputs >= 0;
}

/* What the assembly at `at` is. It may clobber "memory". */
static bool statement_at(const struct cc_source *source, int at, struct cc_ptx *is,
                         struct operands *operands)
{
    int open = is_asm(source, at) ? opening(source, at) : -1;

    *operands = (struct operands){0};
    if (open < 0 || !is_string(source, open + 1) || !split(source, open, operands))
        return false;
    const char *ptx = plain(&source->token[open + 1]);
    bool found = cc_ptx_memory(ptx, is);
    for (size_t i = 0; !found && i < sizeof known / sizeof *known; i++) {
        found = strcmp(ptx, known[i].ptx) == 0;
        *is = known[i].is;
    }
    return found && is->outputs == operands->outputs && is->inputs == operands->inputs;
}

bool cc_is_known_ptx(const struct cc_source *source, int at)
{
    struct operands operands;
    struct cc_ptx is;
    return statement_at(source, at, &is, &operands);
}

/* asm("..." : "=r"(a) : "l"(p)) becomes call((a), (p)) or (a) = call. */
static void rewrite(struct cc_source *source, int at, const struct cc_ptx *is,
                    const struct operands *operands)
{
    int open = opening(source, at), close = source->token[open].match;
    int count = operands->outputs + operands->inputs, from = at;

    if (count == 0)
        cc_edit_before(source, at, is->call);
    else if (!is->assigned)
        cc_edit_before(source, operands->open[0], is->call);
    for (int i = 0; i < count; i++) {
        cc_edit_delete(source, from, operands->open[i]);
        from = source->token[operands->open[i]].match + 1;
        if (i + 1 < count)
            cc_edit_after(source, from - 1, ", ");
    }
    if (count > 0)
        cc_edit_after(source, from - 1, is->assigned ? cc_format(" = %s", is->call) : ")");
    cc_edit_delete(source, from, close + 1);
}

void cc_rewrite_ptx(struct cc_pass *pass)
{
    for (size_t i = 0; i < pass->decls->count; i++) {
        const struct cc_decl *decl = &pass->decls->item[i];
        if (decl->kind != CC_FUNCTION || decl->body < 0 || !cc_runs_on_device(decl))
            continue;
        for (int at = decl->body; at < decl->body_end; at++) {
            struct operands operands;
            struct cc_ptx is;
            if (statement_at(pass->source, at, &is, &operands))
                rewrite(pass->source, at, &is, &operands);
        }
    }
}
