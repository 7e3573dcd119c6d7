/* SPDX-License-Identifier: MIT
 * unit.c: runs the cases that were linked; see unit.h.
 */
#include "unit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    LIMIT_S = 300, /* of the clock: on a busy machine a case may get a tenth of a processor */
    MOST_CORES = 4,
};

static struct unit *first, **last = &first;
static uint64_t state = 1;

void unit_add(struct unit *unit)
{
    *last = unit;
    last = &unit->next;
}

void unit_failed(const char *file, int line, const char *what, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "%s:%d: not so: %s: ", file, line, what);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    _exit(1);
}

const char *unit_says(const char *format, ...)
{
    static char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return text;
}

void unit_seed(uint64_t seed)
{
    state = seed * 0x9E3779B97F4A7C15ull + 88172645463325252ull;
}

uint64_t unit_dice(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % below;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int running, jobs = 1, failed;

/* Forks the case's process. */
static void start_unit(struct unit *unit)
{
    unit->began = seconds();
    fflush(stdout);
    unit->child = fork();
    if (unit->child == 0) {
        alarm(LIMIT_S);
        unit->body();
        exit(0); /* the leak checker has its say */
    }
    if (unit->child > 0)
        running++;
    else
        failed++, fprintf(stderr, "FAILED: %s: no process for it\n", unit->name);
}

static void report_unit(const struct unit *unit, int status)
{
    failed += status != 0;
    if (WIFSIGNALED(status))
        fprintf(stderr, "FAILED: %s: signal %d%s\n", unit->name, WTERMSIG(status),
                WTERMSIG(status) == 14 ? " (it did not end)" : "");
    else if (status != 0)
        fprintf(stderr, "FAILED: %s: exit status %d\n", unit->name, WEXITSTATUS(status));
    else
        printf("%5.0f ms  %s\n", (seconds() - unit->began) * 1e3, unit->name);
}

/* Waits until one of those that run has ended. */
static void await_unit(void)
{
    int status = -1;
    pid_t ended = wait(&status);
    for (const struct unit *unit = first; unit && ended > 0; unit = unit->next)
        if (unit->child == ended)
            report_unit(unit, status);
    running--;
}

static bool is_wanted(const struct unit *unit, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(unit->name, argv[i]) == 0)
            return true;
    return argc == 1;
}

int main(int argc, char **argv)
{
    int count = 0;
    bool list = argc > 1 && strcmp(argv[1], "--list") == 0;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    jobs = cores < 1 ? 2 : cores > MOST_CORES ? 2 * MOST_CORES : 2 * (int)cores; /* many wait */
    for (struct unit *unit = first; unit; unit = unit->next) {
        if (!list && !is_wanted(unit, argc, argv))
            continue;
        count++;
        if (list) {
            puts(unit->name);
            continue;
        }
        if (running == jobs)
            await_unit();
        start_unit(unit);
    }
    while (running > 0)
        await_unit();
    if (!list)
        printf("%d cases, %d failed\n", count, failed);
    return failed > 0 || count == 0;
}
