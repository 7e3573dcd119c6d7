/* SPDX-License-Identifier: MIT
 * orders.c: repeats a test that passed in other orders that CUDA allows (VGPU_SCHEDULE: blocks and
 * lanes of a kernel, operations that nothing orders). A result that depends on the default order is
 * correct only by chance.
 */
#include "node.h"
#include "verifier.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char schedule[] = "VGPU_SCHEDULE";

/* Whether other orders exist: a kernel has threads, or another operation could have begun first. */
static bool is_open(const struct lab_run *run)
{
    const struct lab_witness *w = run->witness;
    for (unsigned i = 0; w && i < w->record_count; i++)
        if (w->records[i].kind == LAB_KERNEL)
            return true;
    return w && w->choices > 0;
}

static bool any_open(const struct lab_test *t)
{
    for (const struct lab_run *run = t->runs; run; run = run->next)
        if (is_open(run))
            return true;
    return false;
}

/* Prefixes the message with the order. */
static void name_order(struct lab_test *t, const char *seed)
{
    char first[sizeof t->message.at - 100];
    snprintf(first, sizeof first, "%.*s", (int)sizeof first - 1, t->message.at);
    snprintf(t->message.at, sizeof t->message.at,
             "in another order of what nothing orders (%s=%s; the usual one was right): %s",
             schedule, seed, first);
}

static void run_in_order(struct lab_test *t, const struct lab_case *info,
                         const struct lab_options *options, int order)
{
    char seed[8];
    snprintf(seed, sizeof seed, "%d", order);
    setenv(schedule, seed, 1);
    lab__case_free(t);
    lab__case_run(t, info, options);
    unsetenv(schedule);
    if (t->verdict == LAB_FAIL)
        name_order(t, seed);
}

/* The first order of a case that runs fewer than all orders; it differs between cases. */
static int first_order(const struct lab_case *info, const struct lab_options *options)
{
    unsigned sum = (unsigned)options->seed;
    for (const char *c = info->name; *c; c++)
        sum += (unsigned char)*c;
    return (int)(sum % LAB_ORDERS);
}

void lab__other_orders(struct lab_test *t, const struct lab_case *info,
                       const struct lab_options *options)
{
    const uint64_t now_ps = t->now_ps, timed_ps = t->timed_ps;
    const int node_count = t->node_count;
    char nodes[LAB_NODES_MAX][sizeof t->nodes[0]];
    memcpy(nodes, t->nodes, sizeof nodes);
    const char *asked = getenv(schedule);
    if (!lab__node_virtual() || (asked && *asked) || info->one_order || !any_open(t))
        return;
    const int first = options->orders == LAB_ORDERS ? 0 : first_order(info, options);
    for (int i = 0; i < options->orders && t->verdict == LAB_PASS; i++)
        run_in_order(t, info, options, 1 + (first + i) % LAB_ORDERS);
    t->timed_ps = timed_ps;
    t->now_ps = now_ps; /* reported times and nodes are those of the default order */
    t->node_count = node_count;
    memcpy(t->nodes, nodes, sizeof nodes);
}
