/* SPDX-License-Identifier: MIT
 * Not hidden from anybody: cases that drive the harness into its own errors and skips.
 */
#include "case.h"

#include <string.h>

#include "io.h"

static void check_skip(struct lab_test *t)
{
    lab_cannot_run(t, "this needs %d moons", 2);
}

static void check_crash(struct lab_test *t)
{
    volatile char *nowhere = (volatile char *)(size_t)(lab_random(t) * 0);
    *nowhere = 1;
}

static void check_greedy(struct lab_test *t)
{
    int in = 1;
    lab_node(t, NULL);
    lab_run(t, "greedy", &in, sizeof in, sizeof in);
}

static void check_unknown(struct lab_test *t)
{
    int in = 1;
    lab_node(t, NULL);
    lab_run(t, "unknown", &in, sizeof in, sizeof in);
}

/* The student's process sees the variables the case gives it, and none of its caller's. */
static void check_env(struct lab_test *t)
{
    int in = 4;
    lab_node(t, NULL);
    lab_env(t, "TOY_BONUS", "3");
    struct lab_run *run = lab_run(t, "one", &in, sizeof in, sizeof in);
    const int *out = lab_output(run);
    lab_expect(t, *out == 11, "got %d, expected 11", *out);
    lab_expect(t, strcmp(lab_stdout(run), "bonus 3\n") == 0, "printed '%s'", lab_stdout(run));
}

static void check_close(struct lab_test *t)
{
    double zero = (double)lab_random(t) * 0;
    lab_close(t, "sum", 1.0, 1.05, 0.1);
    lab_close(t, "not a number", zero / zero, zero / zero, 1e9);
}

static void check_bytes(struct lab_test *t)
{
    lab_same_bytes(t, "chunk of rank 2", "abcdefgh", "aBCDEFGh", 8);
}

/* clang-format off */
LAB_CASES = {
    {.name = "skip", .check = check_skip, .title = "skips"},
    {.name = "crash", .check = check_crash, .title = "crashes itself"},
    {.name = "greedy", .check = check_greedy, .title = "adapter and case do not fit"},
    {.name = "unknown", .check = check_unknown, .title = "no such adapter"},
    {.name = "env", .check = check_env, .title = "the case's variables arrive"},
    {.name = "close", .check = check_close, .title = "NaN is near nothing"},
    {.name = "bytes", .check = check_bytes, .title = "five differences are enough"},
    {.name = NULL},
};
