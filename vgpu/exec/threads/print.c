/* SPDX-License-Identifier: MIT
 * print.c: printf and assert in device code.
 *
 * Output is buffered and sent with the kernel's reply; a context has no terminal.
 */
#include "print.h"

#include "fault.h"
#include "finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIFO_BYTES = 1 << 20, LINE_BYTES = 4096 };

static const char dropped_text[] = "[... output dropped]\n";

/* Makes room for `bytes` more, within the FIFO's limit. */
static bool make_room(struct run *run, uint64_t bytes)
{
    if (!run->printed.text)
        run->printed.text = malloc(FIFO_BYTES + sizeof dropped_text);
    return run->printed.text && run->printed.bytes + bytes <= FIFO_BYTES;
}

static void append_text(struct run *run, const char *text, uint64_t bytes)
{
    if (run->printed.dropped)
        return;
    if (!make_room(run, bytes)) {
        run->printed.dropped = true;
        text = dropped_text;
        bytes = run->printed.text ? sizeof dropped_text - 1 : 0;
    }
    if (bytes == 0)
        return;
    memcpy(run->printed.text + run->printed.bytes, text, bytes);
    run->printed.bytes += bytes;
}

uint64_t print_waiting(const struct run *run)
{
    return run->printed.bytes - run->printed.sent_bytes;
}

uint32_t print_take(struct run *run, char *to, uint32_t room)
{
    uint64_t left = print_waiting(run);
    uint32_t bytes = left < room ? (uint32_t)left : room;
    if (bytes)
        memcpy(to, run->printed.text + run->printed.sent_bytes, bytes);
    run->printed.sent_bytes += bytes;
    return bytes;
}

void print_free(struct run *run)
{
    free(run->printed.text);
}

static void append_formatted(const char *format, va_list arguments)
{
    char line[LINE_BYTES];
    int bytes = vsnprintf(line, sizeof line, format, arguments);
    if (bytes > 0)
        append_text(now.run, line,
                    (uint64_t)bytes < sizeof line ? (uint64_t)bytes : sizeof line - 1);
}

static __attribute__((format(printf, 1, 2))) void print_text(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    append_formatted(format, arguments);
    va_end(arguments);
}

/* The number of arguments of a format; -1 if it would write through one. */
static int count_arguments(const char *format)
{
    int count = 0;
    for (const char *at = strchr(format, '%'); at; at = strchr(at, '%')) {
        at++;
        if (*at == '%') {
            at++;
            continue;
        }
        size_t flags = strspn(at, "-+ #0123456789.*hlLqjzt");
        for (size_t i = 0; i < flags; i++)
            count += at[i] == '*';
        at += flags;
        if (*at == 'n')
            return -1;
        count += *at != '\0';
    }
    return count;
}

/* As on a GPU: returns the number of arguments, not of characters. */
OFFERED int vgpu_printf(const char *format, ...)
{
    int count = format ? count_arguments(format) : -1;
    if (count < 0) {
        run_finding(FINDING_PRINT, "printf in a kernel: a null format, or one with %%n, prints "
                                   "nothing");
        return -1;
    }
    va_list arguments;
    va_start(arguments, format);
    append_formatted(format, arguments);
    va_end(arguments);
    return count;
}

/* ---- printf as Clang compiles it for GPUs: the arguments lie in a buffer ---- */

struct arguments {
    const char *at;
};

/* The next argument, which is aligned to its size. */
static const void *next_argument(struct arguments *from, uint64_t bytes)
{
    const char *at = (const char *)(((uintptr_t)from->at + bytes - 1) & -(uintptr_t)bytes);
    from->at = at + bytes;
    return at;
}

static int next_int(struct arguments *from)
{
    int value;
    memcpy(&value, next_argument(from, sizeof value), sizeof value);
    return value;
}

/* Prints one conversion. `directive` is its text, with numbers in place of stars. */
static void print_one(const char *directive, struct arguments *from)
{
    size_t last = strlen(directive) - 1;
    bool wide = strpbrk(directive, "lqjztL") != NULL;
    double real;
    long long whole;
    const char *text;
    switch (directive[last]) {
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
        memcpy(&real, next_argument(from, sizeof real), sizeof real);
        print_text(directive, real);
        return;
    case 's':
    case 'p':
        memcpy(&text, next_argument(from, sizeof text), sizeof text);
        print_text(directive, text);
        return;
    default:
        if (!wide) {
            print_text(directive, next_int(from));
            return;
        }
        memcpy(&whole, next_argument(from, sizeof whole), sizeof whole);
        print_text(directive, whole);
    }
}

/* Copies the directive at `at`, with numbers in place of stars. Returns its end. */
static const char *take_directive(const char *at, char *to, size_t room, struct arguments *from)
{
    size_t used = 0;
    to[used++] = *at++;
    while (*at && strchr("-+ #0123456789.*hlLqjzt", *at) && used + 16 < room) {
        if (*at == '*')
            used += (size_t)snprintf(to + used, room - used, "%d", next_int(from));
        else if (*at != 'L') /* long double is double in device code */
            to[used++] = *at;
        at++;
    }
    to[used] = *at;
    to[used + (*at != '\0')] = '\0';
    return *at ? at + 1 : at;
}

OFFERED int vgpu_vprintf(const char *format, const char *buffer)
{
    struct arguments from = {buffer};
    char directive[128];
    int count = format ? count_arguments(format) : -1;
    if (count < 0) {
        run_finding(FINDING_PRINT, "printf in a kernel: a null format, or one with %%n, prints "
                                   "nothing");
        return -1;
    }
    while (*format) {
        size_t plain = strcspn(format, "%");
        append_text(now.run, format, plain);
        format += plain;
        if (!*format)
            break;
        if (format[1] == '%') {
            append_text(now.run, format, 1);
            format += 2;
            continue;
        }
        format = take_directive(format, directive, sizeof directive, &from);
        print_one(directive, &from);
    }
    return count;
}

OFFERED void vgpu_assert_fail(const char *expr, const char *file, unsigned line, const char *func)
{
    const struct thread *t = now.thread;
    struct vgpu_dim3 b = t->block->idx;
    print_text("%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file,
               line, func, b.x, b.y, b.z, t->idx.x, t->idx.y, t->idx.z, expr);
    char where[96];
    snprintf(where, sizeof where, "%s:%u", file, line);
    fault_place(where);
    fault_raise(VGPU_FAULT_ASSERT, 0, false, 0, "assertion `%s` failed in %s", expr, func);
}
