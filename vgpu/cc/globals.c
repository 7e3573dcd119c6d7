/* SPDX-License-Identifier: MIT
 * globals.c: see globals.h.
 */
#include "globals.h"

#include <string.h>

static bool is_host(const struct cc_marks *marks, const char *symbol)
{
    for (size_t i = 0; i < marks->host_count; i++)
        if (strcmp(marks->host[i].symbol, symbol) == 0)
            return true;
    return false;
}

/* The symbol behind the directive, or null: the line is another one. */
static const char *symbol_of(const char *line, const char *directive)
{
    line += strspn(line, " \t");
    if (!cc_starts(line, directive))
        return NULL;
    line += strlen(directive);
    size_t space = strspn(line, " \t");
    return space != 0 ? cc_copy(line + space, strcspn(line + space, " \t\n,;#/")) : NULL;
}

static bool is_function_type(const char *line, size_t length)
{
    const char *text = cc_copy(line, length);

    return strstr(text, "@function") != NULL || strstr(text, "%function") != NULL;
}

static bool is_among(const struct cc_list *list, const char *symbol)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->item[i], symbol) == 0)
            return true;
    return false;
}

/* Functions that a .globl line names, host functions not among them. */
static struct cc_list functions_of(const struct cc_text *assembly, const struct cc_list *globals)
{
    struct cc_list functions = {0};

    for (const char *line = assembly->data; *line != 0;) {
        size_t length = strcspn(line, "\n");
        const char *symbol = symbol_of(line, ".type");
        if (symbol != NULL && is_function_type(line, length) && is_among(globals, symbol))
            cc_add(&functions, symbol);
        line += length + (line[length] != 0);
    }
    return functions;
}

struct cc_list cc_device_globals(struct cc_text *assembly, const struct cc_marks *marks)
{
    struct cc_list globals = {0};

    for (char *line = assembly->data; *line != 0;) {
        size_t length = strcspn(line, "\n");
        const char *symbol = symbol_of(line, ".globl");
        if (symbol != NULL && is_host(marks, symbol))
            memset(line, ' ', length);
        else if (symbol != NULL)
            cc_add(&globals, symbol);
        line += length + (line[length] != 0);
    }
    return functions_of(assembly, &globals);
}
