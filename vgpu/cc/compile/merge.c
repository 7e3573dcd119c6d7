/* SPDX-License-Identifier: MIT
 * merge.c: merges the messages of both passes. A message is a head (file:line:column: error: ...)
 * with the lines of context before it (In file included from ...) and everything behind it.
 */
#include <string.h>

#include "compile.h"

static bool is_head(const char *line)
{
    return *line != ' ' && (strstr(line, "error: ") != NULL || strstr(line, "warning: ") != NULL);
}

/* Adds the messages whose heads are not among those `before`; returns their heads. "2 errors
 * generated when compiling for sm_70." is left out: there are two passes, and no such GPU. */
static struct cc_list add_messages(struct cc_text *merged, const struct cc_list *before,
                                   const char *said)
{
    struct cc_text context = {0};
    struct cc_list heads = {0};
    bool wanted = true;

    while (*said != 0) {
        size_t length = strcspn(said, "\n");
        const char *line = cc_copy(said, length), *next = said + length + (said[length] == '\n');
        bool counts = strstr(line, " generated when compiling for ") != NULL ||
                      strstr(line, " generated.") != NULL;
        if (!counts)
            cc_put(&context, said, (size_t)(next - said));
        said = next;
        if (counts || strstr(line, "In file included from ") != NULL)
            continue;
        if (is_head(line)) {
            wanted = !cc_has_word(before, line);
            cc_add(&heads, line);
        }
        if (wanted)
            cc_put(merged, context.data, context.length);
        context.length = 0;
    }
    return heads;
}

const char *cc_merge_messages(const char *host, const char *device)
{
    struct cc_text merged = {0};
    struct cc_list none = {0};

    cc_puts(&merged, "");
    struct cc_list heads = add_messages(&merged, &none, host);
    add_messages(&merged, &heads, device);
    return merged.data;
}
