/* SPDX-License-Identifier: MIT
 * rewrite.c: see rewrite.h.
 */
#include "rewrite.h"

#include <string.h>

#include "lex.h"

struct word {
    struct cc_lexeme lexeme;
    const char *instead; /* replacement; null: unchanged */
};

struct words {
    struct word *item; /* the last one has no length */
    size_t count, capacity;
    bool changed;
};

static void read_words(struct words *all, const char *text, size_t length)
{
    struct cc_lexer lexer;
    struct word word;

    cc_lex_start(&lexer, text, length);
    do {
        word = (struct word){.lexeme = cc_lex(&lexer)};
        all->item = cc_grow(all->item, all->count, &all->capacity, sizeof word);
        all->item[all->count++] = word;
    } while (word.lexeme.length != 0);
}

static bool word_is(const struct words *all, size_t at, const char *text)
{
    const struct cc_lexeme *lexeme = at < all->count ? &all->item[at].lexeme : NULL;

    return lexeme != NULL && cc_is(lexeme->text, lexeme->length, text);
}

/* Whether three of them follow in a row; *adjacent: without anything between. */
static bool are_three(const struct words *all, size_t at, const char *text, bool *adjacent)
{
    if (!word_is(all, at, text) || !word_is(all, at + 1, text) || !word_is(all, at + 2, text))
        return false;
    *adjacent = !all->item[at + 1].lexeme.space && !all->item[at + 2].lexeme.space;
    return true;
}

static void add_change(struct words *all, size_t at, const char *instead)
{
    all->item[at].instead = instead;
    all->changed = true;
}

/* ---- launches ---- */

struct launch {
    size_t begin, end;             /* the first word inside, and the first of >>> */
    size_t argument[4], arguments; /* where each begins */
    bool pack;
};

static int depth_change(const struct words *all, size_t at)
{
    if (word_is(all, at, "(") || word_is(all, at, "[") || word_is(all, at, "{"))
        return 1;
    return word_is(all, at, ")") || word_is(all, at, "]") || word_is(all, at, "}") ? -1 : 0;
}

/* Finds the >>> of the launch: the last one before a parenthesis, in the same statement. */
static bool find_end(const struct words *all, struct launch *launch)
{
    bool adjacent;
    int depth = 0;

    launch->end = 0;
    for (size_t at = launch->begin; at + 3 < all->count; at++) {
        depth += depth_change(all, at);
        bool next = are_three(all, at, "<", &adjacent) && adjacent;
        if (depth < 0 || (depth == 0 && (next || word_is(all, at, ";"))))
            break;
        if (depth == 0 && are_three(all, at, ">", &adjacent) && word_is(all, at + 3, "("))
            launch->end = at;
    }
    return launch->end != 0;
}

static void find_arguments(const struct words *all, struct launch *launch)
{
    bool adjacent;
    int depth = 0;

    launch->argument[launch->arguments++] = launch->begin;
    for (size_t at = launch->begin; at < launch->end; at++) {
        depth += depth_change(all, at);
        if (depth == 0 && word_is(all, at, ",") && launch->arguments < 4)
            launch->argument[launch->arguments++] = at + 1;
        launch->pack |= depth == 0 && are_three(all, at, ".", &adjacent);
    }
}

static const char *text_of(const struct words *all, size_t from, size_t to)
{
    struct cc_text text = {0};

    for (size_t at = from; at < to; at++) {
        const struct cc_lexeme *lexeme = &all->item[at].lexeme;
        if (lexeme->space && at > from)
            cc_puts(&text, " ");
        cc_put(&text, lexeme->text, lexeme->length);
    }
    return text.data;
}

static void spread_pack(struct words *all, const struct launch *launch)
{
    const char *all_of_it = text_of(all, launch->begin, launch->end);

    add_change(all, launch->begin,
               cc_format("vgpu_grid(%s), vgpu_block(%s), vgpu_shared_bytes(%s), vgpu_stream(%s)",
                         all_of_it, all_of_it, all_of_it, all_of_it));
    for (size_t at = launch->begin + 1; at < launch->end; at++)
        add_change(all, at, "");
}

/* `at`: the first of <<<. */
static void rewrite_launch(struct words *all, size_t at, bool adjacent)
{
    struct launch launch = {.begin = at + 3};

    if (!find_end(all, &launch))
        return;
    find_arguments(all, &launch);
    if (launch.pack)
        spread_pack(all, &launch);
    for (size_t i = 0; i < launch.arguments && i < 2 && !launch.pack; i++)
        if (word_is(all, launch.argument[i], "{"))
            add_change(all, launch.argument[i], "dim3{");
    if (adjacent)
        return;
    for (size_t i = 0; i < 3; i++) {
        add_change(all, at + i, i == 0 ? "<<<" : "");
        add_change(all, launch.end + i, i == 0 ? ">>>" : "");
    }
}

/* ---- __shared__ objects ---- */

/* Index of the declared name in `__shared__ T name[2][3];`; 0: not of this form. */
static size_t find_declared(const struct words *all, size_t at, size_t *end)
{
    size_t name = 0;
    int depth = 0; /* of < > */

    for (at++; !word_is(all, at, ";"); at++) {
        depth += word_is(all, at, "<") - word_is(all, at, ">");
        if (at >= all->count || (word_is(all, at, ",") && depth == 0) || word_is(all, at, "=") ||
            word_is(all, at, "(") || word_is(all, at, "{"))
            return 0;
        if (name == 0 && (word_is(all, at + 1, ";") || word_is(all, at + 1, "[")))
            name = at;
    }
    *end = at;
    return name;
}

/* From Clang 16 on a quoted line begins with its number: "   15 | ". */
static const char *skip_line_number(const char *quoted)
{
    const char *at = quoted + strspn(quoted, " ");
    size_t digits = strspn(at, "0123456789");

    return digits > 0 && strncmp(at + digits, " | ", 3) == 0 ? at + digits + 3 : quoted;
}

/* Whether the messages quote the word's line below the error about such objects. */
static bool is_quoted(const struct words *all, size_t at, const char *refused)
{
    const char *line = all->item[at].lexeme.text, *first = all->item[0].lexeme.text;

    while (line > first && line[-1] != '\n')
        line--;
    size_t length = strcspn(line, "\n");
    while ((refused = strstr(refused, CC_NO_SHARED_START)) != NULL) {
        refused += strcspn(refused, "\n");
        if (*refused == '\n' && strncmp(skip_line_number(refused + 1), line, length) == 0)
            return true;
    }
    return false;
}

/* `at`: the word __shared__. */
static void rewrite_object(struct words *all, size_t at)
{
    size_t end, found = find_declared(all, at, &end);

    if (found == 0 || (at > 0 && word_is(all, at - 1, "extern")))
        return;
    const char *name = text_of(all, found, found + 1);
    add_change(all, at, "typedef");
    add_change(all, found, cc_format("vgpu_type_%s", name));
    add_change(all, end,
               cc_format("; __shared__ __attribute__((aligned(__alignof__(vgpu_type_%s)))) "
                         "unsigned char vgpu_bytes_%s[sizeof(vgpu_type_%s)]; "
                         "vgpu_type_%s &%s = *(vgpu_type_%s *)vgpu_bytes_%s;",
                         name, name, name, name, name, name, name));
}

/* ---- inline PTX ---- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || c == '_';
}

/* A string of an asm statement with "%name" as "%%name"; null: it has none. */
static const char *with_registers(const struct cc_lexeme *lexeme)
{
    const char *text = lexeme->text, *end = text + lexeme->length;
    struct cc_text out = {0};
    bool changed = false;

    for (const char *at = text; at < end; at++) {
        bool doubled = *at == '%' && at + 2 < end && at[1] == '%';
        bool name = *at == '%' && at + 2 < end && is_letter(at[1]) && is_letter(at[2]);
        cc_put(&out, name ? "%%" : at, name || doubled ? 2 : 1);
        at += doubled;
        changed |= name;
    }
    return changed ? out.data : NULL;
}

/* `at`: the word asm. If operands follow, its strings are instructions; else no % begins a
 * register.
 */
static void rewrite_asm(struct words *all, size_t at)
{
    at++;
    while (word_is(all, at, "volatile") || word_is(all, at, "__volatile__"))
        at++;
    size_t first = at + 1, end = first;
    while (end < all->count && *all->item[end].lexeme.text == '"')
        end++;
    if (!word_is(all, at, "(") || (!word_is(all, end, ":") && !word_is(all, end, "::")))
        return;
    for (at = first; at < end; at++) {
        const char *instead = with_registers(&all->item[at].lexeme);
        if (instead != NULL)
            add_change(all, at, instead);
    }
}

/* ---- directives ---- */

/* An alias of host code: device code has neither of the two names. */
static bool drop_weak_aliases(char *text)
{
    static const char weak[] = "#pragma weak ";
    bool dropped = false;

    for (char *at = text; (at = strstr(at, weak)) != NULL; at++) {
        size_t length = strcspn(at, "\n");
        if ((at == text || at[-1] == '\n') && memchr(at, '=', length) != NULL) {
            memset(at, ' ', length);
            dropped = true;
        }
    }
    return dropped;
}

/* ---- the whole text ---- */

static void rewrite_words(struct words *all, const char *refused)
{
    bool adjacent;

    for (size_t at = 0; at < all->count; at++) {
        if (word_is(all, at, "__shared__") && word_is(all, at + 1, "alignas"))
            add_change(all, at + 1, "_Alignas");
        else if (word_is(all, at, "__shared__") && is_quoted(all, at, refused))
            rewrite_object(all, at);
        else if (word_is(all, at, "asm") || word_is(all, at, "__asm__") ||
                 word_is(all, at, "__asm"))
            rewrite_asm(all, at);
        if (!are_three(all, at, "<", &adjacent))
            continue;
        if (at > 0 && word_is(all, at - 1, "operator"))
            add_change(all, at + 1, "< ");
        else
            rewrite_launch(all, at, adjacent);
        at += 2;
    }
}

static struct cc_text joined(const struct words *all, const char *text, size_t length)
{
    struct cc_text out = {0};
    const char *done = text;

    for (size_t i = 0; i < all->count && all->changed; i++) {
        const struct word *word = &all->item[i];
        if (word->instead == NULL)
            continue;
        cc_put(&out, done, (size_t)(word->lexeme.text - done));
        cc_puts(&out, word->instead);
        done = word->lexeme.text + word->lexeme.length;
    }
    cc_put(&out, done, (size_t)(text + length - done));
    return out;
}

const char *cc_rewrite(const char *text, size_t length, const char *refused, bool device,
                       size_t *new_length)
{
    struct words all = {0};

    read_words(&all, text, length);
    rewrite_words(&all, refused);
    struct cc_text out = joined(&all, text, length);
    bool dropped = device && out.length != 0 && drop_weak_aliases(out.data);
    *new_length = out.length;
    return all.changed || dropped ? out.data : NULL;
}
