/* SPDX-License-Identifier: MIT
 * lexer.c: vgpu-cc's lexemes: known texts, and every text of the compiler's tests, whole and cut at
 * every byte: lexemes follow each other, and between them is only what is no lexeme.
 */
#include "lex.h"

#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

/* What is tested: cc_lex, or one with a mistake. */
typedef struct cc_lexeme lexing(struct cc_lexer *lexer);

/* The end of white space and comments from `at` on. */
static const char *skip(const char *at, const char *end)
{
    while (at < end) {
        if (isspace((unsigned char)*at)) {
            at++;
        } else if (at[0] == '\\' && at + 1 < end && (at[1] == '\n' || at[1] == '\r')) {
            at += 2;
        } else if (at[0] == '/' && at + 1 < end && at[1] == '/') {
            while (at < end && *at != '\n')
                at += at[0] == '\\' && at + 1 < end ? 2 : 1;
        } else if (at[0] == '/' && at + 1 < end && at[1] == '*') {
            const char *stop = memmem(at + 2, (size_t)(end - at - 2), "*/", 2);
            at = stop ? stop + 2 : end;
        } else {
            return at;
        }
    }
    return end;
}

/* NULL: the lexemes of the text are in order. */
static const char *check_text(lexing *lex, const char *text, size_t length)
{
    struct cc_lexer lexer;
    const char *at = text, *end = text + length;
    cc_lex_start(&lexer, text, length);
    for (;;) {
        struct cc_lexeme l = lex(&lexer);
        if (l.length == 0)
            break;
        const char *from = skip(at, end);
        if (l.text < at || l.text + l.length > end)
            return unit_says("a lexeme at %td, behind %td", l.text - text, at - text);
        if (l.text != from)
            return unit_says("\"%.*s\" at %td is no lexeme", (int)(l.text - from), from,
                             from - text);
        at = l.text + l.length;
    }
    if (skip(at, end) != end)
        return unit_says("\"%.20s\" is no lexeme", skip(at, end));
    return lex(&lexer).length == 0 ? NULL : "the end is not the end";
}

/* In memory of just that size, and a zero behind it. */
static const char *check_copy(lexing *lex, const char *text, size_t length)
{
    char *copy = malloc(length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    const char *wrong = check_text(lex, copy, length);
    free(copy);
    return wrong;
}

static char *read_text(const char *path, size_t *length)
{
    FILE *file = fopen(path, "r");
    char *text = malloc(1 << 16);
    EXPECT(file && text, "no %s", path);
    *length = fread(text, 1, (1 << 16) - 1, file);
    fclose(file);
    return text;
}

UNIT(lexemes_follow_each_other)
{
    glob_t found;
    EXPECT(glob(UNIT_ROOT "/tests/cc/*/*.cu", 0, NULL, &found) == 0, "%s", "no texts");
    EXPECT(found.gl_pathc > 25, "only %zu texts", found.gl_pathc);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        size_t length;
        char *text = read_text(found.gl_pathv[i], &length);
        for (size_t cut = length; cut > 0; cut = cut > 97 ? cut - 97 : 0) {
            const char *wrong = check_copy(cc_lex, text, cut);
            EXPECT(!wrong, "%s, its first %zu bytes: %s", found.gl_pathv[i], cut, wrong);
        }
        free(text);
    }
    globfree(&found);
}

static const char sample[] =
    "#define A(x) \\\n  x\nR\"z(a)\" b)z\" u8\"\\\"\" 'c' '\\'' 1'000'000 0x1.8p-3f\n"
    "/* \" */ // ' \\\n still\nk<<<1, 2>>>(a->b, ...); x <<= 1e+5;";

UNIT(known_lexemes)
{
    static const char *const expected[] = {"#define A(x) \\\n  x",
                                           "R\"z(a)\" b)z\"",
                                           "u8",
                                           "\"\\\"\"",
                                           "'c'",
                                           "'\\''",
                                           "1'000'000",
                                           "0x1",
                                           ".",
                                           "8p",
                                           "-",
                                           "3f",
                                           "k",
                                           "<",
                                           "<",
                                           "<",
                                           "1",
                                           ",",
                                           "2",
                                           ">",
                                           ">",
                                           ">",
                                           "(",
                                           "a",
                                           "->",
                                           "b",
                                           ",",
                                           ".",
                                           ".",
                                           ".",
                                           ")"};
    struct cc_lexer lexer;
    cc_lex_start(&lexer, sample, sizeof sample - 1);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct cc_lexeme l = cc_lex(&lexer);
        EXPECT(l.length == strlen(expected[i]) && memcmp(l.text, expected[i], l.length) == 0,
               "lexeme %zu is \"%.*s\", not \"%s\"", i, (int)l.length, l.text, expected[i]);
    }
}

UNIT(texts_cut_at_every_byte)
{
    for (size_t cut = 0; cut < sizeof sample; cut++) {
        const char *wrong = check_copy(cc_lex, sample, cut);
        EXPECT(!wrong, "the first %zu bytes: %s", cut, wrong);
    }
}

static struct cc_lexeme shortened(struct cc_lexer *lexer)
{
    struct cc_lexeme l = cc_lex(lexer);
    l.length -= l.length > 1 && l.text[0] == '"';
    return l;
}

static struct cc_lexeme every_second(struct cc_lexer *lexer)
{
    (void)cc_lex(lexer);
    return cc_lex(lexer);
}

UNIT(wrong_lexers_are_rejected)
{
    REJECTS(check_copy(shortened, sample, sizeof sample - 1), "strings without their last sign");
    REJECTS(check_copy(every_second, sample, sizeof sample - 1), "lexemes that are left out");
}
