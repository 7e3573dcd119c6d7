/* SPDX-License-Identifier: MIT
 * definition_line.c: finds the line on which a C function is defined, so that a failure can name
 * it.
 *
 * Scans for the tokens NAME ( ... ) { at brace depth 0. Comments, strings and preprocessor lines
 * are skipped. In doubt it finds nothing, and the failure names no line.
 */
#include "run.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scan {
    const char *at;
    int line;
};

static char *load_source(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t room = 0;
    if (!file)
        return NULL;
    ssize_t n = getdelim(&text, &room, 0, file);
    fclose(file);
    if (n < 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* Skips up to and including `end` (a string of 1 or 2 characters), counting lines. */
static void skip_past(struct scan *s, const char *end)
{
    for (; *s->at && strncmp(s->at, end, strlen(end)) != 0; s->at++)
        s->line += *s->at == '\n';
    if (*s->at) {
        s->line += *end == '\n';
        s->at += strlen(end);
    }
}

static void past_quoted(struct scan *s)
{
    char quote = *s->at++;
    while (*s->at && *s->at != quote && *s->at != '\n')
        s->at += s->at[0] == '\\' && s->at[1] ? 2 : 1;
    if (*s->at == quote)
        s->at++;
}

static void past_directive(struct scan *s)
{
    while (*s->at && *s->at != '\n') {
        if (s->at[0] == '\\' && s->at[1] == '\n') {
            s->line++;
            s->at++;
        }
        s->at++;
    }
}

/* The first character of the next token, with s->at on it; 0 at the end. */
static char next_character(struct scan *s)
{
    for (;;) {
        if (*s->at == '\n')
            s->line++;
        if (isspace((unsigned char)*s->at))
            s->at++;
        else if (strncmp(s->at, "//", 2) == 0)
            skip_past(s, "\n");
        else if (strncmp(s->at, "/*", 2) == 0)
            skip_past(s, "*/");
        else if (*s->at == '#')
            past_directive(s);
        else
            return *s->at;
    }
}

static size_t word_length(const char *at)
{
    size_t n = 0;
    while (isalnum((unsigned char)at[n]) || at[n] == '_')
        n++;
    return n;
}

static void past_token(struct scan *s)
{
    size_t n = word_length(s->at);
    if (n > 0)
        s->at += n;
    else if (*s->at == '"' || *s->at == '\'')
        past_quoted(s);
    else
        s->at++;
}

/* After a name: whether ( ... ) { follows. */
static bool is_definition(struct scan s)
{
    int depth = 0;
    if (next_character(&s) != '(')
        return false;
    do {
        char c = next_character(&s);
        if (c == 0)
            return false;
        depth += (c == '(') - (c == ')');
        past_token(&s);
    } while (depth > 0);
    return next_character(&s) == '{';
}

static int find_definition(struct scan s, const char *function)
{
    size_t length = strlen(function);
    int depth = 0;
    for (char c, before = 0; (c = next_character(&s)) != 0; before = c) {
        bool is_name = word_length(s.at) == length && strncmp(s.at, function, length) == 0;
        int line = s.line;
        past_token(&s);
        if (depth == 0 && is_name && is_definition(s))
            return line;
        if (c == '{' && before != '"') /* extern "C" { does not count as a scope */
            depth++;
        if (c == '}' && depth > 0)
            depth--;
    }
    return 0;
}

int lab__definition_line(const char *path, const char *function)
{
    char *text = load_source(path);
    if (!text)
        return 0;
    int line = find_definition((struct scan){text, 1}, function);
    free(text);
    return line;
}
