/* SPDX-License-Identifier: MIT
 * declarator.c: see declarator.h.
 *
 * The name of a declarator is the last identifier at its own level, or, where a bracket groups it
 * (`int (*p)[4]`), the one in there.
 */
#include "declarator.h"

static bool plain_name(const struct cc_source *source, int at)
{
    const struct cc_token *token = &source->token[at];

    return token->kind == CC_NAME && !cc_is_keyword(token->text, token->length);
}

/* Is the ( at `at` one that groups a declarator? */
static bool is_group(const struct cc_source *source, int at)
{
    return cc_token_is(source, at, "(") &&
           (cc_token_is(source, at + 1, "*") || cc_token_is(source, at + 1, "&") ||
            cc_token_is(source, at + 1, "&&"));
}

static int behind(const struct cc_source *source, int at)
{
    if (cc_token_is(source, at, "<")) {
        int close = cc_match_angle(source, at);
        return close > at ? close + 1 : at + 1;
    }
    return source->token[at].match > at ? source->token[at].match + 1 : at + 1;
}

static int group_name(const struct cc_source *source, int open)
{
    int name = -1, close = source->token[open].match;

    for (int at = open + 1; at < close; at = behind(source, at)) {
        if (is_group(source, at))
            return group_name(source, at);
        if (plain_name(source, at))
            name = at;
    }
    return name;
}

/* The name declared in [from, to), which holds one declarator with or without its specifiers. */
static int find_name(const struct cc_source *source, int from, int to)
{
    int name = -1;

    for (int at = from; at < to; at = behind(source, at)) {
        if (is_group(source, at))
            return group_name(source, at);
        if (plain_name(source, at) && !cc_token_is(source, at + 1, "::") &&
            !cc_token_is(source, at + 1, "("))
            name = at;
        if (cc_token_is(source, at, "[") && !cc_token_is(source, at + 1, "[") && name >= 0)
            break;
    }
    return name;
}

static bool ends_declarator(const struct cc_source *source, int at)
{
    return cc_token_is(source, at, ",") || cc_token_is(source, at, "=");
}

/* The { of a class in the specifiers is no initialiser: no name has been seen yet. */
static bool opens_initialiser(const struct cc_source *source, int from, int at)
{
    return cc_token_is(source, at, "{") && at > from &&
           (plain_name(source, at - 1) || cc_token_is(source, at - 1, "]")) &&
           !cc_token_is(source, at - 2, "struct") && !cc_token_is(source, at - 2, "union") &&
           !cc_token_is(source, at - 2, "class");
}

static int initialiser_end(const struct cc_source *source, int at, int to)
{
    while (at < to && !cc_token_is(source, at, ","))
        at = source->token[at].match > at ? source->token[at].match + 1 : at + 1;
    return at;
}

struct cc_declarators cc_declarators(const struct cc_source *source, int from, int to)
{
    struct cc_declarators list = {0};

    while (from < to) {
        struct cc_declarator one = {.name = -1, .init = -1};
        int at = from;
        while (at < to && !ends_declarator(source, at) && !opens_initialiser(source, from, at))
            at = behind(source, at);
        one.name = find_name(source, from, at);
        one.end = at;
        if (at < to && !cc_token_is(source, at, ",")) {
            one.init = at;
            one.end = initialiser_end(source, at, to);
        }
        list.item = cc_grow(list.item, list.count, &list.capacity, sizeof *list.item);
        list.item[list.count++] = one;
        from = one.end + 1;
    }
    return list;
}

/* ---- parameters ---- */

/* Something in [from, name) is a type, so that `name` is a name: `int x`, not `vec::type`. */
static bool has_type_before(const struct cc_source *source, int from, int name)
{
    if (cc_token_is(source, name - 1, "::"))
        return false;
    for (int at = from; at < name; at = behind(source, at)) {
        const struct cc_token *token = &source->token[at];
        if (plain_name(source, at) || cc_is_type_keyword(token->text, token->length) ||
            cc_token_is(source, at, "decltype") || cc_token_is(source, at, "typename") ||
            cc_token_is(source, at, "class"))
            return true;
    }
    return false;
}

static int param_name(const struct cc_source *source, int from, int to)
{
    int name = find_name(source, from, to);

    for (int at = from; at < to; at++)
        if (is_group(source, at))
            return name;
    return name >= 0 && has_type_before(source, from, name) ? name : -1;
}

static void add_param(const struct cc_source *source, struct cc_params *params, int from, int to)
{
    struct cc_param param = {.from = from, .to = from};

    while (param.to < to && !cc_token_is(source, param.to, "=")) {
        param.pack |= cc_token_is(source, param.to, "...");
        param.to = behind(source, param.to);
    }
    param.name = param_name(source, from, param.to);
    params->item = cc_grow(params->item, params->count, &params->capacity, sizeof param);
    params->item[params->count++] = param;
}

struct cc_params cc_params(const struct cc_source *source, int open, int close)
{
    struct cc_params params = {0};
    int from = open + 1;

    if (from == close || (from + 1 == close && cc_token_is(source, from, "void")))
        return params;
    for (int at = from; at < close; at = behind(source, at)) {
        if (cc_token_is(source, at, ",")) {
            add_param(source, &params, from, at);
            from = at + 1;
        }
    }
    add_param(source, &params, from, close);
    return params;
}

const char *cc_params_text(const struct cc_source *source, const struct cc_params *params)
{
    struct cc_text text = {0};

    cc_puts(&text, "");
    for (size_t i = 0; i < params->count; i++)
        cc_putf(&text, "%s%s", i > 0 ? ", " : "",
                cc_token_text(source, params->item[i].from, params->item[i].to));
    return text.data;
}
