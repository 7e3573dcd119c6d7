/* SPDX-License-Identifier: MIT
 * cost.c: see cost.h. When it is switched off, it costs one test.
 */
#include "cost.h"

#include <stdlib.h>
#include <time.h>

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void cost_start(struct cost *c)
{
    const char *path = getenv("VGPU_CLOCK_COST");
    if (path && *path)
        c->file = fopen(path, "ae");
    if (c->file)
        c->begun_ns = now_ns();
}

void cost_report(const struct cost *c)
{
    if (!c->file)
        return;
    fprintf(c->file, "%llu %llu %llu\n", (unsigned long long)c->spent_ns,
            (unsigned long long)(now_ns() - c->begun_ns), (unsigned long long)c->operations);
    fclose(c->file);
}

void cost_enter(struct cost *c)
{
    if (c->file && c->depth++ == 0)
        c->since_ns = now_ns();
}

void cost_leave(struct cost *c)
{
    if (c->file && --c->depth == 0)
        c->spent_ns += now_ns() - c->since_ns;
}

void cost_pause(struct cost *c)
{
    if (c->file && c->depth)
        c->spent_ns += now_ns() - c->since_ns;
}

void cost_resume(struct cost *c)
{
    if (c->file && c->depth)
        c->since_ns = now_ns();
}
