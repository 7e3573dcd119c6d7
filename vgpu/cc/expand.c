/* SPDX-License-Identifier: MIT
 * expand.c: macro expansion as C++ defines it: arguments are expanded first except beside # and
 * ##, the result is scanned again, and a macro is hidden in what it made itself.
 *
 * The worklist holds what is still to be scanned. A function-like name at its end takes its
 * arguments from the source behind the invocation, as the preprocessor does.
 */
#include <string.h>

#include "macro.h"
#include "mem.h"

struct cc_hidden {
    const struct cc_macro *macro;
    const struct cc_hidden *next;
};

struct work {
    struct cc_macros *macros;
    struct cc_piece *list;   /* to be scanned */
    struct cc_lexer *source; /* where to go on behind the list; null: nowhere */
};

struct pieces {
    struct cc_piece *first, *last;
};

static bool piece_is(const struct cc_piece *piece, const char *word)
{
    return cc_is(piece->lexeme.text, piece->lexeme.length, word);
}

static struct cc_piece *new_piece(struct cc_lexeme lexeme, const struct cc_hidden *hidden)
{
    struct cc_piece *piece = cc_alloc(sizeof *piece);

    piece->lexeme = lexeme;
    piece->hidden = hidden;
    return piece;
}

static void append(struct pieces *to, struct cc_lexeme lexeme, const struct cc_hidden *hidden)
{
    struct cc_piece *piece = new_piece(lexeme, hidden);

    if (to->last != NULL)
        to->last->next = piece;
    else
        to->first = piece;
    to->last = piece;
}

static bool is_hidden(const struct cc_piece *piece, const struct cc_macro *macro)
{
    for (const struct cc_hidden *h = piece->hidden; h != NULL; h = h->next)
        if (h->macro == macro)
            return true;
    return false;
}

static const struct cc_hidden *hide(const struct cc_hidden *hidden, const struct cc_macro *macro)
{
    struct cc_hidden *more = cc_alloc(sizeof *more);

    more->macro = macro;
    more->next = hidden;
    return more;
}

/* ---- arguments ---- */

/* The next piece of the worklist, or of the source behind it. A lexeme of kind CC_END at the end.
 */
static struct cc_piece *take(struct work *work)
{
    if (work->list != NULL) {
        struct cc_piece *piece = work->list;
        work->list = piece->next;
        return piece;
    }
    struct cc_lexeme lexeme = {.kind = CC_END};
    if (work->source != NULL)
        do
            lexeme = cc_lex(work->source);
        while (lexeme.kind == CC_DIRECTIVE);
    return new_piece(lexeme, NULL);
}

static bool is_called(struct work *work)
{
    if (work->list != NULL)
        return piece_is(work->list, "(");
    if (work->source == NULL)
        return false;
    struct cc_lexer ahead = *work->source;
    struct cc_lexeme lexeme = cc_lex(&ahead);
    return lexeme.kind == CC_PUNCT && cc_is(lexeme.text, lexeme.length, "(");
}

/* Takes `( ... )` into arg[0 .. count). What is beyond the last parameter goes into the last. */
static void take_args(struct work *work, const struct cc_macro *macro, struct pieces *arg)
{
    size_t at = 0, depth = 0;

    take(work);
    for (;;) {
        struct cc_piece *piece = take(work);
        if (piece->lexeme.kind == CC_END || (depth == 0 && piece_is(piece, ")")))
            return;
        bool last = at + 1 >= macro->param_count;
        if (depth == 0 && piece_is(piece, ",") && !(last && macro->variadic)) {
            at++;
            continue;
        }
        if (piece_is(piece, "("))
            depth++;
        if (piece_is(piece, ")"))
            depth--;
        if (at < macro->param_count)
            append(&arg[at], piece->lexeme, piece->hidden);
    }
}

/* ---- substitution ---- */

static struct cc_piece *expand_list(struct work *work);

static int param_of(const struct cc_macro *macro, const struct cc_lexeme *lexeme)
{
    if (lexeme->kind == CC_NAME)
        for (size_t i = 0; i < macro->param_count; i++)
            if (cc_is(lexeme->text, lexeme->length, macro->param[i]))
                return (int)i;
    return -1;
}

static struct cc_lexeme stringize(const struct pieces *arg, bool space)
{
    struct cc_text text = {0};

    cc_puts(&text, "\"");
    for (struct cc_piece *p = arg->first; p != NULL; p = p->next) {
        bool quoted = p->lexeme.kind == CC_STRING || p->lexeme.kind == CC_CHAR;
        if (p->lexeme.space && p != arg->first)
            cc_puts(&text, " ");
        for (size_t i = 0; i < p->lexeme.length; i++) {
            char c = p->lexeme.text[i];
            if (quoted && (c == '"' || c == '\\'))
                cc_puts(&text, "\\");
            cc_put(&text, &c, 1);
        }
    }
    cc_puts(&text, "\"");
    return (struct cc_lexeme){CC_STRING, text.data, text.length, space};
}

/* Glues `right` to the last piece. */
static void paste(struct pieces *out, struct cc_lexeme right, const struct cc_hidden *hidden)
{
    if (out->last == NULL) {
        append(out, right, hidden);
        return;
    }
    struct cc_lexeme *left = &out->last->lexeme;
    char *text =
        cc_format("%.*s%.*s", (int)left->length, left->text, (int)right.length, right.text);
    struct cc_lexer lexer;
    cc_lex_start(&lexer, text, strlen(text));
    lexer.line_start = false;
    bool space = left->space;
    *left = cc_lex(&lexer);
    left->space = space;
}

static void append_all(struct pieces *out, const struct cc_piece *list, bool space,
                       const struct cc_hidden *hidden, const struct cc_macro *macro)
{
    for (bool first = true; list != NULL; list = list->next, first = false) {
        struct cc_lexeme lexeme = list->lexeme;
        if (first)
            lexeme.space = space;
        append(out, lexeme, macro != NULL ? hide(list->hidden, macro) : hidden);
    }
}

struct call {
    struct work *work;
    const struct cc_macro *macro;
    struct pieces *arg;
    const struct cc_hidden *hidden;
    struct pieces out;
};

static struct cc_piece *expand_arg(struct call *call, int param)
{
    struct cc_piece *copy = NULL, **tail = &copy;

    for (struct cc_piece *p = call->arg[param].first; p != NULL; p = p->next) {
        *tail = new_piece(p->lexeme, p->hidden);
        tail = &(*tail)->next;
    }
    struct work inner = {.macros = call->work->macros, .list = copy};
    return expand_list(&inner);
}

/* `right ##`'s right side at body[at]: an argument as it was written, or a lexeme. */
static void paste_next(struct call *call, const struct cc_lexeme *body)
{
    int param = param_of(call->macro, body);

    if (param < 0) {
        paste(&call->out, *body, call->hidden);
        return;
    }
    bool comma = call->out.last != NULL && piece_is(call->out.last, ",");
    const struct cc_piece *list = call->arg[param].first;
    if (comma && call->macro->variadic && (size_t)param + 1 == call->macro->param_count) {
        /* GNU's `, ## __VA_ARGS__`: no arguments, no comma. */
        if (list == NULL)
            call->out.last->lexeme.length = 0;
        append_all(&call->out, list, true, call->hidden, call->macro);
    } else if (list != NULL) {
        paste(&call->out, list->lexeme, call->hidden);
        append_all(&call->out, list->next, true, call->hidden, call->macro);
    }
}

/* One lexeme of the body that is not an operand of # or ##, at body[at]; how many were used. */
static size_t substitute_one(struct call *call, size_t at)
{
    const struct cc_macro *macro = call->macro;
    const struct cc_lexeme *body = &macro->body[at];
    int param = param_of(macro, body);
    bool more = at + 1 < macro->body_count;

    if (macro->function_like && more && cc_is(body->text, body->length, "#") &&
        param_of(macro, body + 1) >= 0) {
        append(&call->out, stringize(&call->arg[param_of(macro, body + 1)], body->space),
               call->hidden);
        return 2;
    }
    if (more && at > 0 && cc_is(body->text, body->length, "##")) {
        paste_next(call, body + 1);
        return 2;
    }
    if (param < 0) {
        append(&call->out, *body, call->hidden);
        return 1;
    }
    bool raw = more && cc_is(body[1].text, body[1].length, "##");
    const struct cc_piece *list = raw ? call->arg[param].first : expand_arg(call, param);
    append_all(&call->out, list, body->space, call->hidden, call->macro);
    return 1;
}

static bool varargs_empty(const struct call *call)
{
    return !call->macro->variadic || call->arg[call->macro->param_count - 1].first == NULL;
}

/* __VA_OPT__( ... ) at body[at]: how many lexemes to skip: the whole when there are no variable
 * arguments, else the opening part only; *close is where its closing parenthesis is. */
static size_t va_opt(const struct call *call, size_t at, size_t *close)
{
    const struct cc_macro *macro = call->macro;
    size_t depth = 0, i = at + 1;

    for (; i < macro->body_count; i++) {
        if (cc_is(macro->body[i].text, macro->body[i].length, "("))
            depth++;
        if (cc_is(macro->body[i].text, macro->body[i].length, ")") && --depth == 0)
            break;
    }
    *close = i;
    return varargs_empty(call) ? i + 1 - at : 2;
}

static struct pieces substitute(struct call *call)
{
    const struct cc_macro *macro = call->macro;
    size_t close = (size_t)-1;

    for (size_t at = 0; at < macro->body_count;) {
        const struct cc_lexeme *body = &macro->body[at];
        if (macro->variadic && cc_is(body->text, body->length, "__VA_OPT__"))
            at += va_opt(call, at, &close);
        else if (at == close)
            at++;
        else
            at += substitute_one(call, at);
    }
    return call->out;
}

/* ---- scanning ---- */

/* Replaces `name` by its macro's text at the head of the worklist. */
static void invoke(struct work *work, struct cc_piece *name, const struct cc_macro *macro)
{
    struct pieces *arg = cc_alloc((macro->param_count + 1) * sizeof *arg);
    struct call call = {.work = work, .macro = macro, .arg = arg};

    if (macro->function_like)
        take_args(work, macro, arg);
    call.hidden = hide(name->hidden, macro);
    struct pieces made = substitute(&call);
    if (made.first == NULL)
        return;
    made.first->lexeme.space = name->lexeme.space;
    made.last->next = work->list;
    work->list = made.first;
}

/* The macro that `piece` invokes here, or null. */
static const struct cc_macro *invoked(struct work *work, const struct cc_piece *piece)
{
    if (piece->lexeme.kind != CC_NAME)
        return NULL;
    const struct cc_macro *macro =
        cc_macro_find(work->macros, piece->lexeme.text, piece->lexeme.length);
    if (macro == NULL || is_hidden(piece, macro))
        return NULL;
    return macro->function_like && !is_called(work) ? NULL : macro;
}

static struct cc_piece *expand_list(struct work *work)
{
    struct pieces out = {0};

    while (work->list != NULL) {
        struct cc_piece *piece = take(work);
        const struct cc_macro *macro = invoked(work, piece);
        if (macro != NULL)
            invoke(work, piece, macro);
        else if (piece->lexeme.length != 0)
            append(&out, piece->lexeme, piece->hidden);
    }
    return out.first;
}

struct cc_piece *cc_macro_expand(struct cc_macros *macros, struct cc_lexeme first,
                                 struct cc_lexer *lexer, bool *used)
{
    struct work work = {.macros = macros, .list = new_piece(first, NULL), .source = lexer};
    struct cc_piece name = *work.list;

    name.next = NULL;
    work.list = NULL;
    *used = invoked(&work, &name) != NULL;
    if (!*used)
        return NULL;
    work.list = new_piece(first, NULL);
    return expand_list(&work);
}
