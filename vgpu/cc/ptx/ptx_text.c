/* SPDX-License-Identifier: MIT
 * ptx_text.c: reads PTX: words, and instructions.
 */
#include <string.h>

#include "ptx.h"

const char *cc_ptx_skip_blank(const char *at)
{
    for (;;) {
        at += strspn(at, " \t\r");
        if (cc_starts(at, "//")) {
            at += strcspn(at, "\n");
        } else if (cc_starts(at, "/*")) {
            const char *end = strstr(at + 2, "*/");
            at = end != NULL ? end + 2 : at + strlen(at);
        } else {
            return at;
        }
    }
}

static size_t length_of_word(const char *at)
{
    if (*at == '"')
        return 1 + strcspn(at + 1, "\"") + (strchr(at + 1, '"') != NULL);
    return *at != 0 && strchr("[]{}(),;=\n", *at) != NULL ? 1 : strcspn(at, " \t\r[]{}(),;=\n\"");
}

const char *cc_ptx_word(const char **at)
{
    *at = cc_ptx_skip_blank(*at);
    size_t length = length_of_word(*at);
    const char *word = length != 0 ? cc_copy(*at, length) : NULL;

    *at += length;
    return word;
}

/* "@!p", "@ !p" */
static const char *take_guard(const char **at, const char *word, struct cc_ptx *in)
{
    if (*word != '@')
        return word;
    if (word[1] == 0)
        word = cc_format("@%s", cc_ptx_word(at));
    in->guard_negated = word[1] == '!';
    in->guard = word + 1 + in->guard_negated;
    return cc_ptx_word(at);
}

static bool split_name(const char *word, struct cc_ptx *in)
{
    in->name = cc_copy(word, strcspn(word, "."));
    for (const char *q = strchr(word, '.'); q != NULL; q = strchr(q, '.')) {
        q++;
        if (in->qualifiers == CC_PTX_WORDS)
            return false;
        in->qualifier[in->qualifiers++] = cc_copy(q, strcspn(q, "."));
    }
    return true;
}

/* d|q is d, with the predicate q beside it. */
static bool add_operand(struct cc_ptx *in, const char *word, int group)
{
    const char *bar = strchr(word, '|');

    if (in->operands == CC_PTX_OPERANDS || (bar != NULL && in->operands != 0))
        return false;
    if (bar != NULL)
        in->predicate = bar + 1;
    in->group[in->operands] = group;
    in->operand[in->operands++] = bar != NULL ? cc_copy(word, (size_t)(bar - word)) : word;
    return true;
}

/* A line feed does not end an instruction: those of several lines are usual. In brackets, words
 * without a comma between them are one operand: [%r1 + 4]. */
bool cc_ptx_read(const char **at, const char *word, struct cc_ptx *in)
{
    int group = 0, groups = 0;
    bool address = false, joins = false;

    *in = (struct cc_ptx){.guard = "", .name = "", .predicate = ""};
    word = take_guard(at, word, in);
    if (word == NULL || !split_name(word, in))
        return false;
    while ((word = cc_ptx_word(at)) != NULL && *word != ';') {
        if (*word == '{' || *word == '(')
            group = ++groups;
        else if (*word == '}' || *word == ')')
            group = 0;
        else if (*word == '[' || *word == ']' || *word == ',')
            address = *word == '[' || (address && *word == ','), joins = false;
        else if (*word != '\n' && joins)
            in->operand[in->operands - 1] = cc_format("%s%s", in->operand[in->operands - 1], word);
        else if (*word != '\n' && !add_operand(in, word, group))
            return false;
        else
            joins = address && *word != '\n';
    }
    return true;
}
