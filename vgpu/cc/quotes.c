/* SPDX-License-Identifier: MIT
 * quotes.c: see quotes.h.
 */
#include "quotes.h"

#include <string.h>

#include "lex.h"

static bool is_open(const struct cc_lexeme *lexeme)
{
    if (lexeme->kind != CC_STRING && lexeme->kind != CC_CHAR)
        return false;
    const char *quote = memchr(lexeme->text, '"', lexeme->length);
    const char *tick = memchr(lexeme->text, '\'', lexeme->length);
    const char *first = quote == NULL || (tick != NULL && tick < quote) ? tick : quote;
    const char *last = lexeme->text + lexeme->length - 1;

    return first == last || *last != *first;
}

static bool file_has(const char *path)
{
    size_t length;
    const char *text = cc_read_file(path, &length);
    struct cc_lexer lexer;
    struct cc_lexeme lexeme;

    if (text == NULL)
        return false;
    cc_lex_start(&lexer, text, length);
    while ((lexeme = cc_lex(&lexer)).kind != CC_END)
        if (is_open(&lexeme))
            return true;
    return false;
}

static bool is_among(const struct cc_list *list, const char *path, size_t length)
{
    for (size_t i = list->count; i-- > 0;)
        if (cc_is(path, length, list->item[i]))
            return true;
    return false;
}

/* The file's name in `# 12 "name" 1`; null: the line is no such marker. */
static const char *marker_name(const char *line, size_t *length)
{
    line += strspn(line, "# 0123456789");
    if (*line != '"' || line[1] == '<')
        return NULL;
    *length = strcspn(line + 1, "\"\n");
    return line + 1;
}

bool cc_has_lone_quote(const char *text, struct cc_list *seen)
{
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        size_t length;
        line += *line == '\n';
        const char *name = *line == '#' ? marker_name(line, &length) : NULL;
        if (name == NULL || is_among(seen, name, length))
            continue;
        cc_add(seen, cc_copy(name, length));
        if (file_has(seen->item[seen->count - 1]))
            return true;
    }
    return false;
}
