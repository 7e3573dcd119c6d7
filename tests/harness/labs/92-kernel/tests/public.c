/* SPDX-License-Identifier: MIT */
#include "case.h"

#include "io.h"

static void check_doubles(struct lab_test *t)
{
    int in[NUMBERS], want[NUMBERS];
    for (int i = 0; i < NUMBERS; i++)
        want[i] = 2 * (in[i] = (int)(lab_random(t) % 1000));
    const struct double_out *out =
        lab_output(lab_run(t, "twice", in, sizeof in, sizeof(struct double_out)));
    lab_expect(t, out->rc == 0, "kernel_double returned %d, expected 0", out->rc);
    lab_same_int(t, "doubles", out->data, want, NUMBERS);
}

LAB_CASES = {
    {.name = "doubles",
     .todo = 1,
     .title = "each number is doubled",
     .rule = "a kernel that returns is no proof that it was right",
     .min_gpus = 1,
     .check = check_doubles},
    {.name = NULL},
};
