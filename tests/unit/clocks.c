/* SPDX-License-Identifier: MIT
 * clocks.c: two clocks in one process. What one of them has seen, or still has to do, changes no
 * time of the other's.
 */
#include <stdlib.h>

#include "machine.h"
#include "device_memory.h"
#include "observer.h"
#include "order.h"
#include "process.h"
#include "sim.h"
#include "unit.h"

enum { COPIES = 60 };

static struct topology topology;
static struct process *process;
static uint64_t memory[2]; /* on GPUs 0 and 1 */

static void start(void)
{
    char error[512];
    EXPECT(topology_load(&topology, UNIT_ROOT "/vgpu/nodes", "hgx-h200-4", error, sizeof error) ==
               0,
           "%s", error);
    EXPECT(memory_start(&topology.info, error, sizeof error) == 0, "%s", error);
    machine = &topology;
    process = process_new(order_new(), 1, "clocks", error, sizeof error);
    EXPECT(process, "%s", error);
    for (int d = 0; d < 2; d++) {
        memory[d] = memory_take(&process->memory, d, 1 << 20, 0);
        EXPECT(memory[d], "no memory on GPU %d", d);
    }
}

/* A copy in no stream. The caller has a reference. */
static struct op *submit_copy(uint64_t issue_ps)
{
    int from = (int)unit_dice(2);
    struct op *op = op_new(process, from, OP_COPY);
    op->issue_ps = issue_ps;
    op->direct = true;
    op->from = from;
    op->to = 1 - from;
    op->u.copy = (struct vgpu_copy){
        .src = memory[from], .dst = memory[1 - from], .bytes = 1 + unit_dice(1 << 20), .rows = 1};
    op_submit(op);
    return op;
}

/* When copies of `seed` end, by `sim` alone. */
static void run_copies(struct sim *sim, uint64_t seed, uint64_t *end_ps)
{
    struct op *op[COPIES];
    unit_seed(seed);
    sim_observe(sim);
    for (int i = 0; i < COPIES; i++)
        op[i] = submit_copy(unit_dice(20000000));
    EXPECT(sim_pass(sim, UINT64_MAX) == PROGRESS_DONE, "%s", "the clock stands still");
    for (int i = 0; i < COPIES; i++) {
        EXPECT(op[i]->finished, "copy %d has no end", i);
        end_ps[i] = op[i]->end_ps;
        order_carry_out(op[i]);
        op_drop(op[i]);
    }
    sim_unobserve(sim);
}

static struct sim *new_sim(void)
{
    struct sim *sim = sim_new(&topology);
    EXPECT(sim, "%s", "no memory for a clock");
    return sim;
}

/* NULL: on `sim` the copies of seed 5 end when they ended on a clock of their own. */
static const char *check_times(struct sim *sim, const uint64_t *alone_ps)
{
    uint64_t end_ps[COPIES];
    run_copies(sim, 5, end_ps);
    for (int i = 0; i < COPIES; i++)
        if (end_ps[i] != alone_ps[i])
            return unit_says("copy %d ends at %llu ps, and at %llu ps on a clock of its own", i,
                             (unsigned long long)end_ps[i], (unsigned long long)alone_ps[i]);
    return NULL;
}

UNIT(clocks_of_two_nodes_are_apart_in_time)
{
    uint64_t alone_ps[COPIES], other_ps[COPIES];
    start();
    struct sim *alone = new_sim();
    run_copies(alone, 5, alone_ps);
    sim_end(alone);
    struct sim *first = new_sim(), *second = new_sim();
    run_copies(first, 6, other_ps); /* the first clock is ahead now */
    EXPECT(sim_now(first) > 0 && sim_now(second) == 0, "%s", "they have one time");
    const char *wrong = check_times(second, alone_ps);
    EXPECT(!wrong, "%s", wrong);
    REJECTS(check_times(first, alone_ps), "a clock that has served another program");
    EXPECT(sim_restart(first), "%s", "it does not begin anew");
    wrong = check_times(first, alone_ps);
    EXPECT(!wrong, "begun anew: %s", wrong);
    sim_end(first);
    sim_end(second);
}
