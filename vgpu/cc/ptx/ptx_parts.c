/* SPDX-License-Identifier: MIT
 * ptx_parts.c: see ptx_parts.h. The text's directives are found, and the names in them; what an
 * instruction means is not looked at. A word that only looks like the name of a variable makes
 * parts larger than they need be, never wrong.
 */
#include "ptx_parts.h"

#include <stdlib.h>
#include <string.h>

#include "ptx_module.h"

enum directive_kind { OTHER, FUNCTION, KERNEL, VARIABLE };

struct directive {
    const char *from, *end, *name;
    enum directive_kind kind;
    bool is_single; /* there must be one of it: a variable, or a function with static ones */
    bool is_root;   /* the host can name it, or there must be one of it */
    size_t *use, uses, use_room; /* directives with the names in it */
    size_t group;                /* the least number of a root in the same part */
    unsigned part;
};

struct symbol {
    const char *name;
    size_t directive;
};

struct cc_ptx_parts {
    const char *text;
    struct directive *directive;
    size_t directives, room;
    struct symbol *symbol; /* by name */
    size_t symbols;
    size_t *stack; /* of mark_with_uses() */
    unsigned count;
};

/* ---- words ---- */

static const char *skip_to_word(const char *at)
{
    while (*(at = cc_ptx_skip_blank(at)) == '\n')
        at++;
    return at;
}

static bool is_in_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != 0 && strchr("_$%.", c) != NULL);
}

/* Of the name, of the string in its quotes, or of the one character. */
static size_t length_of_name(const char *at)
{
    size_t length = 0;

    if (*at == '"')
        return 1 + strcspn(at + 1, "\"") + (strchr(at + 1, '"') != NULL);
    while (is_in_name(at[length]))
        length++;
    return length != 0 ? length : *at != 0;
}

static bool word_is(const char *at, const char *word)
{
    return length_of_name(at) == strlen(word) && cc_starts(at, word);
}

static bool word_is_among(const char *at, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (word_is(at, words[i]))
            return true;
    return false;
}

/* ---- directives ---- */

/* Behind the semicolon, or the brace that closes the first pair. */
static const char *find_directive_end(const char *at, bool has_body)
{
    for (int depth = 0; *(at = skip_to_word(at)) != 0; at += length_of_name(at)) {
        depth += *at == '{' ? 1 : *at == '}' ? -1 : 0;
        if (depth == 0 && (*at == ';' || (*at == '}' && has_body)))
            return at + 1;
    }
    return at;
}

/* The first word that is not a directive, a number or in parentheses: ".func (.param .b32 r) sum",
 * ".align 4 .b8 table[16]". */
static const char *directive_name(const char *at, const char *end)
{
    int depth = 0;

    for (at = skip_to_word(at); at < end; at = skip_to_word(at + length_of_name(at))) {
        depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
        if (depth == 0 && is_in_name(*at) && *at != '.' && (*at < '0' || *at > '9'))
            return cc_copy(at, length_of_name(at));
    }
    return NULL;
}

static bool is_linkage_word(const char *at)
{
    static const char *const words[] = {".visible", ".weak", ".common", ".extern"};

    return word_is_among(at, words, sizeof words / sizeof *words);
}

static bool is_whole_line(const char *at)
{
    static const char *const words[] = {".version", ".target", ".address_size", ".file"};

    return cc_starts(at, "@@") || word_is_among(at, words, sizeof words / sizeof *words);
}

static bool is_variable_word(const char *at)
{
    static const char *const words[] = {".global", ".const", ".shared"};

    return word_is_among(at, words, sizeof words / sizeof *words);
}

static bool stands_in(const char *at, const char *end, const char *word)
{
    for (at = skip_to_word(at); at < end; at = skip_to_word(at + length_of_name(at)))
        if (word_is(at, word))
            return true;
    return false;
}

/* The directive at `from`; false: it is not known, or needs all others: host code has the addresses
 * of managed variables when the module has been loaded. */
static bool split_directive(struct directive *d, const char *from)
{
    const char *at = from;

    *d = (struct directive){.from = from};
    while (is_linkage_word(at))
        at = skip_to_word(at + length_of_name(at));
    if (word_is(at, ".func") || word_is(at, ".entry")) {
        d->kind = at[1] == 'e' ? KERNEL : FUNCTION;
        d->end = find_directive_end(at, true);
    } else if (is_variable_word(at)) {
        d->kind = VARIABLE;
        d->end = find_directive_end(at, false);
        d->is_single = at[1] != 's';
        if (stands_in(at, d->end, ".managed"))
            return false;
    } else if (is_whole_line(at)) {
        d->end = at + strcspn(at, "\n");
    } else if (word_is(at, ".section") || word_is(at, ".pragma")) {
        d->end = find_directive_end(at, true);
    } else {
        return false;
    }
    if (d->kind != OTHER && (d->name = directive_name(at + length_of_name(at), d->end)) == NULL)
        return false;
    d->is_single &= d->kind == VARIABLE && !cc_ptx_is_compilers(d->name);
    d->is_root = d->kind == KERNEL || d->is_single;
    return true;
}

static bool split_text(struct cc_ptx_parts *p)
{
    for (const char *at = skip_to_word(p->text); *at != 0;
         at = skip_to_word(p->directive[p->directives - 1].end)) {
        p->directive = cc_grow(p->directive, p->directives, &p->room, sizeof *p->directive);
        if (!split_directive(&p->directive[p->directives++], at))
            return false;
    }
    return true;
}

/* ---- names ---- */

static int order_symbols(const void *a, const void *b)
{
    return strcmp(((const struct symbol *)a)->name, ((const struct symbol *)b)->name);
}

static void list_symbols(struct cc_ptx_parts *p)
{
    p->symbol = cc_alloc((p->directives + 1) * sizeof *p->symbol);
    for (size_t i = 0; i < p->directives; i++)
        if (p->directive[i].name != NULL)
            p->symbol[p->symbols++] = (struct symbol){p->directive[i].name, i};
    qsort(p->symbol, p->symbols, sizeof *p->symbol, order_symbols);
}

/* The first symbol whose name is not before the word, which need not be its name. */
static size_t symbol_from(const struct cc_ptx_parts *p, const char *word, size_t length)
{
    size_t low = 0, high = p->symbols;

    while (low < high) {
        size_t middle = (low + high) / 2;
        const char *name = p->symbol[middle].name;
        int order = strncmp(name, word, length);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_named(struct cc_ptx_parts *p, struct directive *d, const char *word, size_t length)
{
    for (size_t i = symbol_from(p, word, length);
         i < p->symbols && cc_is(word, length, p->symbol[i].name); i++) {
        size_t used = p->symbol[i].directive;
        bool known = false;
        for (size_t k = 0; k < d->uses && !known; k++)
            known = d->use[k] == used;
        if (known)
            continue;
        d->use = cc_grow(d->use, d->uses, &d->use_room, sizeof *d->use);
        d->use[d->uses++] = used;
    }
}

/* Instructions' own names are no uses: a kernel may be called "add". A static variable of a
 * function begins a statement of it. */
static void find_named(struct cc_ptx_parts *p, struct directive *d)
{
    bool begins = false;

    for (const char *at = d->from; at < d->end; at = skip_to_word(at + length_of_name(at))) {
        if (strchr(";{}:", *at) != NULL) {
            begins = d->kind != VARIABLE;
        } else if (is_in_name(*at)) {
            if (begins && (word_is(at, ".global") || word_is(at, ".const")))
                d->is_single = d->is_root = true;
            if (!begins)
                add_named(p, d, at, length_of_name(at));
            begins = false;
        } else if (*at == '@') { /* @p bra, @!p bra */
            at = skip_to_word(at + 1);
            at += *at == '!';
            at = skip_to_word(at);
        }
    }
}

/* ---- parts ---- */

/* Marks what directive `root` needs with `mark`. */
static void mark_with_uses(const struct cc_ptx_parts *p, size_t root, size_t *marked, size_t mark)
{
    size_t *stack = p->stack, depth = 0;

    marked[root] = mark;
    stack[depth++] = root;
    while (depth > 0) {
        const struct directive *d = &p->directive[stack[--depth]];
        for (size_t i = 0; i < d->uses; i++)
            if (marked[d->use[i]] != mark) {
                marked[d->use[i]] = mark;
                stack[depth++] = d->use[i];
            }
    }
}

static size_t root_group(const struct cc_ptx_parts *p, size_t directive)
{
    while (p->directive[directive].group != directive)
        directive = p->directive[directive].group;
    return directive;
}

static void join_groups(const struct cc_ptx_parts *p, size_t a, size_t b)
{
    a = root_group(p, a), b = root_group(p, b);
    p->directive[a > b ? a : b].group = a > b ? b : a;
}

/* Joins each root with the single ones that it needs, and variables that no kernel needs with each
 * other. */
static void join_roots(const struct cc_ptx_parts *p)
{
    size_t *marked = cc_alloc((p->directives + 1) * sizeof *marked), alone = p->directives;
    bool *has_kernel = cc_alloc(p->directives + 1);

    for (size_t i = 0; i < p->directives; i++) {
        if (!p->directive[i].is_root)
            continue;
        mark_with_uses(p, i, marked, i + 1);
        for (size_t k = 0; k < p->directives; k++)
            if (marked[k] == i + 1 && (p->directive[k].is_single || p->directive[k].kind == KERNEL))
                join_groups(p, i, k);
    }
    for (size_t i = 0; i < p->directives; i++)
        has_kernel[root_group(p, i)] |= p->directive[i].kind == KERNEL;
    for (size_t i = 0; i < p->directives; i++)
        if (p->directive[i].is_root && !has_kernel[root_group(p, i)]) {
            join_groups(p, i, alone < p->directives ? alone : i);
            alone = root_group(p, i);
        }
}

/* Numbers the groups by their first roots; many are put together. */
static void number_parts(struct cc_ptx_parts *p)
{
    size_t groups = 0;

    for (size_t i = 0; i < p->directives; i++)
        groups += p->directive[i].is_root && root_group(p, i) == i;
    p->count = groups < CC_PTX_PARTS_MAX ? (unsigned)groups : CC_PTX_PARTS_MAX;
    for (size_t i = 0, next = 0; i < p->directives; i++) {
        struct directive *d = &p->directive[i];
        if (!d->is_root)
            continue;
        size_t first = root_group(p, i);
        d->part = first == i ? (unsigned)(next++ * p->count / groups) : p->directive[first].part;
    }
}

struct cc_ptx_parts *cc_ptx_divide(const char *text)
{
    struct cc_ptx_parts *p = cc_alloc(sizeof *p);

    p->text = text;
    if (!split_text(p)) {
        p->count = 1;
        return p;
    }
    list_symbols(p);
    p->stack = cc_alloc((p->directives + 1) * sizeof *p->stack);
    for (size_t i = 0; i < p->directives; i++) {
        p->directive[i].group = i;
        if (p->directive[i].kind != OTHER)
            find_named(p, &p->directive[i]);
    }
    join_roots(p);
    number_parts(p);
    return p;
}

unsigned cc_ptx_part_count(const struct cc_ptx_parts *parts)
{
    return parts->count;
}

unsigned cc_ptx_part_of(const struct cc_ptx_parts *parts, const char *symbol)
{
    for (size_t i = symbol_from(parts, symbol, strlen(symbol));
         i < parts->symbols && strcmp(parts->symbol[i].name, symbol) == 0; i++)
        if (parts->directive[parts->symbol[i].directive].is_root)
            return parts->directive[parts->symbol[i].directive].part;
    return 0;
}

const char *cc_ptx_part_text(const struct cc_ptx_parts *parts, unsigned part)
{
    size_t *marked = cc_alloc((parts->directives + 1) * sizeof *marked);
    char *text = cc_copy(parts->text, strlen(parts->text));

    for (size_t i = 0; i < parts->directives; i++)
        if (parts->directive[i].is_root && parts->directive[i].part == part)
            mark_with_uses(parts, i, marked, 1);
    for (size_t i = 0; i < parts->directives; i++) {
        const struct directive *d = &parts->directive[i];
        for (const char *at = d->from; marked[i] == 0 && d->kind != OTHER && at < d->end; at++)
            if (*at != '\n')
                text[at - parts->text] = ' ';
    }
    return text;
}
