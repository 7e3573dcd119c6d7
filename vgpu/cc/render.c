/* SPDX-License-Identifier: MIT
 * render.c: see render.h.
 */
#include "render.h"

#include <string.h>

struct printer {
    const struct cc_source *source;
    struct cc_text out;
    size_t at;   /* of the source's text: what is before it is printed or given up */
    bool synced; /* the compiler's idea of line and column is right for source text from `at` */
};

/* ---- places ---- */

static void put_marker(struct cc_text *out, struct cc_place place)
{
    cc_putf(out, "\n# %d \"", place.line);
    for (const char *c = place.file; *c != 0; c++) {
        if (*c == '"' || *c == '\\')
            cc_puts(out, "\\");
        cc_put(out, c, 1);
    }
    cc_puts(out, "\"\n");
    for (int column = 1; column < place.column; column++)
        cc_puts(out, " ");
}

static struct cc_place end_place(const struct cc_source *source, const struct cc_unit *unit)
{
    struct cc_place place = unit->place;

    for (size_t i = unit->begin; i < unit->end; i++) {
        place.column++;
        if (source->text[i] == '\n') {
            place.line++;
            place.column = 1;
        }
    }
    return place;
}

/* ---- what is between units ---- */

/* No line marker or system header in it: white space and comments only. */
static bool is_plain(const char *text, size_t length)
{
    return memchr(text, '#', length) == NULL;
}

/* Prints what is between the last unit and text[to], and stands at `place` then. */
static void put_gap(struct printer *p, size_t to, const struct cc_unit *last, struct cc_place place)
{
    const char *gap = p->source->text + p->at;
    size_t length = to - p->at;

    if (!p->synced && is_plain(gap, length)) {
        put_marker(&p->out, place);
    } else {
        if (!p->synced && last != NULL)
            put_marker(&p->out, end_place(p->source, last));
        cc_put(&p->out, gap, length);
    }
    p->at = to;
    p->synced = true;
}

/* ---- units ---- */

static bool is_edited(const struct cc_source *source, const struct cc_unit *unit)
{
    if (unit->directive)
        return unit->dropped;
    for (uint32_t i = unit->first; i < unit->first + unit->count; i++) {
        const struct cc_token *token = &source->token[i];
        if (token->before != NULL || token->after != NULL || token->deleted)
            return true;
    }
    return false;
}

/* Nothing of the unit is printed. */
static bool is_gone(const struct cc_source *source, const struct cc_unit *unit)
{
    if (unit->directive)
        return unit->dropped;
    for (uint32_t i = unit->first; i < unit->first + unit->count; i++) {
        const struct cc_token *token = &source->token[i];
        if (token->before != NULL || token->after != NULL || !token->deleted)
            return false;
    }
    return unit->count != 0;
}

/* A macro invocation with edits: its expansion is written out. */
static void put_expansion(struct printer *p, const struct cc_unit *unit)
{
    for (uint32_t i = unit->first; i < unit->first + unit->count; i++) {
        const struct cc_token *token = &p->source->token[i];
        if (token->space && i != unit->first)
            cc_puts(&p->out, " ");
        if (token->before != NULL)
            cc_puts(&p->out, token->before);
        if (!token->deleted)
            cc_put(&p->out, token->text, token->length);
        if (token->after != NULL)
            cc_puts(&p->out, token->after);
    }
    p->synced = false;
}

/* One lexeme with edits. */
static void put_lexeme(struct printer *p, const struct cc_unit *unit)
{
    const struct cc_token *token = &p->source->token[unit->first];

    if (token->before != NULL) {
        cc_puts(&p->out, token->before);
        p->synced = false;
    }
    if (token->deleted) {
        p->synced = false;
    } else {
        if (!p->synced)
            put_marker(&p->out, unit->place);
        cc_put(&p->out, token->text, token->length);
        p->synced = true;
    }
    if (token->after != NULL) {
        cc_puts(&p->out, token->after);
        p->synced = false;
    }
}

static void put_unit(struct printer *p, const struct cc_unit *unit, const struct cc_unit *last)
{
    bool edited = is_edited(p->source, unit), gone = is_gone(p->source, unit);
    size_t gap = unit->begin - p->at;

    if (!gone || !is_plain(p->source->text + p->at, gap))
        put_gap(p, unit->begin, last, unit->place);
    if (!edited)
        cc_put(&p->out, p->source->text + unit->begin, unit->end - unit->begin);
    else if (gone)
        p->synced = false;
    else if (unit->macro)
        put_expansion(p, unit);
    else
        put_lexeme(p, unit);
    p->at = unit->end;
}

struct cc_text cc_render(const struct cc_source *source)
{
    struct printer p = {.source = source, .synced = true};
    const struct cc_unit *last = NULL;

    for (size_t i = 0; i < source->unit_count; i++) {
        put_unit(&p, &source->unit[i], last);
        last = &source->unit[i];
    }
    if (last != NULL)
        put_gap(&p, source->length, last, end_place(source, last));
    else
        cc_put(&p.out, source->text, source->length);
    return p.out;
}

const char *cc_render_range(const struct cc_source *source, int from, int to)
{
    struct cc_text text = {0};

    if (from >= to)
        return "";
    const struct cc_unit *first = &source->unit[source->token[from].unit];
    const struct cc_unit *last = &source->unit[source->token[to - 1].unit];
    bool whole = first->first == (uint32_t)from && last->first + last->count == (uint32_t)to;
    if (!whole)
        return cc_token_text(source, from, to);
    put_marker(&text, first->place);
    cc_put(&text, source->text + first->begin, last->end - first->begin);
    return text.data;
}
