/* SPDX-License-Identifier: MIT
 * text_rules.c: rejects what nvcc rejects and LLVM's code does not show: a kernel that is a member
 * of a class, __grid_constant__ at a parameter that is not const, a const __managed__ variable.
 * Works on the tokens of the source.
 */
#include <string.h>

#include "diag.h"
#include "lex.h"
#include "lower.h"
#include "names.h"

/* The tokens of a file, and the position of the next one. */
struct reader {
    const char *file, *text;
    struct cc_lexer lexer;
    struct cc_lexeme word;
};

static bool start_reader(struct reader *r, const char *file)
{
    size_t length;

    r->file = file;
    r->text = cc_read_file(file, &length);
    if (r->text == NULL)
        return false;
    cc_lex_start(&r->lexer, r->text, length);
    return true;
}

static bool read_source_word(struct reader *r)
{
    r->word = cc_lex(&r->lexer);
    return r->word.length != 0;
}

static bool is_word(const struct reader *r, const char *text)
{
    return cc_is(r->word.text, r->word.length, text);
}

static struct cc_place place_of_word(const struct reader *r)
{
    struct cc_place place = {r->file, 1, 1};

    for (const char *at = r->text; at < r->word.text; at++) {
        place.column = *at == '\n' ? 1 : place.column + 1;
        place.line += *at == '\n';
    }
    return place;
}

/* ---- members ---- */

static bool is_one_of(const struct reader *r, const char *const *word, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_word(r, word[i]))
            return true;
    return false;
}

/* Whether the file defines a class of that name, and no namespace. */
static bool is_class(const char *file, const char *name)
{
    static const char *const keys[] = {"struct", "class", "union", ")"}, /* class __align__(8) a */
        *const openings[] = {"{", ":", "final"};
    struct reader r;
    bool found = false, key = false, space = false, named = false;

    if (!start_reader(&r, file))
        return false;
    while (read_source_word(&r)) {
        found |= named && is_one_of(&r, openings, sizeof openings / sizeof *openings);
        if (space && is_word(&r, name))
            return false;
        named = key && is_word(&r, name);
        key = is_one_of(&r, keys, sizeof keys / sizeof *keys);
        space = is_word(&r, "namespace");
    }
    return found;
}

/* The innermost scope of "a::b::kernel"; null: it has none. */
static const char *scope_of(const char *qualified)
{
    const char *scope = NULL;

    for (const char *at; (at = strstr(qualified, "::")) != NULL; qualified = at + 2)
        scope = cc_copy(qualified, (size_t)(at - qualified));
    return scope;
}

static void check_members(const struct cc_device_code *code)
{
    for (size_t i = 0; i < code->kernel_count; i++) {
        const struct cc_kernel *kernel = &code->kernel[i];
        const char *qualified, *scope;
        cc_plain_name(kernel->symbol, &qualified);
        scope = scope_of(qualified);
        if (scope != NULL && is_class(kernel->file, scope))
            cc_error((struct cc_place){kernel->file, (int)kernel->line, 1},
                     "kernel '%s' is a member of a class; a __global__ function must not be",
                     qualified);
    }
}

/* ---- parameters ---- */

/* Reads the current parameter to its end; `constant`: whether const came before. */
static bool is_const_parameter(struct reader *r, bool constant)
{
    int depth = 0;

    while (read_source_word(r)) {
        constant |= is_word(r, "const");
        depth += is_word(r, "(") || is_word(r, "<");
        if (depth == 0 && (is_word(r, ",") || is_word(r, ")")))
            break;
        depth -= is_word(r, ")") || is_word(r, ">");
    }
    return constant;
}

static void check_parameters(const char *file)
{
    struct reader r;
    bool constant = false;
    int depth = 0; /* nesting of < > */

    if (!start_reader(&r, file) || strstr(r.text, "__grid_constant__") == NULL)
        return;
    while (read_source_word(&r)) {
        depth = is_word(&r, "(") ? 0 : depth + is_word(&r, "<") - is_word(&r, ">");
        constant |= is_word(&r, "const");
        if (is_word(&r, "(") || (depth == 0 && is_word(&r, ",")))
            constant = false;
        if (!is_word(&r, "__grid_constant__"))
            continue;
        struct cc_place place = place_of_word(&r);
        if (!is_const_parameter(&r, constant))
            cc_error(place, "a __grid_constant__ parameter must be const");
        constant = false;
    }
}

/* ---- __managed__ ---- */

/* Reads the variable's declaration up to its value or its end; `constant`: whether const came
 * before. */
static bool is_const_variable(struct reader *r, bool constant)
{
    static const char *const ends[] = {"=", ";", "{", "[", "(", ","};

    while (read_source_word(r) && !is_one_of(r, ends, sizeof ends / sizeof *ends))
        constant = (constant || is_word(r, "const")) && !is_word(r, "*");
    return constant;
}

static void check_managed(const char *file)
{
    struct reader r;
    bool constant = false;

    if (!start_reader(&r, file) || strstr(r.text, "__managed__") == NULL)
        return;
    while (read_source_word(&r)) {
        if (is_word(&r, "__managed__")) {
            struct cc_place place = place_of_word(&r);
            if (is_const_variable(&r, constant))
                cc_error(place,
                         "a __managed__ variable must not be const: make it __constant__, or "
                         "leave const out");
        }
        constant = is_word(&r, "const");
    }
}

void cc_check_text(const struct cc_lowering *l)
{
    check_members(l->code);
    check_parameters(l->source);
    check_managed(l->source);
}
