/* SPDX-License-Identifier: MIT
 * arguments.c: see arguments.h.
 */
#include "arguments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "diag.h"

enum { DEPTH_MAX = 16 }; /* nesting of option files */

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

static bool add_word(const struct cc_list *from, size_t *at, int depth, struct cc_list *words);

static bool add_words(const struct cc_list *from, int depth, struct cc_list *words)
{
    for (size_t i = 0; i < from->count; i++)
        if (!add_word(from, &i, depth, words))
            return false;
    return true;
}

static bool add_file(const char *path, int depth, struct cc_list *words)
{
    size_t length;
    struct cc_list inside = {0};
    const char *text = depth < DEPTH_MAX ? cc_read_file(path, &length) : NULL;

    if (text == NULL) {
        cc_fail("cannot read the options file '%s': %s", path,
                depth < DEPTH_MAX ? strerror(errno) : "options files name each other without end");
        return false;
    }
    cc_split_words(text, &inside);
    return add_words(&inside, depth + 1, words);
}

/* The file that the word at *at refers to, whose name may be the next word; null: an ordinary word.
 */
static const char *named_file(const struct cc_list *from, size_t *at)
{
    static const char *const names[] = {"--options-file", "-optf"};
    const char *word = from->item[*at];

    if (*word == '@' && word[1] != 0)
        return word + 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        if (!cc_starts(word, names[i]))
            continue;
        if (word[length] == '=')
            return word + length + 1;
        if (word[length] == 0 && *at + 1 < from->count)
            return from->item[++*at];
    }
    return NULL;
}

static bool add_word(const struct cc_list *from, size_t *at, int depth, struct cc_list *words)
{
    const char *word = from->item[*at], *file = named_file(from, at);
    struct cc_list files = {0};

    if (file == NULL) {
        cc_add(words, word);
        return true;
    }
    cc_split_commas(file, &files);
    for (size_t i = 0; i < files.count; i++)
        if (!add_file(files.item[i], depth, words))
            return false;
    return true;
}

static void add_variable(const char *name, struct cc_list *words)
{
    const char *text = getenv(name);

    if (text != NULL)
        cc_split_words(text, words);
}

bool cc_read_arguments(int argc, char **argv, struct cc_list *words)
{
    struct cc_list all = {0};

    add_variable("NVCC_PREPEND_FLAGS", &all);
    for (int i = 1; i < argc; i++)
        cc_add(&all, argv[i]);
    add_variable("NVCC_APPEND_FLAGS", &all);
    cc_add(words, argc > 0 ? argv[0] : "vgpu-cc");
    return add_words(&all, 0, words);
}
