/* SPDX-License-Identifier: MIT
 * lex.h: C++ text as lexemes: comments, (raw) strings, characters, numbers, names, punctuation and
 * whole directive lines are told apart, so that nothing is ever found inside another thing.
 *
 * `<` and `>` are always lexemes of one character each: whether three of them open a launch, close
 * three template lists or are a shift and a comparison depends on what is around them (launch.c).
 */
#ifndef VGPU_CC_LEX_H
#define VGPU_CC_LEX_H

#include <stdbool.h>
#include <stddef.h>

enum cc_kind { CC_NAME, CC_NUMBER, CC_STRING, CC_CHAR, CC_PUNCT, CC_DIRECTIVE, CC_END };

struct cc_lexeme {
    enum cc_kind kind;
    const char *text; /* in the lexer's text */
    size_t length;
    bool space; /* white space, a comment or a line's end comes before it */
};

struct cc_lexer {
    const char *text, *end; /* whole text; *end == 0 */
    const char *at;
    bool line_start; /* nothing but white space since the last line's end: a # opens a directive */
};

void cc_lex_start(struct cc_lexer *lexer, const char *text, size_t length);

/* The next lexeme; at the end of the text, and for ever after, one of kind CC_END. A directive is
 * one lexeme from its # to the end of its last continued line. */
struct cc_lexeme cc_lex(struct cc_lexer *lexer);

bool cc_name_part(char c);

#endif
