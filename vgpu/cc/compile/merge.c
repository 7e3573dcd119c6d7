/* SPDX-License-Identifier: MIT
 * merge.c: see merge.h.
 *
 * A message is a head (file:line:column: error: ...), the lines of context before it (In file
 * included from ...) and everything behind it up to the next message's context.
 */
#include "merge.h"

#include <string.h>

#include "mem.h"

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

/* Where the message ends that begins at `at`, and its head; what comes before the first head
 * belongs to it. */
static const char *message_end(const char *at, struct line *head)
{
    *head = (struct line){0};
    while (*at != 0) {
        const char *start = at;
        struct line line = next_line(&at);
        if (head->text != NULL && (is_head(line) || line_has(line, "In file included from ")))
            return start;
        if (is_head(line))
            *head = line;
    }
    return at;
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

/* Leaves out "2 errors generated when compiling for sm_70.": there are two passes, and no such GPU.
 */
static const char *without_counts(const char *said)
{
    struct cc_text kept = {0};

    cc_puts(&kept, "");
    while (*said != 0) {
        struct line line = next_line(&said);
        if (!line_has(line, " generated when compiling for ") && !line_has(line, " generated."))
            cc_put(&kept, line.text, (size_t)(said - line.text));
    }
    return kept.data;
}

const char *cc_merge_messages(const char *host, const char *device)
{
    struct cc_text merged = {0};
    struct line head;

    host = without_counts(host);
    device = without_counts(device);
    cc_puts(&merged, host);
    for (const char *end; *device != 0; device = end) {
        end = message_end(device, &head);
        if (head.text == NULL || !said(host, head))
            cc_put(&merged, device, (size_t)(end - device));
    }
    return merged.data;
}
