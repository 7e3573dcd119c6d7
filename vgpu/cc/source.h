/* SPDX-License-Identifier: MIT
 * source.h: one pass's preprocessed text, as the tokens that the analysis works on and the units
 * of text that they come from.
 *
 * The text comes from the preprocessor with directives carried out (gcc: macros not yet expanded,
 * every column as the user typed it; clang: expanded). A unit is a lexeme, a macro invocation or a
 * directive line; units lie in order and what is between them (white space, comments, everything
 * in system headers) is copied as it is. A token is a lexeme after macro expansion.
 *
 * Edits are made on tokens (before, after, deleted) and carried out by render.h.
 */
#ifndef VGPU_CC_SOURCE_H
#define VGPU_CC_SOURCE_H

#include <stdint.h>

#include "lex.h"
#include "macro.h"
#include "mem.h"

struct cc_place {
    const char *file;
    int line, column; /* both from 1 */
};

struct cc_unit {
    size_t begin, end; /* in the text */
    struct cc_place place;
    uint32_t first, count; /* its tokens */
    bool macro, directive;
    bool dropped; /* a directive that is not to be printed */
};

struct cc_token {
    enum cc_kind kind;
    const char *text;
    uint32_t length;
    uint32_t unit;
    bool space;    /* white space before it */
    int32_t match; /* of a bracket: its partner's index; else -1 */
    /* edits */
    const char *before, *after; /* null: none */
    bool deleted;
};

struct cc_source {
    const char *text;
    size_t length;
    struct cc_unit *unit;
    size_t unit_count, unit_capacity;
    struct cc_token *token; /* the last one is of kind CC_END and not counted */
    size_t token_count, token_capacity;
    struct cc_macros macros;
    bool balanced; /* all brackets have partners */
};

/* Reads the preprocessed text. `own_dirs`: folders that the user named with -isystem; their
 * headers are his code, other system headers are not looked into. */
struct cc_source *cc_source_read(const char *text, size_t length, const struct cc_list *own_dirs);

bool cc_token_is(const struct cc_source *source, int token, const char *word);
/* Are both names, and the same? Either may be -1. */
bool cc_same_token(const struct cc_source *source, int a, int b);
struct cc_place cc_token_place(const struct cc_source *source, int token);

/* The tokens [from, to) as text with their white space, as one line. */
const char *cc_token_text(const struct cc_source *source, int from, int to);

void cc_edit_before(struct cc_source *source, int token, const char *text);
void cc_edit_after(struct cc_source *source, int token, const char *text);
void cc_edit_delete(struct cc_source *source, int from, int to);

#endif
