/* SPDX-License-Identifier: MIT
 * check.h: for the small programs of tests/programs: a CUDA call that must succeed, a condition
 * that must hold. Both say what and where, and end the program.
 */
#ifndef PROGRAMS_CHECK_H
#define PROGRAMS_CHECK_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define MUST(call) must_succeed((call), #call, __FILE__, __LINE__)
#define HOLDS(condition, ...)                                                                      \
    ((condition) ? (void)0                                                                         \
                 : (fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition),                \
                    fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1)))

static inline void must_succeed(cudaError_t error, const char *call, const char *file, int line)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s:%d: %s: %d %s\n", file, line, call, (int)error, cudaGetErrorString(error));
    exit(1);
}

#endif
