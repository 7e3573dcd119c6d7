/* SPDX-License-Identifier: MIT
 * list.c: prints the cases of a lab's tests while the build is being configured.
 *
 * CMake compiles it with only public.c or hidden.c, to list the tests' names; it defines labcheck's
 * functions as stubs, which are never called. Prints one line per case:
 * name|todo|points|quick|gpus|timed|no_memcheck, where gpus is the number that ctest assigns.
 */
#include "case.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    for (const struct lab_case *c = lab_cases; c->name; c++)
        printf("%s|%d|%d|%d|%d|%d|%d\n", c->name, c->todo, c->points, c->quick,
               c->wants_gpus > c->min_gpus ? c->wants_gpus : c->min_gpus, c->timed, c->no_memcheck);
    return 0;
}

#define STAND_IN(result, name, ...)                                                                \
    result name(__VA_ARGS__)                                                                       \
    {                                                                                              \
        abort();                                                                                   \
    }

#pragma GCC diagnostic ignored "-Wunused-parameter"
STAND_IN(void, lab_node, struct lab_test *t, const char *node)
STAND_IN(void, lab_env, struct lab_test *t, const char *name, const char *value)
STAND_IN(void, lab_fault, struct lab_test *t, const char *words)
STAND_IN(uint64_t, lab_random, struct lab_test *t)
STAND_IN(uint64_t, lab_secret, struct lab_test *t)
STAND_IN(void, lab_seal, struct lab_test *t, const void *input, size_t input_bytes,
         size_t output_bytes)
STAND_IN(const void *, lab_sealed_output, const struct lab_run *run)
STAND_IN(int, lab_gpus, struct lab_test *t)
STAND_IN(bool, lab_is_virtual, struct lab_test *t)
STAND_IN(bool, lab_device, struct lab_test *t, int gpu, struct lab_device *to)
STAND_IN(struct lab_run *, lab_run, struct lab_test *t, const char *what, const void *input,
         size_t input_bytes, size_t output_bytes)
STAND_IN(const void *, lab_output, const struct lab_run *run)
STAND_IN(const char *, lab_stdout, const struct lab_run *run)
STAND_IN(const struct lab_witness *, lab_witness, const struct lab_run *run)
STAND_IN(const struct lab_record *, lab_told, const struct lab_run *run, double seconds,
         const struct lab_record *after)
STAND_IN(uint64_t, lab_copied_within, const struct lab_run *run, const struct lab_record *window,
         int from, int to)
STAND_IN(struct lab_kernels, lab_kernels_within, const struct lab_run *run,
         const struct lab_record *window, int gpu)
STAND_IN(void, lab_no_host_memory, struct lab_test *t, const struct lab_run *run, const char *what)
STAND_IN(void, lab_host_bytes, struct lab_test *t, const struct lab_run *run, const char *what,
         uint64_t down, uint64_t up)
STAND_IN(void, lab_fail, struct lab_test *t, const char *file, int line, const char *condition,
         const char *format, ...)
STAND_IN(void, lab_is_grave, struct lab_test *t, enum lab_grave kind)
STAND_IN(void, lab_cannot_run, struct lab_test *t, const char *format, ...)
STAND_IN(void, lab_same_int, struct lab_test *t, const char *what, const int32_t *got,
         const int32_t *want, size_t n)
STAND_IN(void, lab_same_bytes, struct lab_test *t, const char *what, const void *got,
         const void *want, size_t n)
STAND_IN(void, lab_close, struct lab_test *t, const char *what, double got, double want,
         double tolerance)
STAND_IN(bool, lab_mark_least, struct lab_test *t, const char *where, double value, double least)
STAND_IN(bool, lab_mark_most, struct lab_test *t, const char *where, double value, double most)
STAND_IN(void, lab_mark_close, struct lab_test *t, const char *where, const char *what, double got,
         double want, double tolerance)
STAND_IN(void, lab_nothing_leaked, struct lab_test *t, const struct lab_run *run)
STAND_IN(void, lab_refused_leaked_nothing, struct lab_test *t, const struct lab_run *run)
STAND_IN(void, lab_expect_refused, struct lab_test *t, const char *call,
         const struct lab_refusals *told, int current)
