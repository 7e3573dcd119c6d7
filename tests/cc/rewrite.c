/* SPDX-License-Identifier: MIT
 * rewrite.c: what vgpu-cc does to the text of a file that Clang has refused, alone.
 *
 *   cc-rewrite FILE                   prints the rewritten text
 *   cc-rewrite fuzz SEED ROUNDS FILE  rewrites damaged copies of the text: it must come back from
 *                                     every one of them
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite.h"

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

static int fuzz(const char *text, size_t length, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        size_t damaged_length = length, new_length;
        const char *damaged = text;
        for (size_t n = any(4) + 1; n > 0; n--)
            damaged = damage(damaged, &damaged_length);
        cc_rewrite(damaged, damaged_length, "", any(2) == 0, &new_length);
    }
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    bool fuzzing = argc == 5 && strcmp(argv[1], "fuzz") == 0;
    size_t length, new_length;

    if (argc != 2 && !fuzzing)
        return EXIT_FAILURE;
    const char *text = cc_read_file(argv[argc - 1], &length);
    if (text == NULL)
        return EXIT_FAILURE;
    if (fuzzing) {
        state = strtoull(argv[2], NULL, 10);
        return fuzz(text, length, atoi(argv[3]));
    }
    const char *changed = cc_rewrite(text, length, "", true, &new_length);
    if (changed == NULL)
        fwrite(text, 1, length, stdout);
    else
        fwrite(changed, 1, new_length, stdout);
    return EXIT_SUCCESS;
}
