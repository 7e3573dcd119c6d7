/* SPDX-License-Identifier: MIT
 * macro.c: the table of macros. expand.c expands them.
 */
#include "macro.h"

#include <string.h>

#include "mem.h"
#include "words.h"

static unsigned hash_name(const char *name, size_t length)
{
    unsigned hash = 2166136261u;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return hash % CC_MACRO_BUCKETS;
}

struct cc_macro *cc_macro_find(struct cc_macros *macros, const char *name, size_t length)
{
    struct cc_macro *macro = macros->bucket[hash_name(name, length)];

    while (macro != NULL &&
           (macro->name_length != length || memcmp(macro->name, name, length) != 0))
        macro = macro->next;
    if (macro == NULL || macro->undefined || cc_word_of(name, length) != CC_WORD_NONE)
        return NULL;
    return macro;
}

static void add_param(struct cc_macro *macro, const char *name, size_t length)
{
    size_t count = macro->param_count;
    const char **more = cc_alloc((count + 1) * sizeof *more);

    if (count != 0)
        memcpy(more, macro->param, count * sizeof *more);
    more[count] = cc_copy(name, length);
    macro->param = more;
    macro->param_count++;
}

/* The lexer is behind the opening parenthesis of the parameter list. */
static void read_params(struct cc_macro *macro, struct cc_lexer *lexer)
{
    for (;;) {
        struct cc_lexeme lexeme = cc_lex(lexer);
        if (lexeme.kind == CC_END || cc_is(lexeme.text, lexeme.length, ")"))
            return;
        if (lexeme.kind == CC_NAME)
            add_param(macro, lexeme.text, lexeme.length);
        if (cc_is(lexeme.text, lexeme.length, "...")) {
            /* `args...` names the pack itself; a bare `...` is __VA_ARGS__. */
            if (!cc_name_part(lexeme.text[-1]))
                add_param(macro, "__VA_ARGS__", strlen("__VA_ARGS__"));
            macro->variadic = true;
        }
    }
}

static void read_body(struct cc_macro *macro, struct cc_lexer *lexer)
{
    size_t capacity = 0;
    struct cc_lexeme lexeme;

    while ((lexeme = cc_lex(lexer)).kind != CC_END) {
        macro->body = cc_grow(macro->body, macro->body_count, &capacity, sizeof(struct cc_lexeme));
        macro->body[macro->body_count++] = lexeme;
    }
    if (macro->body_count != 0)
        macro->body[0].space = false;
}

static void define(struct cc_macros *macros, struct cc_lexer *lexer, bool undefined)
{
    struct cc_lexeme name = cc_lex(lexer);

    if (name.kind != CC_NAME)
        return;
    struct cc_macro *macro = cc_alloc(sizeof *macro);
    macro->name = name.text;
    macro->name_length = name.length;
    macro->undefined = undefined;
    if (!undefined && lexer->at < lexer->end && *lexer->at == '(') {
        macro->function_like = true;
        cc_lex(lexer);
        read_params(macro, lexer);
    }
    if (!undefined)
        read_body(macro, lexer);
    struct cc_macro **bucket = &macros->bucket[hash_name(name.text, name.length)];
    macro->next = *bucket;
    *bucket = macro;
}

void cc_macro_directive(struct cc_macros *macros, const char *line, size_t length)
{
    struct cc_lexer lexer;

    /* A copy, so that the lexer ends at the line's end. Behind the #, so that no body is taken for
     * a directive. */
    cc_lex_start(&lexer, cc_copy(line + 1, length - 1), length - 1);
    lexer.line_start = false;
    struct cc_lexeme word = cc_lex(&lexer);
    if (cc_is(word.text, word.length, "define"))
        define(macros, &lexer, false);
    else if (cc_is(word.text, word.length, "undef"))
        define(macros, &lexer, true);
}
