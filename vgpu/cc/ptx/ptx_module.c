/* SPDX-License-Identifier: MIT
 * ptx_module.c: reads a whole PTX module, as nvcc, NVRTC and Clang write it: PTX ISA 9.0, chapters
 * 4, 5 and 11. What is not known is an error at its line, never a guess.
 */
#include "ptx_module.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- directives ---- */

static bool read_version(struct cc_ptx_module *m, struct cc_place place, const char *from)
{
    /* The last one of each. Of 9 there will be more: their new instructions are refused by name. */
    static const int last[] = {[3] = 2, [4] = 3, [5] = 1, [6] = 5, [7] = 8, [8] = 8, [9] = INT_MAX};
    int major = 0, minor = 0;
    bool read = sscanf(cc_ptx_next(m), "%d.%d", &major, &minor) == 2;

    return (read && major >= 3 && major <= 9 && minor <= last[major]) ||
           cc_ptx_refuse(m, place, from, "PTX of this version is not known (3.0 to 9 are)");
}

static bool read_address_size(struct cc_ptx_module *m, struct cc_place place, const char *from)
{
    return strcmp(cc_ptx_next(m), "64") == 0 ||
           cc_ptx_refuse(m, place, from, "PTX for addresses of 32 bits is not known");
}

/* .section .debug_str { ... } */
static void skip_section(struct cc_ptx_module *m)
{
    cc_ptx_skip_past(m, "{");
    cc_ptx_skip_past(m, "}");
}

static bool read_function(struct cc_ptx_module *m, bool kernel)
{
    struct cc_ptx_signature signature = {.is_kernel = kernel};
    struct cc_place place = cc_ptx_here(m);
    const char *from = m->at;

    if (!cc_ptx_read_signature(m, &signature))
        return false;
    LLVMValueRef function = cc_ptx_declare_function(m->l, &signature);
    if (cc_ptx_take(m, ";"))
        return true;
    if (!LLVMIsDeclaration(function) || LLVMGetNamedGlobal(m->l->module, signature.name) != NULL)
        return cc_ptx_refuse(m, place, from, CC_PTX_TWICE);
    return cc_ptx_take(m, "{") ? cc_ptx_read_body(m, &signature, function)
                               : cc_ptx_refuse(m, cc_ptx_here(m), m->at, CC_PTX_NOT_KNOWN);
}

static int global_space(const char *word)
{
    return strcmp(word, ".global") == 0   ? CC_PTX_GLOBAL
           : strcmp(word, ".const") == 0  ? CC_PTX_CONST
           : strcmp(word, ".shared") == 0 ? CC_PTX_SHARED
                                          : 0;
}

static bool is_linkage(const char *word)
{
    return strcmp(word, ".visible") == 0 || strcmp(word, ".weak") == 0 ||
           strcmp(word, ".common") == 0;
}

/* One directive of the module. */
static bool read_directive(struct cc_ptx_module *m)
{
    struct cc_place place = cc_ptx_here(m);
    const char *from = m->at, *word = cc_ptx_next(m), *name;
    bool external = false;

    for (; is_linkage(word) || strcmp(word, ".extern") == 0; word = cc_ptx_next(m))
        external |= *word == '.' && word[1] == 'e';
    if (strcmp(word, ".version") == 0)
        return read_version(m, place, from);
    if (strcmp(word, ".address_size") == 0)
        return read_address_size(m, place, from);
    if (strcmp(word, ".section") == 0)
        skip_section(m);
    else if (strcmp(word, ".pragma") == 0)
        cc_ptx_skip_past(m, ";");
    else if (strcmp(word, ".target") == 0 || strcmp(word, ".file") == 0 || cc_starts(word, "@@"))
        m->at += strcspn(m->at, "\n");
    else if (strcmp(word, ".entry") == 0 || strcmp(word, ".func") == 0)
        return read_function(m, word[1] == 'e');
    else if (global_space(word) != 0)
        return cc_ptx_variable(m, (enum cc_ptx_space)global_space(word), external, NULL, &name) !=
               NULL;
    else
        return cc_ptx_refuse(m, place, from, CC_PTX_NOT_KNOWN);
    return true;
}

bool cc_read_ptx(struct cc_lowering *l, const char *data, size_t bytes)
{
    const char *text = cc_ptx_text(data, bytes);

    if (text == NULL)
        return false;
    struct cc_ptx_module m = {.l = l, .at = text, .counted = text, .line = 1};

    cc_ptx_find_files(&m, text);
    while (*cc_ptx_peek(&m) != 0)
        if (!read_directive(&m))
            return false;
    cc_ptx_end_lines(&m);
    return cc_error_count() == 0 && cc_ptx_make_pointers(l);
}
