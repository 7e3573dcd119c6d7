/* SPDX-License-Identifier: MIT
 * merge.c: see merge.h.
 *
 * A message is a head (file:line:column: error: ...), the lines of context before it (In function
 * ..., In file included from ...) and everything behind it up to the next message's context.
 */
#include "merge.h"

#include <string.h>

#include "mem.h"

struct line {
    const char *text;
    size_t length;
};

struct message {
    const char *begin, *end; /* in the text */
    struct line head;
};

static struct line next_line(const char **at)
{
    struct line line = {*at, strcspn(*at, "\n")};

    *at += line.length + ((*at)[line.length] == '\n');
    return line;
}

static bool contains(struct line line, const char *word)
{
    return memmem(line.text, line.length, word, strlen(word)) != NULL;
}

static bool is_head(struct line line)
{
    bool indented = line.length == 0 || *line.text == ' ';

    return !indented && (contains(line, "error: ") || contains(line, "warning: ") ||
                         cc_starts(line.text, "cc1plus:"));
}

/* Lines that lead up to a head. */
static bool is_context(struct line line)
{
    char last = line.length != 0 ? line.text[line.length - 1] : 0;

    if (is_head(line) || contains(line, "note: ") || line.length == 0)
        return false;
    return contains(line, "In file included from") ||
           cc_starts(line.text, "                 from") || contains(line, ":   required ") ||
           contains(line, ":   recursively required") ||
           (*line.text != ' ' && (last == ':' || last == ','));
}

/* Takes the message at *at; what comes before the first head belongs to it. */
static struct message take_message(const char **at)
{
    struct message message = {.begin = *at};
    const char *context = NULL; /* where lines of context started that no head followed yet */

    for (const char *behind = *at; *behind != 0;) {
        const char *start = behind;
        struct line line = next_line(&behind);
        if (is_context(line) && context == NULL)
            context = start;
        if (!is_context(line) && !is_head(line))
            context = NULL;
        if (!is_head(line))
            continue;
        if (message.head.text != NULL) {
            *at = message.end = context != NULL ? context : start;
            return message;
        }
        message.head = line;
        context = NULL;
    }
    *at = message.end = message.begin + strlen(message.begin);
    return message;
}

static bool said(const char *text, struct line head)
{
    while (*text != 0) {
        struct line line = next_line(&text);
        if (line.length == head.length && memcmp(line.text, head.text, head.length) == 0)
            return true;
    }
    return false;
}

/* "2 errors generated when compiling for sm_70.": there are two passes, and no such GPU. */
static bool is_count(struct line line)
{
    return contains(line, " generated when compiling for ") || contains(line, " generated.");
}

static const char *without_counts(const char *said)
{
    struct cc_text kept = {0};

    cc_puts(&kept, "");
    while (*said != 0) {
        const char *start = said;
        if (!is_count(next_line(&said)))
            cc_put(&kept, start, (size_t)(said - start));
    }
    return kept.data;
}

const char *cc_merge_messages(const char *host, const char *device)
{
    struct cc_text merged = {0};

    host = without_counts(host);
    device = without_counts(device);
    cc_puts(&merged, host);
    while (*device != 0) {
        struct message message = take_message(&device);
        if (message.head.text == NULL || !said(host, message.head))
            cc_put(&merged, message.begin, (size_t)(message.end - message.begin));
    }
    return merged.data;
}
