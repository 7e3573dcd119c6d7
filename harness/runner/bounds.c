/* SPDX-License-Identifier: MIT
 * bounds.c: ends the program where a learner's function uses an element that its array does not
 * have. Labs are compiled with -fsanitize=bounds (harness/cmake/lab_build.cmake), and this is the
 * one function of UndefinedBehaviorSanitizer's library that it needs. With the library, it has that
 * one's.
 */
#include "runner_internal.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* What the compiler tells; its names begin with a line, and have no header. */
struct type {
    uint16_t kind, info; /* of a whole number: bit 0, signed; from bit 1 on, log2 of its bits */
    char name[];         /* as 'int [4]', quotes included */
};
struct access {
    const char *file;
    uint32_t line, column;
    const struct type *array, *index;
};

/* As gcc declares it where it uses that library. */
void __ubsan_handle_out_of_bounds_abort(void *access, void *index) __attribute__((weak, noreturn));

static long long value_of(const struct type *type, uintptr_t bits)
{
    int unused = 64 - (1 << (type->info >> 1));
    if (unused <= 0 || unused > 63)
        return (long long)bits;
    uint64_t high = (uint64_t)bits << unused;
    return type->info & 1 ? (int64_t)high >> unused : (int64_t)(high >> unused);
}

void __ubsan_handle_out_of_bounds_abort(void *told, void *index)
{
    const struct access *access = told;
    const long long value = value_of(access->index, (uintptr_t)index);
    char text[160];
    snprintf(text, sizeof text, "element %lld%s of an array %s", value,
             value < 0 ? ", which is negative," : "", access->array->name);
    if (lab__status)
        lab__index_outside(access->file, (int)access->line, text);
    else
        fprintf(stderr, "%s:%u: there is no %s\n", access->file, access->line, text);
    raise(SIGTRAP); /* stops a debugger here */
    abort();
}
