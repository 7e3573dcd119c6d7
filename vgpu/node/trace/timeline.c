/* SPDX-License-Identifier: MIT
 * timeline.c: see timeline.h. Everything depends only on the order of the program's calls, so a
 * program produces the same bytes in every run: processes are numbered in order of arrival, streams
 * in order of use. timeline_json.c writes the result.
 */
#include "timeline.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Limit of samples, of arrows, and of calls. */
#define LIMIT (1u << 20)

/* Makes room for one more element of `size` bytes; false: host memory ran out, or LIMIT is reached.
 */
static bool grow_array(void **array, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room)
        return true;
    uint32_t more = *room ? 2 * *room : 256;
    void *grown = count < LIMIT ? realloc(*array, more * size) : NULL;
    if (!grown)
        return false;
    *array = grown;
    *room = more;
    return true;
}

/* ---- links ---- */

static void add_sample(struct timeline *t, uint64_t at_ps, int link, double bytes_s)
{
    struct timeline_sample *last = t->last_at[link] ? &t->sample[t->last_at[link] - 1] : NULL;
    if (last && last->at_ps == at_ps) {
        last->bytes_s = bytes_s;
    } else if (grow_array((void **)&t->sample, t->samples, &t->sample_room, sizeof *t->sample)) {
        t->sample[t->samples++] = (struct timeline_sample){at_ps, bytes_s, link};
        t->last_at[link] = t->samples;
    }
    t->last_bytes_s[link] = bytes_s;
}

void timeline_rates(struct timeline *t, uint64_t at_ps, const double *bytes_s)
{
    for (int link = 0; link < t->topology->resource_count; link++)
        if (bytes_s[link] != t->last_bytes_s[link])
            add_sample(t, at_ps, link, bytes_s[link]);
}

void timeline_bytes(struct timeline *t, const struct route *route, uint64_t bytes)
{
    for (int k = 0; k < route->length; k++)
        t->bytes[route->resource[k]] += bytes;
}

/* ---- arrows ---- */

static void add_source(struct op *mark, uint32_t record)
{
    for (int i = 0; i < OP_SOURCES; i++) {
        if (mark->trace.source[i] == record)
            return;
        if (mark->trace.source[i] == 0) {
            mark->trace.source[i] = record;
            return;
        }
    }
}

static void add_arrow(struct timeline *t, uint32_t from, const struct op *to)
{
    if (from && to->trace.record &&
        grow_array((void **)&t->arrow, t->arrows, &t->arrow_room, sizeof *t->arrow))
        t->arrow[t->arrows++] = (struct timeline_arrow){from, (uint32_t)to->trace.record};
}

/* A mark stands for the operations that it depends on. */
void timeline_after(struct timeline *t, struct op *op, const struct op *dep)
{
    if (op->kind == OP_MARK && dep->kind != OP_MARK)
        add_source(op, (uint32_t)dep->trace.record);
    for (int i = 0; dep->kind == OP_MARK && i < OP_SOURCES && dep->trace.source[i]; i++) {
        if (op->kind == OP_MARK)
            add_source(op, dep->trace.source[i]);
        else
            add_arrow(t, dep->trace.source[i], op);
    }
}

/* ---- programs ---- */

void timeline_call(struct timeline *t, const struct timeline_call *call)
{
    if (grow_array((void **)&t->call, t->calls, &t->call_room, sizeof *t->call))
        t->call[t->calls++] = *call;
}

void timeline_program(struct timeline *t, pid_t pid)
{
    if (t->programs < TIMELINE_PROGRAMS)
        t->pid[t->programs++] = pid;
}

void timeline_restart(struct timeline *t, uint64_t first_record)
{
    t->samples = t->arrows = t->calls = 0;
    t->programs = 0;
    t->first_record = first_record;
    memset(t->bytes, 0, sizeof t->bytes);
    memset(t->last_at, 0, sizeof t->last_at);
}

void timeline_free(struct timeline *t)
{
    free(t->sample);
    free(t->arrow);
    free(t->call);
}
