/* SPDX-License-Identifier: MIT
 * marks.c: reads the marks. tables.c writes the tables.
 */
#include "marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shared_mark {
    const char *function;
    unsigned id, bytes;
};

struct reader {
    struct cc_marks marks;
    const char *function; /* the function that the line is in */
    struct shared_mark *shared;
    size_t shared_count, shared_capacity;
};

static bool is_label_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '$';
}

/* The function that a label belongs to: gcc moves unlikely parts to `name.cold` and the like. */
static const char *function_of(const char *label, size_t length)
{
    static const char *const part[] = {".cold", ".part", ".isra", ".constprop", ".lto_priv"};
    char *name = cc_copy(label, length);

    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        char *found = strstr(name, part[i]);
        if (found != NULL)
            *found = 0;
    }
    return name;
}

static void read_label(struct reader *reader, const char *line)
{
    size_t length = 0;

    while (is_label_char(line[length]))
        length++;
    if (length == 0 || line[length] != ':' || cc_starts(line, ".L"))
        return;
    reader->function = function_of(line, length);
}

/* ---- marks ---- */

/* The numbers that a mark of a kernel has besides its symbol. */
static void read_kernel(struct reader *reader, const char *rest)
{
    struct cc_marks *marks = &reader->marks;
    struct cc_entry entry = {.call = reader->function};
    char *symbol = cc_alloc(strlen(rest) + 1);
    int decl;
    unsigned threads, count;

    if (sscanf(rest, "%d %s %u %u", &decl, symbol, &threads, &count) != 4)
        return;
    entry.decl = decl;
    entry.symbol = symbol;
    entry.threads = threads;
    entry.param_count = count;
    entry.param_bytes = cc_alloc((count + 1) * sizeof *entry.param_bytes);
    marks->entry = cc_grow(marks->entry, marks->entry_count, &marks->entry_capacity, sizeof entry);
    marks->entry[marks->entry_count++] = entry;
}

static void read_param(struct reader *reader, const char *rest)
{
    if (reader->marks.entry_count == 0)
        return;
    struct cc_entry *entry = &reader->marks.entry[reader->marks.entry_count - 1];
    if (entry->params_read < entry->param_count)
        entry->param_bytes[entry->params_read++] = (uint32_t)strtoul(rest, NULL, 10);
}

static void read_shared(struct reader *reader, const char *rest)
{
    struct shared_mark mark = {.function = reader->function};

    if (sscanf(rest, "%u %u", &mark.id, &mark.bytes) != 2)
        return;
    reader->shared =
        cc_grow(reader->shared, reader->shared_count, &reader->shared_capacity, sizeof mark);
    reader->shared[reader->shared_count++] = mark;
}

static void read_marked(struct reader *reader, const char *rest, struct cc_marked **list,
                        size_t *count, size_t *capacity)
{
    *list = cc_grow(*list, *count, capacity, sizeof **list);
    (*list)[(*count)++] = (struct cc_marked){atoi(rest), reader->function};
}

static void read_mark(struct reader *reader, const char *mark)
{
    struct cc_marks *m = &reader->marks;

    if (cc_starts(mark, "kernel "))
        read_kernel(reader, mark + strlen("kernel "));
    else if (cc_starts(mark, "param "))
        read_param(reader, mark + strlen("param "));
    else if (cc_starts(mark, "shared "))
        read_shared(reader, mark + strlen("shared "));
    else if (cc_starts(mark, "host "))
        read_marked(reader, mark + strlen("host "), &m->host, &m->host_count, &m->host_capacity);
    else if (cc_starts(mark, "stub "))
        read_marked(reader, mark + strlen("stub "), &m->stub, &m->stub_count, &m->stub_capacity);
}

static void read_line(struct reader *reader, const char *line)
{
    static const char sign[] = "# vgpu.";

    if (is_label_char(*line)) {
        read_label(reader, line);
        return;
    }
    line += strspn(line, " \t");
    if (cc_starts(line, sign))
        read_mark(reader, line + sizeof sign - 1);
}

/* ---- afterwards ---- */

static int in_order(const void *a, const void *b)
{
    const struct cc_entry *x = a, *y = b;

    if (x->decl != y->decl)
        return x->decl < y->decl ? -1 : 1;
    return strcmp(x->symbol, y->symbol);
}

/* A declaration inside a loop or an inlined function may have left several marks. */
static bool counted_before(const struct reader *reader, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (reader->shared[i].id == reader->shared[at].id &&
            reader->shared[i].bytes == reader->shared[at].bytes &&
            strcmp(reader->shared[i].function, reader->shared[at].function) == 0)
            return true;
    return false;
}

static void sum_shared(struct reader *reader)
{
    for (size_t i = 0; i < reader->shared_count; i++)
        for (size_t k = 0; k < reader->marks.entry_count; k++) {
            struct cc_entry *entry = &reader->marks.entry[k];
            if (strcmp(entry->symbol, reader->shared[i].function) == 0 &&
                !counted_before(reader, i))
                entry->shared_bytes += reader->shared[i].bytes;
        }
}

struct cc_marks cc_read_marks(const char *assembly)
{
    struct reader reader = {.function = ""};

    while (*assembly != 0) {
        size_t length = strcspn(assembly, "\n");
        if (is_label_char(*assembly) || memchr(assembly, '#', length) != NULL)
            read_line(&reader, cc_copy(assembly, length));
        assembly += length + (assembly[length] == '\n');
    }
    if (reader.marks.entry_count != 0)
        qsort(reader.marks.entry, reader.marks.entry_count, sizeof *reader.marks.entry, in_order);
    sum_shared(&reader);
    return reader.marks;
}
