/* SPDX-License-Identifier: MIT */
#include "case.h"

#include "io.h"

static void check_one(struct lab_test *t)
{
    int in = (int)(lab_random(t) % 1000);
    lab_node(t, NULL);
    struct lab_run *run = lab_run(t, "one", &in, sizeof in, sizeof in);
    const int *out = lab_output(run);
    lab_expect(t, *out == 2 * in, "toy_double(%d) gave %d, expected %d", in, *out, 2 * in);
}

static void check_all(struct lab_test *t)
{
    struct all_in in = {.n = 7};
    int want[TOY_MAX];
    lab_node(t, NULL);
    for (int i = 0; i < in.n; i++) {
        in.values[i] = (int)(lab_random(t) % 1000);
        want[i] = 2 * in.values[i];
    }
    struct lab_run *run = lab_run(t, "all", &in, sizeof in, sizeof(struct all_out));
    const struct all_out *out = lab_output(run);
    lab_same_int(t, "doubles", out->values, want, (size_t)in.n);
    lab_expect(t, out->values[7] == (int)0xA5A5A5A5, "wrote beyond the %d elements", in.n);
}

static void check_sums(struct lab_test *t)
{
    struct all_in in = {.n = 3, .values = {1, 2, 3}};
    lab_node(t, NULL);
    struct lab_run *run = lab_run(t, "sums", &in, sizeof in, sizeof(struct sum_out));
    const struct sum_out *out = lab_output(run);
    lab_expect(t, out->sum == 6 && out->negative == -6, "got %d and %d, expected 6 and -6",
               out->sum, out->negative);
}

static void check_whole(struct lab_test *t)
{
    check_one(t);
    check_all(t);
    check_sums(t);
}

LAB_CASES = {
    {.name = "one",
     .todo = 1,
     .points = 10,
     .quick = true,
     .check = check_one,
     .title = "a number is doubled",
     .rule = "the contract of toy_double"},
    {.name = "all",
     .todo = 2,
     .points = 20,
     .check = check_all,
     .title = "every element is doubled",
     .rule = "each output has one input",
     .about = "doubles: |twice"},
    {.name = "sums",
     .todo = 3,
     .points = 5,
     .check = check_sums,
     .title = "sums are right",
     .rule = "a sum is a sum"},
    {.name = "whole",
     .todo = 0,
     .points = 5,
     .check = check_whole,
     .title = "all of it together",
     .rule = "parts must fit"},
    {.name = NULL},
};
