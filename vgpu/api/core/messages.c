/* SPDX-License-Identifier: MIT
 * messages.c: messages on stderr for the user of the program. Each distinct message is printed
 * once, so a mistake in a loop does not fill the screen. There are no locks, so that a thread never
 * waits for another one that was lost in a fork or that blocks on a full pipe.
 */
#include "core.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRINTED_MAX 1024

static _Atomic uint64_t printed_hashes[PRINTED_MAX];

static uint64_t hash_of(const char *text)
{
    uint64_t hash = 14695981039346656037ull;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211ull;
    return hash ? hash : 1;
}

/* True the first time. Also true if the table is full: a repeated message is better than none. */
static bool is_new_message(const char *text)
{
    uint64_t hash = hash_of(text);
    for (size_t i = 0; i < PRINTED_MAX; i++) {
        _Atomic uint64_t *slot = &printed_hashes[(hash + i) % PRINTED_MAX];
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

bool (*vgpu__refusal_hook)(uint64_t caller);

/* Whether the refusal of the call in progress is printed. */
static bool tells_refusal(void)
{
    return !vgpu__refusal_hook || vgpu__refusal_hook(vgpu__caller());
}

static void print_message(const char *call, const char *format, va_list args)
{
    char line[3072]; /* of the longest explanation of the node, and its call */
    int head = snprintf(line, sizeof line, "vgpu: %s: ", call);
    if (head < 0 || (size_t)head >= sizeof line)
        return;
    vsnprintf(line + head, sizeof line - (size_t)head, format, args);
    if (vgpu__quiet() || !is_new_message(line))
        return;
    fprintf(stderr, "%s\n", line);
    fflush(stderr);
}

void vgpu__message(const char *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_message(call, format, args);
    va_end(args);
}

cudaError_t vgpu__refuse(cudaError_t error, const char *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (tells_refusal())
        print_message(call, format, args);
    va_end(args);
    vgpu__call_named(call);
    return vgpu__record(error);
}

cudaError_t vgpu__no_memory(const char *call)
{
    return vgpu__refuse(
        cudaErrorMemoryAllocation, call ? call : vgpu__self.unchecked.current,
        "the program itself has no memory left for what the call needs (malloc fails): is it "
        "limited (ulimit -v, a job's limit)? This is host memory, not the GPU's");
}

/* ---- texts of the node ---- */

static bool is_finding(const char *text)
{
    return strncmp(text, "finding: ", 9) == 0 || strncmp(text, "advice: ", 8) == 0;
}

/* The start of the next finding in `text`, or the end of the text. */
static char *next_finding(char *text)
{
    char *at = text;
    while ((at = strchr(at, '\n')))
        if (is_finding(++at))
            return at;
    return text + strlen(text);
}

void vgpu__explain(const char *call, cudaError_t error, const char *explain)
{
    char text[2800];
    bool refusal =
        error != cudaSuccess && error < cudaErrorIllegalAddress; /* no work that failed */
    if (vgpu__quiet())
        return;
    vgpu__unmark(explain, text, sizeof text);
    for (char *at = text, *next; *at; at = next) {
        next = next_finding(at);
        if (next[-1] == '\n')
            next[-1] = '\0';
        if (!refusal || is_finding(at) || tells_refusal())
            vgpu__message(call, "%s", at);
    }
}
