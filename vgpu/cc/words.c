/* SPDX-License-Identifier: MIT
 * words.c: see words.h.
 */
#include "words.h"

#include "mem.h"

struct word {
    const char *name;
    enum cc_word bit;
};

static const struct word cuda_words[] = {
    {"__global__", CC_GLOBAL},
    {"__device__", CC_DEVICE},
    {"__host__", CC_HOST},
    {"__shared__", CC_SHARED},
    {"__constant__", CC_CONSTANT},
    {"__managed__", CC_MANAGED},
    {"__launch_bounds__", CC_LAUNCH_BOUNDS},
    {"__forceinline__", CC_FORCEINLINE},
    {"__noinline__", CC_NOINLINE},
    {"__align__", CC_ALIGN},
    {"__grid_constant__", CC_GRID_CONSTANT},
    {"__cluster_dims__", CC_CLUSTER_DIMS},
    {"__maxnreg__", CC_MAXNREG},
};

static const struct word specifiers[] = {
    {"static", CC_STATIC},         {"extern", CC_EXTERN},
    {"const", CC_CONST},           {"constexpr", CC_CONSTEXPR},
    {"consteval", CC_CONSTEXPR},   {"friend", CC_FRIEND},
    {"typedef", CC_TYPEDEF},       {"virtual", CC_VIRTUAL},
    {"override", CC_VIRTUAL},      {"thread_local", CC_THREAD_LOCAL},
    {"__thread", CC_THREAD_LOCAL}, {"inline", CC_INLINE},
    {"__inline", CC_INLINE},       {"__inline__", CC_INLINE},
};

static const char *const type_keywords[] = {
    "void",   "bool",     "char",    "short",   "int",      "long",     "float", "double",
    "signed", "unsigned", "wchar_t", "char8_t", "char16_t", "char32_t", "auto",  "__int128",
};

static const char *const keywords[] = {
    "alignas",
    "alignof",
    "asm",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "constexpr",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "final",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "nullptr",
    "operator",
    "private",
    "protected",
    "public",
    "register",
    "requires",
    "return",
    "sizeof",
    "static",
    "struct",
    "switch",
    "template",
    "this",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "using",
    "virtual",
    "volatile",
    "while",
    "__restrict__",
    "__restrict",
    "static_assert",
    "thread_local",
    "__attribute__",
    "__asm__",
    "__inline__",
    "__volatile__",
    "co_return",
    "consteval",
    "constinit",
    "__constinit",
    "static_cast",
    "reinterpret_cast",
    "const_cast",
    "dynamic_cast",
};

static enum cc_word find(const struct word *table, size_t count, const char *name, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (cc_is(name, length, table[i].name))
            return table[i].bit;
    return CC_WORD_NONE;
}

static int among(const char *const *table, size_t count, const char *name, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (cc_is(name, length, table[i]))
            return 1;
    return 0;
}

#define COUNT(table) (sizeof(table) / sizeof *(table))

enum cc_word cc_word_of(const char *name, size_t length)
{
    if (length < 8 || name[0] != '_' || name[1] != '_' || name[length - 1] != '_')
        return CC_WORD_NONE;
    return find(cuda_words, COUNT(cuda_words), name, length);
}

enum cc_word cc_specifier_of(const char *name, size_t length)
{
    enum cc_word word = cc_word_of(name, length);

    return word != CC_WORD_NONE ? word : find(specifiers, COUNT(specifiers), name, length);
}

int cc_is_type_keyword(const char *name, size_t length)
{
    return among(type_keywords, COUNT(type_keywords), name, length);
}

int cc_is_keyword(const char *name, size_t length)
{
    return cc_is_type_keyword(name, length) || among(keywords, COUNT(keywords), name, length) ||
           cc_word_of(name, length) != CC_WORD_NONE;
}
