/* SPDX-License-Identifier: MIT
 * hidden.c: lab 05's hidden tests: other machines, more ranks than GPUs, deaths at other moments.
 */
#include "common.h"

static void check_ring_on(struct lab_test *t, const char *node, int ranks)
{
    struct ring_in in = {.ranks = ranks, .rounds = 5, .die_rank = -1};
    for (int i = 0; i < in.rounds; i++)
        in.bytes[i] = 1 + lab_random(t) % (32 * KIB);
    lab_node(t, node);
    check_ring(t, &in);
}

static void check_eight(struct lab_test *t)
{
    check_ring_on(t, "dgx-a100", 8);
}

static void check_few_gpus(struct lab_test *t)
{
    check_ring_on(t, "single", 3);
    check_ring_on(t, "hgx-h200-4", 6);
}

static void check_close_eight(struct lab_test *t)
{
    lab_node(t, "dgx-a100");
    check_close_of(t, 8);
    const struct failed_out *out = lab_output(lab_run(t, "close_failed", NULL, 0, sizeof *out));
    expect_rc(t,
              "ipc_close of a ring whose stream has failed (a kernel stored through a null "
              "pointer)",
              out->rc, LAB_ECUDA);
    lab_expect(t, out->zeroed,
               "ipc_close of a ring whose stream has failed left something in *ring");
}

static void check_deaths(struct lab_test *t)
{
    lab_node(t, "dgx-a100");
    check_death(t, 5, (int)(lab_random(t) % 5), 1 + (int)(lab_random(t) % 3));
    lab_node(t, "single");
    check_death(t, 2, 0, 1);
}

LAB_CASES = {
    {.name = "eight",
     .title = "eight ranks on eight GPUs",
     .points = 3,
     .needs_witness = true,
     .check = check_eight},
    {.name = "few_gpus",
     .title = "more ranks than GPUs",
     .points = 3,
     .needs_witness = true,
     .check = check_few_gpus},
    {.name = "close_eight",
     .todo = 6,
     .title = "ipc_close with eight ranks, and of a stream that failed",
     .points = 3,
     .needs_witness = true,
     .check = check_close_eight},
    {.name = "deaths",
     .todo = 7,
     .title = "a rank that dies at another moment",
     .points = 3,
     .needs_witness = true,
     .check = check_deaths},
    {0},
};
