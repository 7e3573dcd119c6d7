/* SPDX-License-Identifier: MIT
 * lex.c: see lex.h.
 */
#include "lex.h"

#include <string.h>

#include "mem.h"

void cc_lex_start(struct cc_lexer *lexer, const char *text, size_t length)
{
    *lexer = (struct cc_lexer){.text = text, .end = text + length, .at = text, .line_start = true};
}

static bool is_word_part(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || (unsigned char)c >= 0x80;
}

/* Length of a backslash and the line end after it, or 0. */
static size_t splice(const char *at)
{
    if (at[0] != '\\')
        return 0;
    if (at[1] == '\n')
        return 2;
    return at[1] == '\r' && at[2] == '\n' ? 3 : 0;
}

static const char *skip_line_comment(const char *at)
{
    while (*at != 0 && *at != '\n')
        at += splice(at) != 0 ? splice(at) : 1;
    return at;
}

static const char *skip_block_comment(const char *at, const char *end)
{
    const char *close = strstr(at + 2, "*/");

    return close != NULL ? close + 2 : end;
}

/* Skips white space and comments; records line ends. */
static void skip_space(struct cc_lexer *lexer)
{
    for (;;) {
        const char *at = lexer->at;
        if (*at == '\n')
            lexer->line_start = true;
        if (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r' || *at == '\f' || *at == '\v')
            lexer->at++;
        else if (splice(at) != 0)
            lexer->at += splice(at);
        else if (at[0] == '/' && at[1] == '/')
            lexer->at = skip_line_comment(at);
        else if (at[0] == '/' && at[1] == '*')
            lexer->at = skip_block_comment(at, lexer->end);
        else
            return;
    }
}

/* The end of the directive at #, including comments over several lines and continued lines. */
static const char *directive_end(const char *at, const char *end)
{
    while (*at != 0 && *at != '\n') {
        if (splice(at) != 0)
            at += splice(at);
        else if (at[0] == '/' && at[1] == '/')
            at = skip_line_comment(at);
        else if (at[0] == '/' && at[1] == '*')
            at = skip_block_comment(at, end);
        else
            at++;
    }
    return at;
}

/* The position after the closing quote; a line end also ends the string (the compiler reports
 * it). */
static const char *quoted_end(const char *at, char quote)
{
    while (*at != 0 && *at != '\n' && *at != quote) {
        if (splice(at) != 0)
            at += splice(at);
        else
            at += at[0] == '\\' && at[1] != 0 ? 2 : 1;
    }
    return *at == quote ? at + 1 : at;
}

/* `at` is after the opening quote of R"delimiter(...)delimiter". */
static const char *raw_end(const char *at, const char *end)
{
    const char *open = at;

    while (*open != 0 && *open != '(' && open - at <= 16)
        open++;
    const char *close = cc_format(")%.*s\"", (int)(open - at), at);
    const char *found = strstr(open, close);
    return found != NULL ? found + strlen(close) : end;
}

/* The text of a raw string's kind has one of these names before it. */
static bool is_raw_prefix(const char *text, size_t length)
{
    static const char *const prefix[] = {"R", "u8R", "uR", "UR", "LR"};

    for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++)
        if (cc_is(text, length, prefix[i]))
            return true;
    return false;
}

/* Behind a name, a number, or a raw string with what is before its quote. */
static const char *word_end(const char *at, const char *end)
{
    const char *start = at;
    bool number = *at >= '0' && *at <= '9';

    while (is_word_part(*at) || (number && *at == '\'' && is_word_part(at[1])))
        at++;
    return *at == '"' && is_raw_prefix(start, (size_t)(at - start)) ? raw_end(at + 1, end) : at;
}

static const char *lexeme_end(const char *at, const char *end)
{
    bool two = cc_starts(at, "::") || cc_starts(at, "->") || cc_starts(at, "==");

    if (is_word_part(*at))
        return word_end(at, end);
    if (*at == '"' || *at == '\'')
        return quoted_end(at + 1, *at);
    return at + (two ? 2 : 1);
}

struct cc_lexeme cc_lex(struct cc_lexer *lexer)
{
    skip_space(lexer);
    struct cc_lexeme lexeme = {.text = lexer->at};
    bool directive = *lexer->at == '#' && lexer->line_start;

    if (lexer->at >= lexer->end)
        return lexeme;
    lexer->at =
        directive ? directive_end(lexer->at, lexer->end) : lexeme_end(lexer->at, lexer->end);
    lexer->line_start &= directive;
    lexeme.length = (size_t)(lexer->at - lexeme.text);
    return lexeme;
}
