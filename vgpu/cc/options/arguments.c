/* SPDX-License-Identifier: MIT
 * arguments.c: see arguments.h.
 */
#include "arguments.h"

#include <string.h>

void cc_split_words(const char *text, struct cc_list *words)
{
    while (true) {
        struct cc_text word = {0};
        char quote = 0;
        text += strspn(text, " \t\r\n\v\f");
        if (*text == 0)
            return;
        cc_puts(&word, "");
        for (; *text != 0 && (quote != 0 || strchr(" \t\r\n\v\f", *text) == NULL); text++) {
            if (*text == quote)
                quote = 0;
            else if (quote == 0 && (*text == '\'' || *text == '"'))
                quote = *text;
            else if (*text == '\\' && quote != '\'' && text[1] != 0)
                cc_put(&word, ++text, 1);
            else
                cc_put(&word, text, 1);
        }
        cc_add(words, word.data);
    }
}

void cc_split_commas(const char *text, struct cc_list *parts)
{
    struct cc_text part = {0};
    bool quoted = false;

    for (;; text++) {
        if (*text == 0 || (*text == ',' && !quoted)) {
            if (part.length != 0)
                cc_add(parts, part.data);
            part = (struct cc_text){0};
        } else if (text[0] != '\\' || text[1] != ',') {
            quoted ^= *text == '"';
            cc_put(&part, text, 1);
        } else {
            cc_put(&part, ++text, 1);
        }
        if (*text == 0)
            return;
    }
}
