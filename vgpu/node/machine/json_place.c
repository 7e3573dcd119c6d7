/* SPDX-License-Identifier: MIT
 * json_place.c: see json_place.h. The parser stores no positions but keeps the order: the n-th
 * value of the tree in depth-first order is the n-th value of the text.
 */
#include "json_place.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Counts the values up to `item`; true if it was found. Recursive for children, whose depth the
 * parser limits. */
static bool count_values_to(const cJSON *from, const cJSON *item, int *count)
{
    for (; from; from = from->next) {
        if (from == item)
            return true;
        ++*count;
        if (count_values_to(from->child, item, count))
            return true;
    }
    return false;
}

static const char *end_of_string(const char *at)
{
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1])
            at++;
    return *at ? at + 1 : at;
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

/* The start of the n-th value, or of its key. */
static const char *find_value(const char *text, int n)
{
    const char *key = NULL;
    for (const char *at = skip_blanks(text); *at; at = skip_blanks(at)) {
        const char *end = *at == '"' ? end_of_string(at) : at + 1;
        if (*at == '"' && *skip_blanks(end) == ':') {
            key = at;
            at = skip_blanks(end) + 1;
            continue;
        }
        if (!strchr(",]}", *at)) {
            if (n-- == 0)
                return key ? key : at;
            key = NULL;
            if (*at != '"' && *at != '{' && *at != '[')
                end = at + strcspn(at, ",]} \t\r\n");
        }
        at = end;
    }
    return text;
}

struct json_place json_place_of(const char *text, const char *at)
{
    struct json_place place = {1, 1};
    for (; text < at && *text; text++) {
        place.line += *text == '\n';
        place.column = *text == '\n' ? 1 : place.column + 1;
    }
    return place;
}

struct json_place json_place(const char *text, const cJSON *root, const cJSON *item)
{
    int n = 0;
    bool found = item && count_values_to(root, item, &n);
    return json_place_of(text, found ? find_value(text, n) : skip_blanks(text));
}
