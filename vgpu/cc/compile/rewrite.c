/* SPDX-License-Identifier: MIT
 * rewrite.c: what nvcc takes and Clang does not, put into words that both take.
 *
 *     __shared__ alignas(16) int a[4];     __shared__ _Alignas(16) int a[4];
 *     operator<<<int>(a, b)                operator<< <int>(a, b)
 *     k<<<{1, 2}, {3}>>>(p)                k<<<dim3{1, 2}, dim3{3}>>>(p)
 *     k<<<size...>>>(p)                    k<<<vgpu_grid(size...), vgpu_block(size...), ...>>>(p)
 *     k<< <1, 1>> >(p)                     k<<<1, 1>>>(p)
 *     __shared__ point a[4];               a reference to bytes, for no constructor runs
 *     asm("mov.u64 %0, %globaltimer;" ...  asm("mov.u64 %0, %%globaltimer;" ...
 *     #pragma weak a=b                     the same for host code only
 *
 * It is done where Clang has refused them, in a copy of the file that Clang then reads in its place
 * (-remap-file). No line moves, and nothing else in the file changes.
 * Clang's message says where; what is read around that place is a line or a statement.
 */
#include <ctype.h>
#include <fnmatch.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "compile.h"
#include "diag.h"
#include "proc.h"

static const char no_constructor[] = "*initialization is not supported for __shared__ variables*";

static char *copy_between(const char *from, const char *to)
{
    return cc_copy(from, (size_t)(to - from));
}

static const char *line_start(const char *text, const char *at)
{
    while (at > text && at[-1] != '\n')
        at--;
    return at;
}

enum { GROUPS = 5 }; /* of a pattern, with the whole match, which is the first */

/* For messages that match (fnmatch): what `before` matches up to Clang's place, and `behind` from
 * there on, becomes `instead`, in which \0 to \4 are groups of the one and \5 to \9 of the other.
 */
static const struct remedy {
    const char *message, *before, *behind, *instead;
} remedies[] = {
    {"*an attribute list cannot appear here*", "$", "^alignas", "_Alignas"},
    {"*expected a type*", "operator[[:space:]]*$", "^<<<", "\\0<< <"},
    /* An alias of host code: device code has neither of the two names. */
    {"*alias must point to a defined*", "(^|\n)#pragma (weak [^\n]*)$", "^[^\n]*",
     "\\1VGPU_HOST_PRAGMA(\"\\2\\5\")"},
    {"*expected @(expression|'>>>')*", "<<<([^;]*,)?[[:space:]]*$", "^[{]", "\\0dim3{"},
    {"*expected @(expression|'>>>')*", "<<[ \t]+$", "^<", "<<<"},
    {"*expected @(expression|'>>>')*", ">>[ \t]+$", "^>", ">>>"},
    {"*expected @(expression|'>>>')*", "<<<(([^;<]|<[^;<]|<<[^;<])*)$",
     "^([.][.][.]([^>]|>[^>]|>>[^>])*)>>>",
     "<<<vgpu_grid(\\1\\6), vgpu_block(\\1\\6), vgpu_shared_bytes(\\1\\6), vgpu_stream(\\1\\6)>>>"},
    /* "__shared__ T", of one variable: the place is its name. */
    {no_constructor, "__shared__(([^;{}=(,<]|<[^;{}=(]*>)*)$", "^([[:alnum:]_]+)([^;,=({]*);",
     "typedef\\1vgpu_type_\\6\\7; __shared__ __attribute__((aligned(__alignof__(vgpu_type_\\6)))) "
     "unsigned char vgpu_bytes_\\6[sizeof(vgpu_type_\\6)]; "
     "vgpu_type_\\6 &\\6 = *(vgpu_type_\\6 *)vgpu_bytes_\\6;"},
};

enum { REMEDIES = sizeof remedies / sizeof *remedies };

/* `before` and `behind`, compiled when they are first needed. */
static const regex_t *patterns_of(size_t remedy)
{
    static regex_t patterns[REMEDIES][2];
    static bool compiled[REMEDIES];

    if (!compiled[remedy] &&
        (regcomp(&patterns[remedy][0], remedies[remedy].before, REG_EXTENDED) != 0 ||
         regcomp(&patterns[remedy][1], remedies[remedy].behind, REG_EXTENDED) != 0))
        cc_fatal("out of memory");
    compiled[remedy] = true;
    return patterns[remedy];
}

/* Does the pattern match the text? `groups`: what it matches. */
static bool match_groups(const regex_t *pattern, const char *text, char *groups[GROUPS])
{
    regmatch_t at[GROUPS];

    if (regexec(pattern, text, GROUPS, at, 0) != 0)
        return false;
    for (int i = 0; i < GROUPS; i++)
        groups[i] =
            at[i].rm_so < 0 ? cc_copy("", 0) : copy_between(text + at[i].rm_so, text + at[i].rm_eo);
    return true;
}

/* `instead` with the groups in it. Line ends stay in the first copy of a group. */
static const char *fill_in(const char *instead, char *groups[2 * GROUPS])
{
    struct cc_text out = {0};

    for (; *instead != 0; instead++) {
        if (*instead != '\\') {
            cc_put(&out, instead, 1);
            continue;
        }
        char *group = groups[*++instead - '0'];
        cc_puts(&out, group);
        while ((group = strchr(group, '\n')) != NULL)
            *group = ' ';
    }
    return out.data;
}

/* The text with the remedy at the place, or null. It is looked for in one statement. */
static const char *apply_remedy(size_t remedy, const char *text, const char *place)
{
    const regex_t *patterns = patterns_of(remedy);
    const char *start = place, *end = place + strcspn(place, ";");
    char *groups[2 * GROUPS];

    while (start > text && start[-1] != ';')
        start--;
    if (!match_groups(&patterns[1], copy_between(place, end + (*end == ';')), groups + GROUPS) ||
        !match_groups(&patterns[0], copy_between(start, place), groups))
        return NULL;
    return cc_format("%s%s%s", copy_between(text, place - strlen(groups[0])),
                     fill_in(remedies[remedy].instead, groups), place + strlen(groups[GROUPS]));
}

/* The quote that ends the string, or the last of several that follow each other. */
static const char *strings_end(const char *at)
{
    while (true) {
        at += strcspn(at, "\"");
        const char *next = *at != 0 ? at + 1 + strspn(at + 1, " \t\r\n") : at;
        if (*next != '"')
            return at;
        at = next + 1;
    }
}

static bool is_letter(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

/* "%name" of inline PTX becomes "%%name", to the end of the strings. Clang's place is behind the
 * first letter. Null: there is none. */
static const char *double_registers(const char *text, const char *place)
{
    const char *start = place, *end = strings_end(place);
    struct cc_text out = {0};

    while (start > text && strchr("%\"\n", start[-1]) == NULL)
        start--;
    if (start == text || start[-1] != '%')
        return NULL;
    cc_put(&out, text, (size_t)(--start - text));
    for (; start < end; start++) {
        bool name = *start == '%' && is_letter(start[1]) && is_letter(start[2]);
        bool doubled = cc_starts(start, "%%");
        cc_put(&out, name ? "%%" : start, name || doubled ? 2 : 1);
        start += doubled;
    }
    return out.length > (size_t)(end - text) ? cc_format("%s%s", out.data, end) : NULL;
}

/* ---- messages ---- */

static bool is_about(const char *message, const char *pattern)
{
    return fnmatch(pattern, message, FNM_EXTMATCH) == 0;
}

const char *cc_rewrite_at(const char *text, int line, int column, const char *message)
{
    const char *place = text, *changed = NULL;

    for (; line > 1 && place != NULL; line--)
        place = (place = strchr(place, '\n')) != NULL ? place + 1 : NULL;
    if (place == NULL || column < 1 || strcspn(place, "\n") < (size_t)column)
        return NULL;
    place += column - 1;
    if (strstr(message, "invalid % escape in inline assembly") != NULL)
        return double_registers(text, place);
    for (size_t i = 0; i < REMEDIES && changed == NULL; i++)
        if (is_about(message, remedies[i].message))
            changed = apply_remedy(i, text, place);
    return changed;
}

/* "sum.cu:8:22: error: expected expression", which may be in colors. */
static bool read_head(const char *head, struct cc_place *place)
{
    if (*head == '\033')
        head += strcspn(head, "m") + 1;
    size_t name = strcspn(head, ":");
    place->file = cc_copy(head, name);
    return sscanf(head + name, ":%d:%d: ", &place->line, &place->column) == 2 &&
           strstr(head, "error: ") != NULL;
}

static bool change_copy(struct cc_list *copies, struct cc_place place, const char *message,
                        const char *name)
{
    const char *start = cc_format("%s;", place.file), *known = cc_last_with(copies, start);
    const char *copy =
        known != NULL ? known + strlen(start) : cc_format("%s-%zu.cu", name, copies->count);
    size_t length;
    const char *text = cc_read_file(known != NULL ? copy : place.file, &length);

    if (text == NULL || strlen(text) != length || strchr(place.file, ';') != NULL)
        return false;
    const char *changed = cc_rewrite_at(text, place.line, place.column, message);
    if (changed == NULL)
        return false;
    if (known == NULL)
        cc_add(copies, cc_format("%s%s", start, copy));
    cc_write_file(copy, changed, strlen(changed));
    return true;
}

/* From the last message on, so that places before a change stay right. One behind a change in its
 * line has another place now: Clang will say which. */
bool cc_rewrite(struct cc_list *copies, const char *said, const char *name, bool warns)
{
    struct cc_place last = {.file = ""}, place;
    const char *end = said + strlen(said);

    for (const char *line; end > said; end = line) {
        line = line_start(said, end - 1);
        const char *message = copy_between(line, end);
        if (!read_head(message, &place) ||
            (strcmp(place.file, last.file) == 0 && place.line == last.line &&
             place.column >= last.column) ||
            !change_copy(copies, place, message, name))
            continue;
        last = place;
        if (warns && is_about(message, no_constructor))
            cc_warning(place, "no constructor runs for a __shared__ variable");
    }
    return *last.file != 0;
}
