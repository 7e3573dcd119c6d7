/* SPDX-License-Identifier: MIT
 * rewrite.c: what vgpu-cc does to the text of a file that Clang has refused, alone.
 *
 *   cc-rewrite SEED ROUNDS FILE   changes damaged copies of the text, for each of Clang's messages
 *                                 at any place: it comes back, and no line moves
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile.h"

static unsigned long long state;

static size_t any(size_t below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return below != 0 ? (size_t)(state >> 33) % below : 0;
}

/* A piece of the text is removed, doubled, put elsewhere, or replaced by what breaks things. */
static char *damage(const char *text, size_t *length)
{
    static const char *const bad[] = {
        "<<<",       ">>>", "{",        "}",          "(",        ")",    "\"",
        "'",         "/*",  "R\"(",     "__shared__", "alignas(", "\\\n", "#define X(a) a##a\n",
        "template<", "::",  "operator", "=",          ";",        ",",    "\n#",
        "[["};
    size_t from = any(*length), count = any(40), to = any(*length);
    struct cc_text out = {0};

    if (count > *length - from)
        count = *length - from;
    size_t kind = any(4);
    cc_put(&out, text, kind == 0 || from < to ? from : to);
    size_t rest = out.length;
    if (kind == 0)
        rest += count;
    else if (kind == 1)
        cc_put(&out, text + from, count);
    else
        cc_puts(&out, bad[any(sizeof bad / sizeof *bad)]);
    cc_put(&out, text + rest, *length - rest);
    *length = out.length;
    return out.data;
}

static size_t count_lines(const char *text)
{
    size_t lines = 0;

    while ((text = strchr(text, '\n')) != NULL)
        text++, lines++;
    return lines;
}

static bool change_everywhere(const char *text, const char *message)
{
    size_t lines = count_lines(text);

    for (int i = 0; i < 20; i++) {
        const char *changed =
            cc_rewrite_at(text, (int)any(lines + 2), (int)any(i % 2 != 0 ? 90 : 12), message);
        if (changed != NULL && count_lines(changed) != lines)
            return false;
    }
    return true;
}

static bool fuzz(const char *text, size_t length, int rounds)
{
    static const char shared[] = "error: initialization is not supported for __shared__ variables";
    static const char *const said[] = {"error: expected expression",
                                       "error: expected '>>>'",
                                       "error: expected a type",
                                       "error: an attribute list cannot appear here",
                                       "error: invalid % escape in inline assembly string",
                                       "error: alias must point to a defined variable",
                                       shared};

    for (int i = 0; i < rounds; i++) {
        size_t damaged_length = length;
        const char *damaged = text;
        for (size_t n = any(4) + 1; n > 0; n--)
            damaged = damage(damaged, &damaged_length);
        for (size_t k = 0; k < sizeof said / sizeof *said; k++)
            if (!change_everywhere(damaged, said[k]))
                return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    size_t length;
    const char *text = argc == 4 ? cc_read_file(argv[3], &length) : NULL;

    if (text == NULL)
        return EXIT_FAILURE;
    state = strtoull(argv[1], NULL, 10);
    return fuzz(text, length, atoi(argv[2])) ? EXIT_SUCCESS : EXIT_FAILURE;
}
