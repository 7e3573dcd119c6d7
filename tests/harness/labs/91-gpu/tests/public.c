/* SPDX-License-Identifier: MIT */
#include "case.h"

#include "io.h"

static struct lab_run *relay(struct lab_test *t, int bytes)
{
    return lab_run(t, "relay", &bytes, sizeof bytes, sizeof(struct relay_out));
}

/* On every shape the program sees the GPUs that the verifier sees. */
static void check_shapes(struct lab_test *t)
{
    static const struct {
        const char *node;
        int gpus;
    } shapes[] = {
        {"hgx-h200-4", 4}, {"single", 1}, {"none", 0}, {"dgx-a100", 8}, {"pcie-4090-2", 2}};
    for (int i = 0; i < 5; i++) {
        lab_node(t, shapes[i].node);
        const struct relay_out *out = lab_output(relay(t, 100));
        lab_expect(t, out->gpus == shapes[i].gpus && lab_gpus(t) == out->gpus,
                   "%s: the program sees %d GPUs, the verifier %d", shapes[i].node, out->gpus,
                   lab_gpus(t));
    }
}

static void check_seen(struct lab_test *t)
{
    const struct lab_run *run = relay(t, 12345);
    const struct lab_witness *w = lab_witness(run);
    lab_expect(t, w->mallocs == 2 && w->host_allocs == 1, "%u mallocs, %u pinned", w->mallocs,
               w->host_allocs);
    const int last = lab_gpus(t) - 1;
    lab_expect(t, w->copied[LAB_HOST][0] == 12345 && w->copied[0][last] == 12345,
               "copied %llu from the host and %llu on", (unsigned long long)w->copied[LAB_HOST][0],
               (unsigned long long)w->copied[0][last]);
    lab_expect(t,
               w->record_count == 2 && w->records[1].from == 0 && w->records[1].to == last &&
                   w->records[1].start_ps >= w->records[0].end_ps && w->now_ps > 0,
               "%u records", w->record_count);
    lab_nothing_leaked(t, run);
}

static void check_unknown_node(struct lab_test *t)
{
    lab_node(t, "no-such-node");
    relay(t, 1);
}

static void check_unsteady(struct lab_test *t)
{
    const struct lab_run *run = lab_run(t, "apart", NULL, 0, 0);
    LAB_LEAST(t, (double)lab_witness(run)->now_ps, 1);
}

static void check_asks(struct lab_test *t)
{
    lab_run(t, "asks", NULL, 0, 0);
    lab_expect(t, false, "refused as it must be");
}

static void check_leaves(struct lab_test *t)
{
    lab_nothing_leaked(t, relay(t, 1));
}

static void check_refuses(struct lab_test *t)
{
    lab_refused_leaked_nothing(t, relay(t, 1));
}

static void check_two_runs(struct lab_test *t)
{
    relay(t, 1);
    relay(t, 2);
}

static void check_second_run(struct lab_test *t)
{
    check_two_runs(t);
    lab_expect(t, false, "the second run gave 2, expected 3");
}

LAB_CASES = {
    {.name = "shapes", .todo = 1, .title = "every node has its GPUs", .check = check_shapes},
    {.name = "seen",
     .todo = 1,
     .title = "the witness saw it all",
     .rule = "what was taken is given back",
     .needs_witness = true,
     .check = check_seen},
    {.name = "unsteady",
     .title = "times that the operating system chose are said to be that",
     .needs_witness = true,
     .check = check_unsteady},
    {.name = "asks", .title = "what the tests ask is not printed", .check = check_asks},
    {.name = "leaves", .todo = 1, .title = "nothing is left", .check = check_leaves},
    {.name = "refuses", .todo = 1, .title = "nothing is left by an error", .check = check_refuses},
    {.name = "two_runs", .todo = 1, .title = "two runs", .check = check_two_runs},
    {.name = "second_run", .todo = 1, .title = "the second is wrong", .check = check_second_run},
    {.name = "unknown", .title = "an unknown node is our mistake", .check = check_unknown_node},
    {.name = NULL},
};
