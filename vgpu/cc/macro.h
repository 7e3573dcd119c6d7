/* SPDX-License-Identifier: MIT
 * macro.h: the program's macros, expanded for analysis only.
 *
 * The compiler still expands the macros of the text that it gets, so its messages point at the
 * user's own columns. vgpu-cc expands them as well to see what they hide: a kernel behind
 * `#define KERNEL __global__ void`, a launch behind CHECK(...). Where an edit falls into an
 * expansion, that one invocation is written out (render.h).
 */
#ifndef VGPU_CC_MACRO_H
#define VGPU_CC_MACRO_H

#include "lex.h"

struct cc_macro {
    const char *name;
    size_t name_length;
    bool function_like, variadic, undefined;
    const char **param; /* names, zero-ended; the last one is __VA_ARGS__ or a named pack */
    size_t param_count;
    struct cc_lexeme *body;
    size_t body_count;
    struct cc_macro *next; /* in its bucket; the newest definition comes first */
};

#define CC_MACRO_BUCKETS 4096

struct cc_macros {
    struct cc_macro *bucket[CC_MACRO_BUCKETS];
};

/* A #define or #undef line takes effect; any other directive changes nothing. */
void cc_macro_directive(struct cc_macros *macros, const char *line, size_t length);

/* The definition in force, or null. CUDA's own words (__global__, __shared__ ...) are never macros
 * here, whatever the headers say: the analysis has to see them. */
struct cc_macro *cc_macro_find(struct cc_macros *macros, const char *name, size_t length);

/* A lexeme on its way through expansion. */
struct cc_piece {
    struct cc_lexeme lexeme;
    const struct cc_hidden *hidden; /* the macros that made it: not expanded again */
    struct cc_piece *next;
};

/* Expands the name `first`, which comes from `lexer`, as far as it goes; arguments are taken from
 * the lexer, which is left behind what was used. The pieces of the result, or null when it is
 * empty; *used is false when the name is no macro here (not called, say) and nothing was taken. */
struct cc_piece *cc_macro_expand(struct cc_macros *macros, struct cc_lexeme first,
                                 struct cc_lexer *lexer, bool *used);

#endif
