/* SPDX-License-Identifier: MIT
 * broken.c: tests of lab 01 that do not do on real GPUs; test_as_real.py must see it of each.
 */
#include "common.h"

/* How the virtual node is told to break something means nothing to a real GPU. */
static void check_count(struct lab_test *t)
{
    lab_fault(t, "alloc:1");
}

/* Whoever wrote this has four GPUs. */
static void check_device(struct lab_test *t)
{
    const struct facts_out *facts =
        lab_output(lab_run(t, "facts", NULL, 0, sizeof(struct facts_out)));
    lab_expect(t, facts->gpus > 3, "there are %d GPUs, and no GPU 3", facts->gpus);
}

/* Real GPUs have run the test of this name. */
static void check_table(struct lab_test *t)
{
    if (!lab_is_virtual(t))
        lab_cannot_run(t, "real GPUs are too much trouble");
}

LAB_CASES = {{.name = "count", .check = check_count},
             {.name = "device", .check = check_device},
             {.name = "table", .check = check_table},
             {.name = NULL}};
