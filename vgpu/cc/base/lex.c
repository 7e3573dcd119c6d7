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

static bool starts_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
           (unsigned char)c >= 0x80;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool cc_name_part(char c)
{
    return starts_name(c) || is_digit(c);
}

/* Length of a backslash and the line's end behind it, or 0. */
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

/* White space and comments; notes line ends. */
static bool skip_space(struct cc_lexer *lexer)
{
    const char *start = lexer->at;

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
            return lexer->at != start;
    }
}

/* From the # to the end of the line; comments over several lines and continued lines belong to
 * it. */
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

/* Behind the closing quote; a line's end also ends it (the compiler will complain). */
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

/* `at` is behind the opening quote of R"delimiter(...)delimiter". */
static const char *raw_end(const char *at, const char *end)
{
    const char *open = at;

    while (*open != 0 && *open != '(' && open - at <= 16)
        open++;
    const char *close = cc_format(")%.*s\"", (int)(open - at), at);
    const char *found = strstr(open, close);
    return found != NULL ? found + strlen(close) : end;
}

static const char *number_end(const char *at)
{
    for (;;) {
        if ((*at == '+' || *at == '-') && strchr("eEpP", at[-1]) != NULL)
            at++;
        else if (cc_name_part(*at) || *at == '.')
            at++;
        else if (*at == '\'' && cc_name_part(at[1]))
            at += 2;
        else
            return at;
    }
}

/* The length of a string's prefix of `length` bytes that stands before a quote. */
static bool is_string_prefix(const char *text, size_t length, bool *raw)
{
    static const char *const prefix[] = {"u8", "u", "U", "L", "R", "u8R", "uR", "UR", "LR"};

    for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++) {
        if (cc_is(text, length, prefix[i])) {
            *raw = text[length - 1] == 'R';
            return true;
        }
    }
    return false;
}

/* A name, or a string or character with a prefix. */
static enum cc_kind name_or_prefixed(const char **at, const char *end)
{
    const char *start = *at, *stop = start;
    bool raw = false;

    while (cc_name_part(*stop))
        stop++;
    bool quote = *stop == '"' || *stop == '\'';
    if (!quote || !is_string_prefix(start, (size_t)(stop - start), &raw)) {
        *at = stop;
        return CC_NAME;
    }
    if (raw && *stop == '"')
        *at = raw_end(stop + 1, end);
    else
        *at = quoted_end(stop + 1, *stop);
    return *stop == '"' ? CC_STRING : CC_CHAR;
}

static size_t punct_length(const char *at)
{
    static const char *const longer[] = {"...", "->*", "::", "->", "##", "&&", "||",
                                         "++",  "--",  "==", "!=", "+=", "-=", "*=",
                                         "/=",  "%=",  "&=", "|=", "^=", ".*"};

    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++)
        if (strncmp(at, longer[i], strlen(longer[i])) == 0)
            return strlen(longer[i]);
    return 1;
}

static enum cc_kind lex_here(struct cc_lexer *lexer)
{
    const char *at = lexer->at;

    if (starts_name(*at))
        return name_or_prefixed(&lexer->at, lexer->end);
    if (is_digit(*at) || (*at == '.' && is_digit(at[1]))) {
        lexer->at = number_end(at + 1);
        return CC_NUMBER;
    }
    if (*at == '"' || *at == '\'') {
        lexer->at = quoted_end(at + 1, *at);
        return *at == '"' ? CC_STRING : CC_CHAR;
    }
    lexer->at = at + punct_length(at);
    return CC_PUNCT;
}

struct cc_lexeme cc_lex(struct cc_lexer *lexer)
{
    struct cc_lexeme lexeme = {.kind = CC_END};

    lexeme.space = skip_space(lexer);
    lexeme.text = lexer->at;
    if (lexer->at >= lexer->end)
        return lexeme;
    if (*lexer->at == '#' && lexer->line_start) {
        lexer->at = directive_end(lexer->at, lexer->end);
        lexeme.kind = CC_DIRECTIVE;
    } else {
        lexeme.kind = lex_here(lexer);
        lexer->line_start = false;
    }
    lexeme.length = (size_t)(lexer->at - lexeme.text);
    return lexeme;
}
