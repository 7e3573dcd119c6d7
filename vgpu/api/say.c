/* SPDX-License-Identifier: MIT
 * say.c: sentences for the person in front of the program. Each distinct one is said once: a
 * mistake in a loop fills no screen. No locks, so that a forked child or a full pipe never hangs on
 * one.
 */
#define _GNU_SOURCE
#include "runtime.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAID_MAX 1024

static _Atomic uint64_t said[SAID_MAX];

static uint64_t hash_of(const char *text)
{
    uint64_t hash = 14695981039346656037ull;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211ull;
    return hash ? hash : 1;
}

/* True the first time; also when the table is full, since saying twice beats silence. */
static bool first_time(const char *text)
{
    uint64_t hash = hash_of(text);
    for (size_t i = 0; i < SAID_MAX; i++) {
        _Atomic uint64_t *slot = &said[(hash + i) % SAID_MAX];
        uint64_t seen = 0;
        if (atomic_compare_exchange_strong(slot, &seen, hash))
            return true;
        if (seen == hash)
            return false;
    }
    return true;
}

bool vgpu__quiet(void)
{
    const char *quiet = getenv("VGPU_QUIET");
    return quiet && strcmp(quiet, "1") == 0;
}

static void say(const char *call, const char *format, va_list args)
{
    char line[1280];
    int head = snprintf(line, sizeof line, "vgpu: %s: ", call);
    if (head < 0 || (size_t)head >= sizeof line)
        return;
    vsnprintf(line + head, sizeof line - (size_t)head, format, args);
    if (vgpu__quiet() || !first_time(line))
        return;
    fprintf(stderr, "%s\n", line);
    fflush(stderr);
}

void vgpu__say(const char *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(call, format, args);
    va_end(args);
}

cudaError_t vgpu__refuse(cudaError_t error, const char *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(call, format, args);
    va_end(args);
    vgpu__blame_call(call);
    return vgpu__record(error);
}
