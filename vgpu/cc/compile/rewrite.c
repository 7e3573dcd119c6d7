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
#include <stdio.h>
#include <string.h>

#include "compile.h"
#include "diag.h"
#include "proc.h"

/* Clang's place in a text, and what is changed: the bytes from `from` to `to` become `instead`. */
struct change {
    const char *text, *at;
    const char *from, *to, *instead;
};

static bool set_change(struct change *c, const char *from, const char *to, const char *instead)
{
    c->from = from;
    c->to = to;
    c->instead = instead;
    return true;
}

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

/* The last `word` in front of the place with none of the signs behind it, or null. */
static const char *find_before(const struct change *c, const char *word, const char *signs)
{
    for (const char *at = c->at; at > c->text && strchr(signs, at[-1]) == NULL;)
        if (cc_starts(--at, word) && (size_t)(c->at - at) >= strlen(word))
            return at;
    return NULL;
}

/* Whether the text in front of the place ends with `word`, blanks aside. */
static bool is_behind(const struct change *c, const char *word)
{
    const char *end = c->at;

    while (end > c->text && isspace((unsigned char)end[-1]))
        end--;
    return cc_ends(copy_between(line_start(c->text, end), end), word);
}

static bool change_alignas(struct change *c)
{
    return cc_starts(c->at, "alignas") &&
           set_change(c, c->at, c->at + strlen("alignas"), "_Alignas");
}

static bool change_operator(struct change *c)
{
    return cc_starts(c->at, "<<<") && is_behind(c, "operator") &&
           set_change(c, c->at + 2, c->at + 2, " ");
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

/* "%name" of inline PTX becomes "%%name", to the end of the strings. Clang's place is behind the
 * first letter. */
static bool change_registers(struct change *c)
{
    const char *start = find_before(c, "%", "\"\n"), *end = strings_end(c->at);
    struct cc_text out = {0};

    for (const char *at = start; at != NULL && at < end; at++) {
        bool name = at[0] == '%' && (isalpha((unsigned char)at[1]) || at[1] == '_') &&
                    (isalpha((unsigned char)at[2]) || at[2] == '_');
        bool doubled = at[0] == '%' && at[1] == '%';
        cc_put(&out, name ? "%%" : at, name || doubled ? 2 : 1);
        at += doubled;
    }
    return start != NULL && out.length > (size_t)(end - start) &&
           set_change(c, start, end, out.data);
}

/* An alias of host code: device code has neither of the two names. */
static bool change_weak_alias(struct change *c)
{
    const char *start = line_start(c->text, c->at), *end = c->at + strcspn(c->at, "\n");
    const char *weak = cc_starts(start, "#pragma weak ") ? start + strlen("#pragma ") : NULL;

    return weak != NULL &&
           set_change(c, start, end,
                      cc_format("VGPU_HOST_PRAGMA(\"%s\")", copy_between(weak, end)));
}

/* ---- launches ---- */

/* k<<<{1, 2}, {3}>>>(p) */
static bool change_braces(struct change *c)
{
    bool argument = *c->at == '{' && (is_behind(c, "<<<") || is_behind(c, ","));

    return argument && find_before(c, "<<<", ";") != NULL && set_change(c, c->at, c->at, "dim3");
}

/* k<< <1, 1>> >(p): Clang's place is the third sign. */
static bool change_blanks(struct change *c)
{
    const char sign = *c->at, *from = c->at;

    while (from > c->text && (from[-1] == ' ' || from[-1] == '\t'))
        from--;
    return (sign == '<' || sign == '>') && from < c->at && from - c->text >= 2 &&
           from[-1] == sign && from[-2] == sign && set_change(c, from, c->at, "");
}

/* k<<<size...>>>(p), to which the line ends in it are added again. */
static bool change_pack(struct change *c)
{
    const char *open = find_before(c, "<<<", ";"), *close = strstr(c->at, ">>>");
    struct cc_text out = {0};

    if (!cc_starts(c->at, "...") || open == NULL || close == NULL)
        return false;
    char *line = copy_between(open + 3, close);
    for (char *end; (end = strchr(line, '\n')) != NULL; *end = ' ')
        cc_puts(&out, "\n");
    cc_putf(&out, "vgpu_grid(%s), vgpu_block(%s), vgpu_shared_bytes(%s), vgpu_stream(%s)", line,
            line, line, line);
    return set_change(c, open + 3, close, out.data);
}

static bool change_launch(struct change *c)
{
    return change_braces(c) || change_blanks(c) || change_pack(c);
}

/* ---- __shared__ objects ---- */

/* Whether this is "__shared__ T", of one variable. */
static bool is_type(const char *from, const char *to)
{
    int depth = 0; /* of < > */

    for (; from < to; from++) {
        depth += (*from == '<') - (*from == '>');
        if ((*from == ',' && depth == 0) || strchr("=({", *from) != NULL)
            return false;
    }
    return true;
}

/* `__shared__ T name[2][3];`: the place is the name. */
static bool change_object(struct change *c)
{
    const char *shared = find_before(c, "__shared__", ";{}"), *end = c->at;

    while (isalnum((unsigned char)*end) || *end == '_')
        end++;
    const char *stop = end + strcspn(end, ";,=({");
    if (shared == NULL || end == c->at || *stop != ';' || !is_type(shared, c->at))
        return false;
    const char *name = copy_between(c->at, end), *bounds = copy_between(end, stop);
    const char *type = copy_between(shared + strlen("__shared__"), c->at);
    return set_change(c, shared, stop + 1,
                      cc_format("typedef%svgpu_type_%s%s; "
                                "__shared__ __attribute__((aligned(__alignof__(vgpu_type_%s)))) "
                                "unsigned char vgpu_bytes_%s[sizeof(vgpu_type_%s)]; "
                                "vgpu_type_%s &%s = *(vgpu_type_%s *)vgpu_bytes_%s;",
                                type, name, bounds, name, name, name, name, name, name, name));
}

/* ---- messages ---- */

static const char no_constructor[] = "initialization is not supported for __shared__ variables";

static const struct remedy {
    const char *message;
    bool (*change)(struct change *c);
} remedies[] = {
    {"expected expression", change_launch},
    {"expected '>>>'", change_launch},
    {"expected a type", change_operator},
    {"an attribute list cannot appear here", change_alignas},
    {"invalid % escape in inline assembly", change_registers},
    {"alias must point to a defined", change_weak_alias},
    {no_constructor, change_object},
};

const char *cc_rewrite_at(const char *text, int line, int column, const char *message)
{
    struct change c = {.text = text, .at = text};

    for (; line > 1 && c.at != NULL; line--)
        c.at = (c.at = strchr(c.at, '\n')) != NULL ? c.at + 1 : NULL;
    if (c.at == NULL || column < 1 || strcspn(c.at, "\n") < (size_t)column)
        return NULL;
    c.at += column - 1;
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++)
        if (strstr(message, remedies[i].message) != NULL && remedies[i].change(&c))
            return cc_format("%s%s%s", copy_between(text, c.from), c.instead, c.to);
    return NULL;
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

static const char *find_copy(const struct cc_list *copies, const char *file)
{
    const char *start = cc_format("%s;", file);

    for (size_t i = 0; i < copies->count; i++)
        if (cc_starts(copies->item[i], start))
            return copies->item[i] + strlen(start);
    return NULL;
}

static bool change_copy(struct cc_list *copies, struct cc_place place, const char *message,
                        const char *name)
{
    const char *copy = find_copy(copies, place.file);
    size_t length;
    const char *text = cc_read_file(copy != NULL ? copy : place.file, &length);

    if (text == NULL || strlen(text) != length || strchr(place.file, ';') != NULL)
        return false;
    const char *changed = cc_rewrite_at(text, place.line, place.column, message);
    if (changed == NULL)
        return false;
    if (copy == NULL) {
        copy = cc_format("%s-%zu.cu", name, copies->count);
        cc_add(copies, cc_format("%s;%s", place.file, copy));
    }
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
        if (warns && strstr(message, no_constructor) != NULL)
            cc_warning(place, "no constructor runs for a __shared__ variable");
    }
    return *last.file != 0;
}
