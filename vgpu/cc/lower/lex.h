/* SPDX-License-Identifier: MIT
 * lex.h: C++ text as lexemes: comments, (raw) strings, characters, words (names and numbers), signs
 * and whole directive lines, so that nothing is ever found inside another thing.
 *
 * Signs are of one character each, but for `::`, `->` and `==`: whether three < open a launch,
 * close three template lists or are a shift and a comparison depends on what is around them.
 */
#ifndef VGPU_CC_LEX_H
#define VGPU_CC_LEX_H

#include <stdbool.h>
#include <stddef.h>

struct cc_lexeme {
    const char *text; /* in the lexer's text */
    size_t length;    /* 0: the text has ended */
};

struct cc_lexer {
    const char *text, *end; /* whole text; *end == 0 */
    const char *at;
    bool line_start; /* only white space since the last line end: a # begins a directive */
};

void cc_lex_start(struct cc_lexer *lexer, const char *text, size_t length);

/* The next lexeme; at the end of the text, and for ever after, one without length. A directive is
 * one lexeme from its # to the end of its last continued line. */
struct cc_lexeme cc_lex(struct cc_lexer *lexer);

#endif
