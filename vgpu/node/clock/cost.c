/* SPDX-License-Identifier: MIT
 * cost.c: see cost.h. When it is switched off, it costs one test.
 */
#include "cost.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static FILE *file;
static uint64_t begun_ns, since_ns, spent_ns, operations;
static int depth;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void cost_start(void)
{
    const char *path = getenv("VGPU_CLOCK_COST");
    if (path && *path)
        file = fopen(path, "ae");
    if (file)
        begun_ns = now_ns();
}

void cost_report(void)
{
    if (!file)
        return;
    fprintf(file, "%llu %llu %llu\n", (unsigned long long)spent_ns,
            (unsigned long long)(now_ns() - begun_ns), (unsigned long long)operations);
    fclose(file);
}

void cost_enter(void)
{
    if (file && depth++ == 0)
        since_ns = now_ns();
}

void cost_leave(void)
{
    if (file && --depth == 0)
        spent_ns += now_ns() - since_ns;
}

void cost_pause(void)
{
    if (file && depth)
        spent_ns += now_ns() - since_ns;
}

void cost_resume(void)
{
    if (file && depth)
        since_ns = now_ns();
}

void cost_operation(void)
{
    operations++;
}
