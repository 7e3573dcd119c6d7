/* SPDX-License-Identifier: MIT
 * front.c: vgpu-cc's front end alone, on text that needs no preprocessor.
 *
 *   cc-front device|host FILE      prints the edited text
 *   cc-front fuzz SEED ROUNDS FILE edits damaged copies of the text with both passes: it must come
 *                                  back from every one of them
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diag.h"
#include "passes.h"
#include "render.h"

static struct cc_text edited(const char *text, size_t length, bool host)
{
    static const struct cc_list none;
    struct cc_pass pass = {.module = "front"};

    pass.source = cc_source_read(text, length, &none);
    pass.decls = cc_scan(pass.source);
    const char *tail = host ? cc_host_pass(&pass, true) : cc_device_pass(&pass);
    struct cc_text result = cc_render(pass.source);
    cc_puts(&result, tail);
    return result;
}

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
        "<<<",       ">>>", "{",        "}",          "(",          ")",    "\"",
        "'",         "/*",  "R\"(",     "__shared__", "__global__", "\\\n", "#define X(a) a##a\n",
        "template<", "::",  "operator", "=",          ";",          ",",    "\n#",
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
        size_t damaged_length = length;
        const char *damaged = text;
        for (size_t n = any(4) + 1; n > 0; n--)
            damaged = damage(damaged, &damaged_length);
        edited(damaged, damaged_length, false);
        edited(damaged, damaged_length, true);
    }
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    bool fuzzing = argc == 5 && strcmp(argv[1], "fuzz") == 0;
    size_t length;

    if (argc != 3 && !fuzzing)
        return EXIT_FAILURE;
    const char *text = cc_read_file(argv[argc - 1], &length);
    if (text == NULL)
        return EXIT_FAILURE;
    if (fuzzing) {
        state = strtoull(argv[2], NULL, 10);
        return fuzz(text, length, atoi(argv[3]));
    }
    struct cc_text result = edited(text, length, strcmp(argv[1], "host") == 0);
    fwrite(result.data, 1, result.length, stdout);
    cc_say_all();
    return cc_error_count() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
