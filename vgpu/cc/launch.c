/* SPDX-License-Identifier: MIT
 * launch.c: see launch.h.
 *
 * What is hard is the end of the configuration: in k<<<f<a<b<int>>>(1), n>>>(x) the first `>>>`
 * closes templates. Every `>>>` outside of brackets is a candidate; the first one before which all
 * `<` have found their `>` is the end, or, when none is like that (k<<<n < 9 ? 1 : 2, 32>>>), the
 * first one.
 */
#include "launch.h"

#include "diag.h"
#include "render.h"
#include "words.h"

struct launch {
    int callee;      /* first token of the kernel's expression */
    int open, close; /* first < of <<<, first > of >>> */
    int args;        /* the ( behind it */
};

static bool adjacent(const struct cc_source *source, int at)
{
    return !source->token[at].space;
}

/* Three `word`s without space between them at `at`. */
static bool is_triple(const struct cc_source *source, int at, const char *word)
{
    return cc_token_is(source, at, word) && cc_token_is(source, at + 1, word) &&
           cc_token_is(source, at + 2, word) && adjacent(source, at + 1) &&
           adjacent(source, at + 2);
}

/* ---- the kernel in front of <<< ---- */

static int open_angle(const struct cc_source *source, int close)
{
    int depth = 0;

    for (int i = close; i >= 0; i--) {
        const struct cc_token *token = &source->token[i];
        if (token->match >= 0 && token->match < i)
            i = token->match;
        else if (token->match > i || cc_token_is(source, i, ";"))
            return -1;
        else if (cc_token_is(source, i, ">"))
            depth++;
        else if (cc_token_is(source, i, "<") && --depth == 0)
            return i;
    }
    return -1;
}

static bool is_plain_name(const struct cc_source *source, int at)
{
    if (at < 0 || source->token[at].kind != CC_NAME)
        return false;
    return !cc_is_keyword(source->token[at].text, source->token[at].length) ||
           cc_token_is(source, at, "this");
}

/* Is the ( at `at` that of `if (...)`, not of a call? */
static bool is_condition(const struct cc_source *source, int at)
{
    return cc_token_is(source, at - 1, "if") || cc_token_is(source, at - 1, "while") ||
           cc_token_is(source, at - 1, "for") || cc_token_is(source, at - 1, "switch") ||
           cc_token_is(source, at - 1, "constexpr");
}

/* The first token of the name, call, index or bracketed expression that ends at `last`; -1. */
static int primary_start(const struct cc_source *source, int last)
{
    int at = last;

    if (cc_token_is(source, at, ">"))
        at = open_angle(source, at) - 1;
    if (is_plain_name(source, at))
        return at;
    if (at < 0 || !(cc_token_is(source, at, ")") || cc_token_is(source, at, "]")))
        return -1;
    int open = source->token[at].match, before = open - 1;
    bool value =
        is_plain_name(source, before) || cc_token_is(source, before, "]") ||
        (cc_token_is(source, before, ")") && !is_condition(source, source->token[before].match)) ||
        (cc_token_is(source, before, ">") && open_angle(source, before) > 0 &&
         is_plain_name(source, open_angle(source, before) - 1));
    if (value)
        return primary_start(source, before);
    return cc_token_is(source, at, ")") ? open : -1;
}

/* The first token of the kernel's expression that ends in front of the <<< at `open`; -1. */
static int callee_start(const struct cc_source *source, int open)
{
    int at = primary_start(source, open - 1);

    while (at > 0) {
        bool member = cc_token_is(source, at - 1, ".") || cc_token_is(source, at - 1, "->");
        bool scope = cc_token_is(source, at - 1, "::");
        if (cc_token_is(source, at - 1, "template")) {
            at--;
            continue;
        }
        if (!member && !scope)
            return at;
        int left = primary_start(source, at - 2);
        if (scope && (left < 0 || cc_token_is(source, at - 2, ")")))
            return at - 1; /* ::k */
        if (left < 0)
            return -1;
        at = left;
    }
    return at;
}

/* ---- the end of the configuration ---- */

/* Has every `<` that may open a template list in [from, to) its `>` in there? */
static bool angles_close(const struct cc_source *source, int from, int to)
{
    for (int i = from; i < to; i++) {
        const struct cc_token *token = &source->token[i];
        if (token->match > i) {
            i = token->match;
        } else if (cc_token_is(source, i, "<") && is_plain_name(source, i - 1)) {
            int close = cc_match_angle(source, i);
            if (close < 0 || close >= to)
                return false;
            i = close;
        }
    }
    return true;
}

/* The `>>>` at or behind `at` in the same brackets: the last three of a longer run. -1: none. */
static int next_close(const struct cc_source *source, int at)
{
    for (; (size_t)at < source->token_count; at++) {
        const struct cc_token *token = &source->token[at];
        if (token->match > at) {
            at = token->match;
        } else if (token->match >= 0 || cc_token_is(source, at, ";")) {
            return -1;
        } else if (is_triple(source, at, ">")) {
            while (is_triple(source, at + 1, ">"))
                at++;
            return at;
        }
    }
    return -1;
}

static int configuration_end(const struct cc_source *source, int open)
{
    int first = -1;

    for (int at = open + 3; (at = next_close(source, at)) >= 0; at += 3) {
        if (!cc_token_is(source, at + 3, "("))
            continue;
        if (angles_close(source, open + 3, at))
            return at;
        if (first < 0)
            first = at;
    }
    return first;
}

/* ---- launches ---- */

/* A `<<<` that is no operator's name (operator<<<int>). */
static bool opens_launch(const struct cc_source *source, int at)
{
    return is_triple(source, at, "<") && !cc_token_is(source, at - 1, "operator");
}

static bool find_parts(const struct cc_source *source, struct launch *launch)
{
    struct cc_place place = cc_token_place(source, launch->open);

    launch->callee = callee_start(source, launch->open);
    launch->close = configuration_end(source, launch->open);
    launch->args = launch->close + 3;
    if (launch->callee < 0)
        cc_error(place, "there is no kernel in front of <<<; a launch is written "
                        "kernel<<<blocks, threads>>>(arguments)");
    else if (launch->close < 0)
        cc_error(place, "this <<< has no >>>( behind it; a launch is written "
                        "kernel<<<blocks, threads>>>(arguments)");
    return launch->callee >= 0 && launch->close >= 0;
}

/* How many arguments the configuration has; commas of template lists are none. A pack may be any
 * number: 2 is said. */
static int count_arguments(const struct cc_source *source, const struct launch *launch)
{
    int count = launch->open + 3 < launch->close ? 1 : 0;

    for (int i = launch->open + 3; i < launch->close; i++) {
        if (source->token[i].match > i)
            i = source->token[i].match;
        else if (cc_token_is(source, i, "<") && is_plain_name(source, i - 1) &&
                 cc_match_angle(source, i) > 0 && cc_match_angle(source, i) < launch->close)
            i = cc_match_angle(source, i);
        else if (cc_token_is(source, i, "..."))
            return 2;
        else
            count += cc_token_is(source, i, ",");
    }
    return count;
}

/* A variable or parameter of the launching function that has the callee's name? */
static bool is_local(const struct cc_source *source, const struct cc_decl *function, int name)
{
    for (int i = function != NULL ? function->params : name; i < name; i++) {
        const struct cc_token *before = &source->token[i - 1];
        bool type = before->kind == CC_NAME && (!cc_is_keyword(before->text, before->length) ||
                                                cc_is_type_keyword(before->text, before->length));
        if (cc_same_token(source, i, name) &&
            (type || cc_token_is(source, i - 1, "*") || cc_token_is(source, i - 1, "auto") ||
             cc_token_is(source, i - 1, "&") || cc_token_is(source, i - 1, ">")))
            return true;
    }
    return false;
}

/* `f<<<1, 1>>>()` where every function called f in this file is one for the host. */
static bool is_host_function(const struct cc_source *source, const struct cc_decls *decls,
                             const struct launch *launch)
{
    int name = launch->callee;
    const struct cc_decl *callee = NULL;

    while (cc_token_is(source, name + 1, "::"))
        name += 2;
    for (size_t i = 0; i < decls->count; i++) {
        const struct cc_decl *decl = &decls->item[i];
        if (!cc_same_token(source, decl->name, name))
            continue;
        if (decl->kind != CC_FUNCTION || decl->in_class || (decl->words & CC_GLOBAL) != 0)
            return false;
        callee = decl;
    }
    return callee != NULL && !is_local(source, cc_function_at(decls, launch->open), name);
}

static bool is_sound(const struct cc_source *source, const struct cc_decls *decls,
                     const struct launch *launch)
{
    struct cc_place place = cc_token_place(source, launch->open);
    const struct cc_decl *function = cc_function_at(decls, launch->open);
    int count = count_arguments(source, launch);

    if (function != NULL && cc_runs_on_device(function)) {
        cc_error(place,
                 "'%s' launches a kernel from device code; the virtual node does not model "
                 "dynamic parallelism: launch from the host",
                 cc_decl_name(source, function));
        return false;
    }
    if (is_host_function(source, decls, launch)) {
        cc_error(place, "'%s' is no kernel: <<<>>> launches __global__ functions only",
                 cc_token_text(source, launch->callee, launch->open));
        return false;
    }
    if (count < 2 || count > 4) {
        cc_error(place,
                 "a launch is <<<blocks, threads>>>, with the bytes of shared memory and a "
                 "stream behind them if wanted; this one has %d argument%s",
                 count, count == 1 ? "" : "s");
        return false;
    }
    return true;
}

static void rewrite(struct cc_source *source, const struct launch *launch)
{
    const char *configuration = cc_render_range(source, launch->open + 3, launch->close);

    cc_edit_before(source, launch->callee,
                   cc_format("(vgpu_push_call(%s) ? (void)0 : ", configuration));
    cc_edit_delete(source, launch->open, launch->close + 3);
    cc_edit_after(source, source->token[launch->args].match, ")");
}

void cc_rewrite_launches(struct cc_source *source, const struct cc_decls *decls)
{
    for (int at = 0; (size_t)at < source->token_count; at++) {
        struct launch launch = {.open = at};
        if (!source->balanced || !opens_launch(source, at))
            continue;
        if (find_parts(source, &launch) && is_sound(source, decls, &launch))
            rewrite(source, &launch);
        at += 2;
    }
}

bool cc_is_launched(const struct cc_source *source, int name)
{
    int at = name + 1;

    if (cc_token_is(source, at, "<") && !is_triple(source, at, "<")) {
        int close = cc_match_angle(source, at);
        at = close > 0 ? close + 1 : at;
    }
    return is_triple(source, at, "<");
}
