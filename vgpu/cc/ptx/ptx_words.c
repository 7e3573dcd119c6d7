/* SPDX-License-Identifier: MIT
 * ptx_words.c: the words of a PTX module, and where they are.
 */
#include <string.h>

#include "ptx_module.h"

const char *cc_ptx_next(struct cc_ptx_module *m)
{
    const char *word;

    do
        word = cc_ptx_word(&m->at);
    while (word != NULL && *word == '\n');
    return word != NULL ? word : "";
}

const char *cc_ptx_peek(struct cc_ptx_module *m)
{
    const char *at = m->at, *word = cc_ptx_next(m);

    m->at = at;
    return word;
}

bool cc_ptx_take(struct cc_ptx_module *m, const char *word)
{
    bool is = strcmp(cc_ptx_peek(m), word) == 0;

    if (is)
        cc_ptx_next(m);
    return is;
}

void cc_ptx_skip_past(struct cc_ptx_module *m, const char *word)
{
    const char *next;

    do
        next = cc_ptx_next(m);
    while (*next != 0 && strcmp(next, word) != 0);
}

struct cc_place cc_ptx_here(struct cc_ptx_module *m)
{
    const char *at = m->at;

    while (*(at = cc_ptx_skip_blank(at)) == '\n')
        at++;
    for (; m->counted < at; m->counted++)
        m->line += *m->counted == '\n';
    return (struct cc_place){m->l->source, m->line, 1};
}

bool cc_ptx_refuse(struct cc_ptx_module *m, struct cc_place place, const char *from,
                   const char *why)
{
    (void)m;
    while (*(from = cc_ptx_skip_blank(from)) == '\n')
        from++;
    cc_error(place, "%s: \"%.*s\"", why, (int)strcspn(from, "\n;"), from);
    return false;
}
