/* SPDX-License-Identifier: MIT
 * declaration.c: one declaration: its template headers, specifiers, name, parameters and body.
 *
 * The walk goes over the tokens at the declaration's own level: every bracket that is not wanted is
 * stepped over as a whole.
 */
#include "scan_internal.h"

struct walk {
    struct cc_scan *scan;
    const struct cc_source *source;
    const struct cc_scope *scope;
    struct cc_decl decl;
    int at, to;
    bool assigned; /* behind a =: names and brackets belong to an initialiser */
};

struct cc_decl *cc_new_decl(struct cc_scan *scan, int first)
{
    struct cc_decls *decls = scan->decls;

    decls->item = cc_grow(decls->item, decls->count, &decls->capacity, sizeof *decls->item);
    struct cc_decl *decl = &decls->item[decls->count];
    *decl = (struct cc_decl){
        .kind = CC_VARIABLE,
        .id = (int)decls->count,
        .first = first,
        .last = first,
        .spec = first,
        .templ = -1,
        .name = -1,
        .name_from = -1,
        .params = -1,
        .params_end = -1,
        .init = -1,
        .body = -1,
        .body_end = -1,
        .bounds = -1,
        .scope = "",
    };
    decls->count++;
    return decl;
}

static bool here(const struct walk *w, const char *word)
{
    return cc_token_is(w->source, w->at, word);
}

static bool is_name(const struct walk *w, int at)
{
    return at >= 0 && (size_t)at < w->source->token_count && w->source->token[at].kind == CC_NAME;
}

static bool is_plain_name(const struct walk *w, int at)
{
    return is_name(w, at) && !cc_is_keyword(w->source->token[at].text, w->source->token[at].length);
}

/* Behind the brackets that open at `at`. */
static int behind(const struct walk *w, int at)
{
    int match = w->source->token[at].match;

    return match > at ? match + 1 : at + 1;
}

/* ---- in front of the specifiers ---- */

/* Behind `requires` and its constraint, which is at w->at. */
static void skip_requires(struct walk *w)
{
    w->at++;
    while (w->at < w->to) {
        if (here(w, "("))
            w->at = behind(w, w->at);
        else
            while (is_plain_name(w, w->at) || here(w, "::") || here(w, "<"))
                w->at = here(w, "<") ? cc_match_angle(w->source, w->at) + 1 : w->at + 1;
        if (!here(w, "&&") && !here(w, "||"))
            return;
        w->at++;
    }
}

static void skip_attributes(struct walk *w)
{
    while (here(w, "[") && cc_token_is(w->source, w->at + 1, "["))
        w->at = behind(w, w->at);
}

static void read_headers(struct walk *w)
{
    while (here(w, "template")) {
        int open = w->at + 1;
        if (!cc_token_is(w->source, open, "<")) {
            w->decl.specialised = true; /* an explicit instantiation */
            w->at++;
            continue;
        }
        int close = cc_match_angle(w->source, open);
        w->decl.templ = open;
        w->decl.specialised = close == open + 1;
        w->at = close > open ? close + 1 : open + 1;
        if (here(w, "requires"))
            skip_requires(w);
    }
    skip_attributes(w);
    if (here(w, "extern") && w->source->token[w->at + 1].kind == CC_STRING)
        w->at += 2;
    skip_attributes(w);
    w->decl.spec = w->at;
}

/* ---- classes and enumerations ---- */

/* The { of the class whose key is at w->at; -1: the key is only part of a type's name. */
static int class_body(const struct walk *w)
{
    for (int i = w->at + 1; i < w->to; i++) {
        if (cc_token_is(w->source, i, "{"))
            return i;
        if (cc_token_is(w->source, i, ":")) {
            while (i < w->to && !cc_token_is(w->source, i, "{") && !cc_token_is(w->source, i, ";"))
                i++;
            return cc_token_is(w->source, i, "{") ? i : -1;
        }
        /* Attributes have brackets of their own; `struct s f(` is no class. */
        bool attribute = is_name(w, i - 1) && !is_plain_name(w, i - 1);
        if (cc_token_is(w->source, i, "[") || (cc_token_is(w->source, i, "(") && attribute))
            i = behind(w, i) - 1;
        else if (cc_token_is(w->source, i, "<"))
            i = cc_match_angle(w->source, i);
        else if (!is_name(w, i) && !cc_token_is(w->source, i, "::"))
            return -1;
        if (i < w->at)
            return -1;
    }
    return -1;
}

/* `struct __align__(16) name`, `class name<int> : base`: the name. */
static const char *class_name(const struct walk *w, int body)
{
    for (int i = w->at + 1; i < body && !cc_token_is(w->source, i, ":"); i++) {
        if (cc_token_is(w->source, i, "[") || cc_token_is(w->source, i, "("))
            i = behind(w, i) - 1;
        else if (is_plain_name(w, i) && !cc_token_is(w->source, i + 1, "("))
            return cc_copy(w->source->token[i].text, w->source->token[i].length);
    }
    return "";
}

static bool read_class(struct walk *w)
{
    bool enumeration = here(w, "enum");

    if (!enumeration && !here(w, "struct") && !here(w, "class") && !here(w, "union"))
        return false;
    if (enumeration &&
        (cc_token_is(w->source, w->at + 1, "class") || cc_token_is(w->source, w->at + 1, "struct")))
        w->at++;
    int body = class_body(w);
    if (body < 0) {
        w->at++;
        return true;
    }
    if (!enumeration) {
        struct cc_scope inner = *w->scope;
        const char *name = class_name(w, body);
        inner.in_class = true;
        inner.in_template_class |= w->decl.templ >= 0;
        inner.name = *name != 0 ? cc_format("%s%s::", inner.name, name) : inner.name;
        cc_scan_scope(w->scan, body + 1, w->source->token[body].match, &inner);
    }
    w->decl.kind = CC_TYPE;
    w->at = behind(w, body);
    return true;
}

/* ---- specifiers ---- */

static bool read_specifier(struct walk *w)
{
    static const char *const with_parens[] = {"alignas",  "__attribute__", "decltype",
                                              "noexcept", "explicit",      "throw",
                                              "typeof",   "__typeof__"};
    const struct cc_token *token = &w->source->token[w->at];

    if (token->kind != CC_NAME)
        return false;
    enum cc_word word = cc_specifier_of(token->text, token->length);
    w->decl.words |= word;
    if (word == CC_LAUNCH_BOUNDS)
        w->decl.bounds = w->at + 1;
    bool parens = (word & (CC_LAUNCH_BOUNDS | CC_ALIGN | CC_CLUSTER_DIMS | CC_MAXNREG)) != 0;
    for (size_t i = 0; i < sizeof with_parens / sizeof *with_parens; i++)
        parens |= here(w, with_parens[i]);
    if (!parens && word == CC_WORD_NONE)
        return false;
    w->at++;
    if (parens && here(w, "("))
        w->at = behind(w, w->at);
    return true;
}

/* ---- names and parameters ---- */

/* The first token of the qualified name whose last identifier is at `name`. */
static int name_start(const struct walk *w, int name)
{
    int at = name;

    if (cc_token_is(w->source, at - 1, "~"))
        at--;
    while (at - 1 > w->decl.spec && cc_token_is(w->source, at - 1, "::") && is_name(w, at - 2))
        at -= 2;
    return at;
}

static void read_operator(struct walk *w)
{
    int name = w->at++;

    /* operator() and operator[]: their own brackets are part of the name. */
    if (here(w, "(") || here(w, "["))
        w->at = behind(w, w->at);
    while (w->at < w->to && !here(w, "(") && !here(w, ";"))
        w->at++;
    if (!here(w, "("))
        return;
    w->decl.name = name;
    w->decl.name_from = name_start(w, name);
    w->decl.operator_name = true;
    w->decl.params = w->at;
    w->decl.params_end = w->source->token[w->at].match;
    w->at = behind(w, w->at);
}

/* The identifier in front of the ( at w->at that is declared by it, or -1. */
static int declared_name(const struct walk *w)
{
    int at = w->at - 1;

    if (cc_token_is(w->source, at, ">")) {
        /* name<arguments>( : back to the < */
        for (int i = w->decl.spec; i < at; i++)
            if (cc_token_is(w->source, i, "<") && cc_match_angle(w->source, i) == at)
                return is_plain_name(w, i - 1) ? i - 1 : -1;
        return -1;
    }
    return is_plain_name(w, at) && at >= w->decl.spec ? at : -1;
}

static void read_paren(struct walk *w)
{
    int name = w->decl.params < 0 && !w->assigned ? declared_name(w) : -1;

    if (name >= 0) {
        w->decl.name = name;
        w->decl.name_from = name_start(w, name);
        w->decl.params = w->at;
        w->decl.params_end = w->source->token[w->at].match;
    }
    w->at = behind(w, w->at);
}

/* ---- behind the parameters ---- */

/* `: a(x), b{y} {`: w->at is at the colon and is left at the body's {. */
static void read_initialisers(struct walk *w)
{
    w->decl.init = w->at++;
    while (w->at < w->to) {
        while (w->at < w->to && !here(w, "(") && !here(w, "{"))
            w->at = here(w, "<") && cc_match_angle(w->source, w->at) > 0
                        ? cc_match_angle(w->source, w->at) + 1
                        : w->at + 1;
        w->at = behind(w, w->at);
        if (here(w, "..."))
            w->at++;
        if (!here(w, ","))
            return;
        w->at++;
    }
}

static void read_assignment(struct walk *w)
{
    w->at++;
    w->assigned = true;
    if (w->decl.params >= 0)
        w->decl.defaulted = here(w, "default") || here(w, "delete") || here(w, "0");
}

/* The { at w->at: a function's body ends the declaration (true), an initialiser does not. */
static bool read_brace(struct walk *w)
{
    bool body = w->decl.params >= 0 && !w->assigned;

    if (body) {
        w->decl.body = w->at;
        w->decl.body_end = w->source->token[w->at].match;
    }
    w->at = behind(w, w->at);
    return body;
}

/* One step; true at the declaration's end, w->at behind it then. */
static bool step(struct walk *w)
{
    if (here(w, ";")) {
        w->at++;
        return true;
    }
    if (here(w, "{"))
        return read_brace(w);
    if (here(w, "="))
        read_assignment(w);
    else if (here(w, ":") && w->decl.params >= 0 && !w->assigned)
        read_initialisers(w);
    else if (here(w, "operator") && w->decl.params < 0)
        read_operator(w);
    else if (here(w, "(") || here(w, "["))
        here(w, "(") ? read_paren(w) : (void)(w->at = behind(w, w->at));
    else if (here(w, "<") && !w->assigned && cc_match_angle(w->source, w->at) > 0)
        w->at = cc_match_angle(w->source, w->at) + 1;
    else if (here(w, "requires"))
        skip_requires(w);
    else if (w->decl.params >= 0 || w->assigned || !read_class(w))
        if (!read_specifier(w))
            w->at++;
    return false;
}

int cc_scan_declaration(struct cc_scan *scan, int at, int to, const struct cc_scope *scope)
{
    struct walk w = {.scan = scan, .source = scan->source, .scope = scope, .at = at, .to = to};

    w.decl = *cc_new_decl(scan, at);
    read_headers(&w);
    while (w.at < w.to && !step(&w))
        continue;
    if (w.decl.params >= 0)
        w.decl.kind = CC_FUNCTION;
    w.decl.last = w.at - 1;
    w.decl.in_class = scope->in_class;
    w.decl.in_template_class = scope->in_template_class;
    w.decl.internal = scope->internal;
    w.decl.scope = scope->name;
    scan->decls->item[w.decl.id] = w.decl;
    return w.at > at ? w.at : at + 1;
}
