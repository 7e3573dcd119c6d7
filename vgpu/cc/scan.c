/* SPDX-License-Identifier: MIT
 * scan.c: scopes: namespaces, extern "C" blocks, classes, and the declarations in them. One
 * declaration is read by declaration.c.
 */
#include "scan.h"

#include <string.h>

#include "scan_internal.h"

int cc_match_angle(const struct cc_source *source, int open)
{
    int depth = 0;

    for (int i = open; (size_t)i < source->token_count; i++) {
        const struct cc_token *token = &source->token[i];
        if (token->kind != CC_PUNCT)
            continue;
        if (cc_token_is(source, i, "<"))
            depth++;
        else if (cc_token_is(source, i, ">") && --depth == 0)
            return i;
        else if (strchr("([{", *token->text) != NULL && token->match > i)
            i = token->match;
        else if (strchr(")]};", *token->text) != NULL)
            return -1;
    }
    return -1;
}

int cc_statement_end(const struct cc_source *source, int from)
{
    for (int i = from; (size_t)i < source->token_count; i++) {
        const struct cc_token *token = &source->token[i];
        if (token->match > i)
            i = token->match;
        else if (cc_token_is(source, i, ";") || cc_token_is(source, i, "}"))
            return i;
    }
    return (int)source->token_count;
}

/* ---- scopes ---- */

static const char *scope_name(const struct cc_scope *scope, const char *name)
{
    return cc_format("%s%s::", scope->name, name);
}

/* `namespace a::b {`, `inline namespace a {`, `namespace {`, `namespace a = b;`; behind it. */
static int scan_namespace(struct cc_scan *scan, int at, const struct cc_scope *outer)
{
    const struct cc_source *source = scan->source;
    struct cc_scope inner = *outer;
    bool named = false;

    for (; (size_t)at < source->token_count && !cc_token_is(source, at, "{"); at++) {
        if (cc_token_is(source, at, ";"))
            return at + 1;
        if (cc_token_is(source, at, "["))
            at = source->token[at].match;
        const struct cc_token *token = &source->token[at];
        bool word = cc_token_is(source, at, "namespace") || cc_token_is(source, at, "inline");
        if (token->kind == CC_NAME && !word) {
            inner.name = scope_name(&inner, cc_copy(token->text, token->length));
            named = true;
        }
    }
    inner.internal |= !named;
    if ((size_t)at >= source->token_count)
        return at;
    cc_scan_scope(scan, at + 1, source->token[at].match, &inner);
    return source->token[at].match + 1;
}

static bool is_namespace(const struct cc_source *source, int at)
{
    return cc_token_is(source, at, "namespace") ||
           (cc_token_is(source, at, "inline") && cc_token_is(source, at + 1, "namespace"));
}

static bool is_linkage_block(const struct cc_source *source, int at)
{
    return cc_token_is(source, at, "extern") && source->token[at + 1].kind == CC_STRING &&
           cc_token_is(source, at + 2, "{");
}

static bool is_asm(const struct cc_source *source, int at)
{
    return cc_token_is(source, at, "asm") || cc_token_is(source, at, "__asm__") ||
           cc_token_is(source, at, "__asm");
}

static int scan_asm(struct cc_scan *scan, int at)
{
    struct cc_decl *decl = cc_new_decl(scan, at);

    decl->kind = CC_ASM;
    decl->last = cc_statement_end(scan->source, at);
    return decl->last + 1;
}

static bool is_access(const struct cc_source *source, int at)
{
    return cc_token_is(source, at + 1, ":") &&
           (cc_token_is(source, at, "public") || cc_token_is(source, at, "private") ||
            cc_token_is(source, at, "protected"));
}

void cc_scan_scope(struct cc_scan *scan, int from, int to, const struct cc_scope *scope)
{
    const struct cc_source *source = scan->source;

    for (int at = from; at < to;) {
        if (cc_token_is(source, at, ";"))
            at++;
        else if (is_access(source, at))
            at += 2;
        else if (is_namespace(source, at))
            at = scan_namespace(scan, at, scope);
        else if (is_linkage_block(source, at)) {
            cc_scan_scope(scan, at + 3, source->token[at + 2].match, scope);
            at = source->token[at + 2].match + 1;
        } else if (cc_token_is(source, at, "using") || cc_token_is(source, at, "static_assert"))
            at = cc_statement_end(source, at) + 1;
        else if (is_asm(source, at))
            at = scan_asm(scan, at);
        else
            at = cc_scan_declaration(scan, at, to, scope);
    }
}

struct cc_decls *cc_scan(const struct cc_source *source)
{
    struct cc_scan scan = {.source = source, .decls = cc_alloc(sizeof(struct cc_decls))};
    struct cc_scope global = {.name = ""};

    /* Without partners for all brackets nothing is found; the compiler says where it is wrong. */
    if (source->balanced)
        cc_scan_scope(&scan, 0, (int)source->token_count, &global);
    return scan.decls;
}

/* ---- questions ---- */

const struct cc_decl *cc_function_at(const struct cc_decls *decls, int token)
{
    for (size_t i = 0; i < decls->count; i++) {
        const struct cc_decl *decl = &decls->item[i];
        if (decl->kind == CC_FUNCTION && token >= decl->first && token <= decl->last)
            return decl;
    }
    return NULL;
}

bool cc_runs_on_device(const struct cc_decl *decl)
{
    return (decl->words & (CC_GLOBAL | CC_DEVICE)) != 0;
}

const char *cc_decl_name(const struct cc_source *source, const struct cc_decl *decl)
{
    if (decl->name < 0)
        return "?";
    int to = decl->operator_name ? decl->params : decl->name + 1;
    return cc_format("%s%s", decl->scope, cc_token_text(source, decl->name_from, to));
}
