/* SPDX-License-Identifier: MIT
 * nvrtc_names.c: NVRTC's name expressions. Each becomes the argument of a template that follows the
 * source; the symbol of that template's function contains the symbol of what the expression names.
 */
#include <ctype.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fatbin.h"
#include "nvrtc_program.h"

nvrtcResult nvrtcAddNameExpression(nvrtcProgram prog, const char *const name_expression)
{
    if (!prog || !name_expression)
        return prog ? NVRTC_ERROR_INVALID_INPUT : NVRTC_ERROR_INVALID_PROGRAM;
    if (prog->compiled)
        return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
    char **all = realloc(prog->expression, ((size_t)prog->expression_count + 1) * sizeof *all);
    if (!all)
        return NVRTC_ERROR_OUT_OF_MEMORY;
    prog->expression = all;
    all[prog->expression_count] = strdup(name_expression);
    return all[prog->expression_count++] ? NVRTC_SUCCESS : NVRTC_ERROR_OUT_OF_MEMORY;
}

/* "&x" and "x" name the same. */
static const char *named(const char *expression)
{
    return expression + strspn(expression, " &");
}

char *vgpu__nvrtc_uses(const struct _nvrtcProgram *program, bool forced)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return NULL;
    if (forced)
        fprintf(out, "\n#pragma clang force_cuda_host_device end\n");
    if (program->expression_count > 0)
        fprintf(out, "\n#if __cplusplus >= 201703L\n");
    for (int i = 0; i < program->expression_count; i++)
        fprintf(out,
                "template <auto V> __global__ void vgpu_name_%d() {}\n"
                "#line %d \"name expressions\"\n"
                "template __global__ void vgpu_name_%d<&%s>();\n",
                i, i + 1, i, named(program->expression[i]));
    if (program->expression_count > 0)
        fprintf(out, "#endif\n");
    return fclose(out) == 0 ? text : NULL;
}

/* ---- symbols ---- */

static size_t copy_characters(char *to, const char *from, size_t length)
{
    memcpy(to, from, length);
    return length;
}

/* The length of a literal's value in a template's arguments, with its type: "Li3E", "LN1a1bE2E". */
static size_t literal_length(const char *at)
{
    const char *type = at + 1;
    size_t nested = *type == 'N';
    type += nested;
    if (!isdigit((unsigned char)*type))
        return strcspn(at, "E") + 1;
    while (isdigit((unsigned char)*type)) {
        char *name;
        size_t length = strtoul(type, &name, 10);
        type = name + strnlen(name, length);
        if (!nested)
            break;
    }
    return (size_t)(type + nested - at) + strcspn(type + nested, "E") + 1;
}

/* Of "S_", "S0_", "S1_" ... the one before. */
static size_t copy_earlier(char *to, const char *from)
{
    unsigned long index = strtoul(from + 1, NULL, 36);
    if (index == 0)
        return copy_characters(to, "S_", 2);
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char number[16];
    size_t at = sizeof number;
    for (index--;; index /= 36) {
        number[--at] = digits[index % 36];
        if (index < 36)
            break;
    }
    to[0] = 'S';
    copy_characters(to + 1, number + at, sizeof number - at);
    to[1 + sizeof number - at] = '_';
    return sizeof number - at + 2;
}

/* A mangled name (Itanium C++ ABI) that stands inside of another, where the first substitution is
 * of the outer name: as it is alone. */
static void copy_inner(char *to, const char *from, const char *end)
{
    while (from < end) {
        size_t length = 1;
        if (isdigit((unsigned char)*from)) {
            char *name;
            size_t letters = strtoul(from, &name, 10);
            length = (size_t)(name - from) + letters;
        } else if (*from == 'L' && from[1] != '_') {
            length = literal_length(from);
        } else if ((*from == 'A' || *from == 'T' || *from == 'S') &&
                   (isdigit((unsigned char)from[1]) ||
                    (*from == 'S' && isupper((unsigned char)from[1])))) {
            length = strcspn(from, "_") + 1;
        }
        length = length > (size_t)(end - from) ? (size_t)(end - from) : length;
        bool earlier = *from == 'S' && length > 1;
        to += earlier ? copy_earlier(to, from) : copy_characters(to, from, length);
        from += length;
    }
    *to = '\0';
}

/* The symbol of what expression `number` names, in memory that the caller frees; NULL: none. */
static char *inner_symbol(const char *symbol, int number)
{
    static const char end[] = "EEEvv", mark[] = "XadL_Z";
    char name[32];
    snprintf(name, sizeof name, "vgpu_name_%d", number);
    const char *first = strstr(symbol, name);
    const char *inner = first ? strstr(first, mark) : NULL;
    size_t length = inner ? strlen(inner) : 0;
    if (!first || first[strlen(name)] != 'I' || length < sizeof mark + sizeof end)
        return NULL;
    char *made = malloc(length + 1);
    if (made)
        copy_inner(made, inner + sizeof mark - 3, inner + length - (sizeof end - 1));
    return made;
}

/* "&ns::fill< int >" is the kernel "ns::fill<int>". */
static bool names_kernel(const char *expression, const char *name)
{
    while (*expression || *name) {
        if (*expression == ' ' || *expression == '&')
            expression++;
        else if (*name == ' ')
            name++;
        else if (*expression++ != *name++)
            return false;
    }
    return true;
}

static const char *find_record_symbol(const struct _nvrtcProgram *program, const char *symbol)
{
    const void *record = program->record;
    const struct vgpu_fatbin *head = record;
    record = program->record + head->kernel_at;
    const struct vgpu_fatbin_kernel *kernel = record;
    for (uint32_t i = 0; i < head->kernel_count; i++)
        if (strcmp(program->record + kernel[i].symbol_at, symbol) == 0)
            return program->record + kernel[i].symbol_at;
    record = program->record + head->var_at;
    const struct vgpu_fatbin_var *variable = record;
    for (uint32_t i = 0; i < head->var_count; i++)
        if (strcmp(program->record + variable[i].symbol_at, symbol) == 0)
            return program->record + variable[i].symbol_at;
    return NULL;
}

/* Of a kernel or a variable, whose symbols may also be their plain names. */
static const char *find_inner(const struct _nvrtcProgram *program, const char *inner)
{
    const char *found = find_record_symbol(program, inner);
    const char *plain = inner + 2 + strspn(inner + 2, "0123456789");
    return found ? found : find_record_symbol(program, plain);
}

static const char *lowered_by_use(const struct _nvrtcProgram *program, int number)
{
    const void *record = program->record;
    const struct vgpu_fatbin *head = record;
    record = program->record + head->kernel_at;
    const struct vgpu_fatbin_kernel *row = record;
    for (uint32_t i = 0; i < head->kernel_count; i++) {
        char *inner = inner_symbol(program->record + row[i].symbol_at, number);
        if (!inner)
            continue;
        const char *found = find_inner(program, inner);
        free(inner);
        return found;
    }
    return NULL;
}

static const char *lowered_by_name(const struct _nvrtcProgram *program, const char *expression)
{
    const void *record = program->record;
    const struct vgpu_fatbin *head = record;
    record = program->record + head->kernel_at;
    const struct vgpu_fatbin_kernel *row = record;
    for (uint32_t i = 0; i < head->kernel_count; i++)
        if (names_kernel(expression, program->record + row[i].name_at))
            return program->record + row[i].symbol_at;
    return NULL;
}

nvrtcResult nvrtcGetLoweredName(nvrtcProgram prog, const char *const name_expression,
                                const char **lowered_name)
{
    if (!prog || !name_expression || !lowered_name)
        return prog ? NVRTC_ERROR_INVALID_INPUT : NVRTC_ERROR_INVALID_PROGRAM;
    if (!prog->compiled)
        return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
    const char *found = NULL;
    for (int i = 0; i < prog->expression_count && !found; i++)
        if (strcmp(prog->expression[i], name_expression) == 0)
            found = lowered_by_use(prog, i);
    if (!found)
        found = lowered_by_name(prog, name_expression);
    if (found)
        *lowered_name = found;
    return found ? NVRTC_SUCCESS : NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}
