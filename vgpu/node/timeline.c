/* SPDX-License-Identifier: MIT
 * timeline.c: collects what trace.c does not keep: arrows, the rates and bytes of links. See
 * timeline.h. Nothing here depends on anything but the order of the program's calls, so the same
 * program writes the same bytes in every run: processes are numbered as they came, streams as they
 * were used. timeline_json.c writes them down.
 */
#include "timeline.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flow.h"
#include "process.h"
#include "timeline_json.h"
#include "trace.h"

#define LIMIT (1u << 20) /* of samples, and of arrows */

static struct timeline all;
static uint64_t last_at[MAX_RESOURCES];    /* sample of each link, its number plus 1 */
static double last_bytes_s[MAX_RESOURCES]; /* and its rate */

void timeline_start(const struct topology *topology)
{
    all.topology = topology;
}

/* Room for one more of `size` bytes at the end of `*array`; false: there is none. */
static bool grow(void **array, uint32_t count, uint32_t *room, size_t size)
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

static void sample(uint64_t at_ps, int link, double bytes_s)
{
    static uint32_t room;
    struct timeline_sample *last = last_at[link] ? &all.sample[last_at[link] - 1] : NULL;
    if (last && last->at_ps == at_ps) {
        last->bytes_s = bytes_s;
    } else if (grow((void **)&all.sample, all.samples, &room, sizeof *all.sample)) {
        all.sample[all.samples++] = (struct timeline_sample){at_ps, bytes_s, link};
        last_at[link] = all.samples;
    }
    last_bytes_s[link] = bytes_s;
}

static void watch_rates(uint64_t at_ps, const double *bytes_s)
{
    for (int link = 0; link < all.topology->resource_count; link++)
        if (bytes_s[link] != last_bytes_s[link])
            sample(at_ps, link, bytes_s[link]);
}

void timeline_bytes(const struct route *route, uint64_t bytes)
{
    for (int k = 0; k < route->length; k++)
        all.bytes[route->resource[k]] += bytes;
}

/* ---- arrows ---- */

static void add_source(struct op *mark, uint32_t record)
{
    for (int i = 0; i < OP_SOURCES; i++) {
        if (mark->source[i] == record)
            return;
        if (mark->source[i] == 0) {
            mark->source[i] = record;
            return;
        }
    }
}

static void add_arrow(uint32_t from, const struct op *to)
{
    static uint32_t room;
    if (from && to->trace && grow((void **)&all.arrow, all.arrows, &room, sizeof *all.arrow))
        all.arrow[all.arrows++] = (struct timeline_arrow){from, (uint32_t)to->trace};
}

/* A mark passes on the operations that it stands for. */
void timeline_after(struct op *op, const struct op *dep)
{
    if (op->kind == OP_MARK && dep->kind != OP_MARK)
        add_source(op, (uint32_t)dep->trace);
    for (int i = 0; dep->kind == OP_MARK && i < OP_SOURCES && dep->source[i]; i++) {
        if (op->kind == OP_MARK)
            add_source(op, dep->source[i]);
        else
            add_arrow(dep->source[i], op);
    }
}

/* ---- programs ---- */

void timeline_restart(void)
{
    all.samples = all.arrows = 0;
    all.programs = 0;
    all.first_record = trace_total();
    memset(all.bytes, 0, sizeof all.bytes);
    memset(last_at, 0, sizeof last_at);
    flow_watch(NULL);
}

void timeline_program(struct process *process, int fd)
{
    struct stat stat;
    process->number = all.programs;
    if (all.programs < TIMELINE_PROGRAMS)
        all.pid[all.programs++] = process->pid;
    process->timeline_fd = -1;
    if (fd < 0 || fstat(fd, &stat) != 0 || !S_ISREG(stat.st_mode))
        return;
    process->timeline_fd = dup(fd);
    flow_watch(watch_rates);
}

void timeline_write(struct process *process)
{
    if (process->timeline_fd < 0)
        return;
    timeline_json(&all, process->timeline_fd);
    process->timeline_fd = -1;
}
