/* SPDX-License-Identifier: MIT
 * words.h: the words that CUDA adds to C++.
 */
#ifndef VGPU_CC_WORDS_H
#define VGPU_CC_WORDS_H

#include <stddef.h>

/* Bits, so that a declaration's words fit an integer. */
enum cc_word {
    CC_WORD_NONE = 0,
    CC_GLOBAL = 1 << 0,
    CC_DEVICE = 1 << 1,
    CC_HOST = 1 << 2,
    CC_SHARED = 1 << 3,
    CC_CONSTANT = 1 << 4,
    CC_MANAGED = 1 << 5,
    CC_LAUNCH_BOUNDS = 1 << 6,
    CC_FORCEINLINE = 1 << 7,
    CC_NOINLINE = 1 << 8,
    CC_ALIGN = 1 << 9,
    CC_GRID_CONSTANT = 1 << 10,
    CC_CLUSTER_DIMS = 1 << 11,
    CC_MAXNREG = 1 << 12,
    /* C++'s own, where vgpu-cc looks at them in a declaration */
    CC_STATIC = 1 << 13,
    CC_EXTERN = 1 << 14,
    CC_CONST = 1 << 15,
    CC_CONSTEXPR = 1 << 16,
    CC_FRIEND = 1 << 17,
    CC_TYPEDEF = 1 << 18,
    CC_VIRTUAL = 1 << 19,
    CC_THREAD_LOCAL = 1 << 20,
    CC_INLINE = 1 << 21
};

/* CUDA's words. */
#define CC_CUDA_WORDS ((1 << 13) - 1)

/* The bit of a CUDA word, or CC_WORD_NONE. */
enum cc_word cc_word_of(const char *name, size_t length);

/* The bit of a CUDA word or of a C++ specifier listed above, or CC_WORD_NONE. */
enum cc_word cc_specifier_of(const char *name, size_t length);

/* A word of C++ that cannot be the name of a function, variable or parameter. */
int cc_is_keyword(const char *name, size_t length);

/* `int`, `unsigned` ...: a keyword that is a type, or part of one. */
int cc_is_type_keyword(const char *name, size_t length);

#endif
