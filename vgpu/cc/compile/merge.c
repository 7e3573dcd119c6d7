/* SPDX-License-Identifier: MIT
 * merge.c: merges the messages of both passes. A message is a head (file:line:column: error: ...)
 * with the lines of context before it (In file included from ...) and everything behind it.
 */
#include <string.h>

#include "clang.h"

struct line {
    const char *text;
    size_t length;
};

static struct line next_line(const char **at)
{
    struct line line = {*at, strcspn(*at, "\n")};

    *at += line.length + ((*at)[line.length] == '\n');
    return line;
}

static bool line_has(struct line line, const char *word)
{
    return memmem(line.text, line.length, word, strlen(word)) != NULL;
}

static bool is_head(struct line line)
{
    return line.length != 0 && *line.text != ' ' &&
           (line_has(line, "error: ") || line_has(line, "warning: "));
}

static bool has_line(const char *text, struct line wanted)
{
    while (*text != 0) {
        struct line line = next_line(&text);
        if (line.length == wanted.length && memcmp(line.text, wanted.text, line.length) == 0)
            return true;
    }
    return false;
}

/* Adds the messages whose heads are not among those `before`. "2 errors generated when compiling
 * for sm_70." is left out: there are two passes, and no such GPU. */
static void add_messages(struct cc_text *merged, const char *before, const char *said)
{
    struct cc_text context = {0};
    bool wanted = true;

    while (*said != 0) {
        struct line line = next_line(&said);
        if (line_has(line, " generated when compiling for ") || line_has(line, " generated."))
            continue;
        cc_put(&context, line.text, (size_t)(said - line.text));
        if (line_has(line, "In file included from "))
            continue;
        if (is_head(line))
            wanted = !has_line(before, line);
        if (wanted)
            cc_put(merged, context.data, context.length);
        context.length = 0;
    }
}

const char *cc_merge_messages(const char *host, const char *device)
{
    struct cc_text merged = {0};

    cc_puts(&merged, "");
    add_messages(&merged, "", host);
    add_messages(&merged, host, device);
    return merged.data;
}
