/* SPDX-License-Identifier: MIT
 * cases.h: a program of many small ones, each of which makes one mistake (WRONG) or looks as if it
 * did (RIGHT). Without an argument it lists them; with a name it runs that one.
 *
 * The lines that a finding must name carry the case's name behind "//!".
 */
#ifndef CASES_H
#define CASES_H

#include <cstdio>
#include <cstdlib>
#include <cstring>

constexpr int COUNT = 1 << 14; /* of the integers that each case gets; they are 0, 1, 2, ... */

typedef void (*case_body)(int *data);

struct test_case {
    const char *name, *code;
    case_body body;
    test_case *next;
    test_case(const char *n, const char *c, case_body b);
};

static test_case *all_cases;

test_case::test_case(const char *n, const char *c, case_body b) : name(n), code(c), body(b)
{
    next = all_cases;
    all_cases = this;
}

#define CASE_(name, code)                                                                          \
    static void run_##name(int *data);                                                             \
    static test_case case_##name(#name, code, run_##name);                                         \
    static void run_##name(int *data)
#define WRONG(name, code) CASE_(name, code)
#define RIGHT(name) CASE_(name, "")

static void must(const char *what, cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(3);
}

#define MUST(call) must(#call, call)

static int run_case(const test_case *c)
{
    int *data, *start = (int *)malloc(COUNT * sizeof *start);
    for (int i = 0; i < COUNT; i++)
        start[i] = i;
    MUST(cudaMalloc(&data, COUNT * sizeof *data));
    MUST(cudaMemcpy(data, start, COUNT * sizeof *data, cudaMemcpyHostToDevice));
    c->body(data);
    MUST(cudaGetLastError());
    MUST(cudaDeviceSynchronize());
    MUST(cudaFree(data));
    free(start);
    return 0;
}

int main(int count, char **words)
{
    for (const test_case *c = all_cases; c; c = c->next)
        if (count < 2)
            printf("%s %s\n", c->name, *c->code ? c->code : "-");
        else if (strcmp(c->name, words[1]) == 0)
            return run_case(c);
    return count < 2 ? 0 : 2;
}

#endif
