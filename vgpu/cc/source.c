/* SPDX-License-Identifier: MIT
 * source.c: see source.h.
 */
#include "source.h"

#include <stdlib.h>
#include <string.h>

struct reader {
    struct cc_source *source;
    struct cc_lexer lexer;
    const struct cc_list *own_dirs;
    struct cc_place place; /* of the text at `counted` */
    const char *counted;
    bool system;
};

/* ---- places ---- */

/* Brings reader->place to `at`, which is not before the last place asked for. */
static struct cc_place place_at(struct reader *reader, const char *at)
{
    const char *end;

    while ((end = memchr(reader->counted, '\n', (size_t)(at - reader->counted))) != NULL) {
        reader->place.line++;
        reader->counted = end + 1;
    }
    struct cc_place place = reader->place;
    place.column = (int)(at - reader->counted) + 1;
    return place;
}

static bool is_own_dir(const struct cc_list *dirs, const char *file)
{
    for (size_t i = 0; i < dirs->count; i++)
        if (cc_starts(file, dirs->item[i]) && file[strlen(dirs->item[i])] == '/')
            return true;
    return false;
}

/* The string that a line marker holds, its escapes undone; *behind is set behind it. */
static const char *marker_file(const char *quote, const char **behind)
{
    struct cc_text file = {0};
    const char *at = quote + 1;

    cc_puts(&file, "");
    while (*at != 0 && *at != '"' && *at != '\n') {
        if (*at == '\\' && at[1] != 0)
            at++;
        cc_put(&file, at++, 1);
    }
    *behind = *at == '"' ? at + 1 : at;
    return file.data;
}

/* `# 12 "file" 1 3` and `#line 12 "file"`. False: another directive. */
static bool line_marker(struct reader *reader, struct cc_lexeme directive)
{
    const char *at = directive.text + 1;

    while (*at == ' ' || *at == '\t')
        at++;
    if (cc_starts(at, "line"))
        at += strlen("line");
    char *rest;
    long line = strtol(at, &rest, 10);
    if (rest == at)
        return false;
    const char *quote = strchr(rest, '"'), *end = directive.text + directive.length;
    reader->system = false;
    if (quote != NULL && quote < end) {
        const char *flags;
        reader->place.file = marker_file(quote, &flags);
        for (; flags < end; flags++)
            reader->system |= *flags == '3';
    }
    if (reader->system && is_own_dir(reader->own_dirs, reader->place.file))
        reader->system = false;
    place_at(reader, end);
    reader->place.line = (int)line - 1; /* the marker names the line behind its own line's end */
    return true;
}

/* ---- units and tokens ---- */

static struct cc_unit *add_unit(struct reader *reader, struct cc_lexeme lexeme)
{
    struct cc_source *source = reader->source;

    source->unit =
        cc_grow(source->unit, source->unit_count, &source->unit_capacity, sizeof *source->unit);
    struct cc_unit *unit = &source->unit[source->unit_count++];
    *unit = (struct cc_unit){.first = (uint32_t)source->token_count};
    unit->begin = (size_t)(lexeme.text - source->text);
    unit->end = unit->begin + lexeme.length;
    unit->place = place_at(reader, lexeme.text);
    return unit;
}

static void add_token(struct cc_source *source, struct cc_lexeme lexeme)
{
    source->token = cc_grow(source->token, source->token_count + 1, &source->token_capacity,
                            sizeof *source->token);
    source->token[source->token_count++] = (struct cc_token){
        .kind = lexeme.kind,
        .text = lexeme.text,
        .length = (uint32_t)lexeme.length,
        .unit = (uint32_t)source->unit_count - 1,
        .space = lexeme.space,
        .match = -1,
    };
    source->token[source->token_count] = (struct cc_token){.kind = CC_END, .text = "", .match = -1};
}

static void read_directive(struct reader *reader, struct cc_lexeme lexeme)
{
    if (line_marker(reader, lexeme))
        return;
    cc_macro_directive(&reader->source->macros, lexeme.text, lexeme.length);
    if (!reader->system)
        add_unit(reader, lexeme)->directive = true;
}

static void read_code(struct reader *reader, struct cc_lexeme lexeme)
{
    struct cc_unit *unit = add_unit(reader, lexeme);
    bool used = false;
    struct cc_piece *piece = NULL;

    if (lexeme.kind == CC_NAME)
        piece = cc_macro_expand(&reader->source->macros, lexeme, &reader->lexer, &used);
    if (!used) {
        add_token(reader->source, lexeme);
    } else {
        unit->macro = true;
        unit->end = (size_t)(reader->lexer.at - reader->source->text);
        for (; piece != NULL; piece = piece->next)
            add_token(reader->source, piece->lexeme);
    }
    unit->count = (uint32_t)reader->source->token_count - unit->first;
}

/* Gives every bracket its partner. */
static void match_brackets(struct cc_source *source)
{
    size_t capacity = 0, depth = 0;
    int *open = NULL;

    source->balanced = true;
    for (size_t i = 0; i < source->token_count; i++) {
        struct cc_token *token = &source->token[i];
        if (token->kind != CC_PUNCT || token->length != 1)
            continue;
        if (strchr("([{", *token->text) != NULL) {
            open = cc_grow(open, depth, &capacity, sizeof *open);
            open[depth++] = (int)i;
        } else if (strchr(")]}", *token->text) != NULL) {
            const char *pair = *token->text == ')' ? "(" : *token->text == ']' ? "[" : "{";
            if (depth == 0 || *source->token[open[depth - 1]].text != *pair) {
                source->balanced = false;
                return;
            }
            token->match = open[--depth];
            source->token[token->match].match = (int)i;
        }
    }
    source->balanced = depth == 0;
}

struct cc_source *cc_source_read(const char *text, size_t length, const struct cc_list *own_dirs)
{
    struct cc_source *source = cc_alloc(sizeof *source);
    struct reader reader = {.source = source, .own_dirs = own_dirs, .counted = text};
    struct cc_lexeme lexeme;

    source->text = text;
    source->length = length;
    reader.place = (struct cc_place){"", 1, 1};
    cc_lex_start(&reader.lexer, text, length);
    while ((lexeme = cc_lex(&reader.lexer)).kind != CC_END) {
        if (lexeme.kind == CC_DIRECTIVE)
            read_directive(&reader, lexeme);
        else if (!reader.system)
            read_code(&reader, lexeme);
    }
    match_brackets(source);
    return source;
}

/* ---- access ---- */

bool cc_token_is(const struct cc_source *source, int token, const char *word)
{
    if (token < 0 || (size_t)token >= source->token_count)
        return false;
    const struct cc_token *t = &source->token[token];
    return t->kind != CC_STRING && t->kind != CC_CHAR && cc_is(t->text, t->length, word);
}

bool cc_same_token(const struct cc_source *source, int a, int b)
{
    if (a < 0 || b < 0)
        return false;
    const struct cc_token *x = &source->token[a], *y = &source->token[b];

    return x->kind == CC_NAME && y->kind == CC_NAME && x->length == y->length &&
           memcmp(x->text, y->text, x->length) == 0;
}

struct cc_place cc_token_place(const struct cc_source *source, int token)
{
    if (source->unit_count == 0)
        return (struct cc_place){"", 1, 1};
    if (token < 0 || (size_t)token >= source->token_count)
        return source->unit[source->unit_count - 1].place;
    return source->unit[source->token[token].unit].place;
}

const char *cc_token_text(const struct cc_source *source, int from, int to)
{
    struct cc_text text = {0};

    cc_puts(&text, "");
    for (int i = from; i < to; i++) {
        const struct cc_token *token = &source->token[i];
        if (token->space && i != from)
            cc_puts(&text, " ");
        cc_put(&text, token->text, token->length);
    }
    return text.data;
}

/* ---- edits ---- */

void cc_edit_before(struct cc_source *source, int token, const char *text)
{
    const char *old = source->token[token].before;

    source->token[token].before = old != NULL ? cc_format("%s%s", old, text) : text;
}

void cc_edit_after(struct cc_source *source, int token, const char *text)
{
    const char *old = source->token[token].after;

    source->token[token].after = old != NULL ? cc_format("%s%s", old, text) : text;
}

static bool is_pragma(const struct cc_source *source, const struct cc_unit *unit)
{
    const char *word = source->text + unit->begin + 1;

    return unit->directive && cc_starts(word + strspn(word, " \t"), "pragma");
}

void cc_edit_delete(struct cc_source *source, int from, int to)
{
    for (int i = from; i < to; i++)
        source->token[i].deleted = true;
    if (from >= to)
        return;
    /* A pragma in a removed body would now stand in front of something else. */
    for (uint32_t u = source->token[from].unit; u < source->token[to - 1].unit; u++)
        source->unit[u].dropped |= is_pragma(source, &source->unit[u]);
}
