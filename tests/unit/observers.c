/* SPDX-License-Identifier: MIT
 * observers.c: two traces, and the checks twice, in one process. Each knows what it has observed,
 * and nothing else; one that has ended is told of nothing any more.
 */
#include <string.h>

#include "checks.h"
#include "device_memory.h"
#include "machine.h"
#include "observer.h"
#include "order.h"
#include "process.h"
#include "races.h"
#include "sim.h"
#include "trace.h"
#include "unit.h"

static struct topology topology;
static struct process *process;
static struct sim *sim;
static uint64_t memory[2]; /* on GPUs 0 and 1 */

static void start(void)
{
    char error[512];
    EXPECT(topology_load(&topology, UNIT_ROOT "/vgpu/nodes", "hgx-h200-4", error, sizeof error) ==
               0,
           "%s", error);
    EXPECT(memory_start(&topology.info, error, sizeof error) == 0, "%s", error);
    machine = &topology;
    process = process_new(order_new(), 1, "observers", error, sizeof error);
    EXPECT(process, "%s", error);
    process->checks = VGPU_CHECK_ORDER;
    for (int d = 0; d < 2; d++)
        memory[d] = memory_take(&process->memory, d, 4096, 0);
    sim = sim_new(&topology);
    EXPECT(memory[0] && memory[1] && sim, "%s", "no memory");
    sim_observe(sim);
}

/* `count` copies between GPUs, named `call`, from their issue to their end. */
static void run_copies(struct stream *stream, const char *call, int count)
{
    for (int i = 0; i < count; i++) {
        struct op *op = op_new(process, 0, OP_COPY);
        op->direct = true;
        op->to = 1;
        op->from = 0;
        op->u.copy =
            (struct vgpu_copy){.dst = memory[1], .src = memory[0], .bytes = 4096, .rows = 1};
        strcpy(op->call, call);
        stream_push(stream, op);
        EXPECT(sim_pass(sim, UINT64_MAX) == PROGRESS_DONE, "%s", "the clock stands still");
        order_carry_out(op);
        op_drop(op);
    }
}

/* NULL: `trace` has `count` finished records, all of copies named `call`. */
static const char *check_records(const struct trace *trace, const char *call, int count)
{
    struct vgpu_trace_record record[8];
    int found = trace_read(trace, 0, record, 8);
    if (found != count || trace_total(trace) != (uint64_t)count)
        return unit_says("%d records in the place of %d", found, count);
    for (int i = 0; i < count; i++)
        if (strcmp(record[i].name, call) != 0 || record[i].kind != VGPU_TRACE_COPY ||
            record[i].end_ps <= record[i].start_ps)
            return unit_says("record %d is of %s", i, record[i].name);
    return NULL;
}

UNIT(traces_of_two_nodes_are_apart)
{
    start();
    struct stream *stream = stream_new(process, 0, STREAM_NON_BLOCKING, 0);
    struct trace *first = trace_new(&topology), *second = trace_new(&topology);
    EXPECT(first && second && stream, "%s", "no memory");
    trace_observe(first, sim);
    run_copies(stream, "first", 3);
    const char *wrong = check_records(first, "first", 3);
    EXPECT(!wrong, "%s", wrong);
    EXPECT(trace_total(second) == 0, "%s", "a trace has records of what only the other has seen");
    trace_end(first);
    trace_observe(second, sim);
    run_copies(stream, "second", 2);
    wrong = check_records(second, "second", 2);
    EXPECT(!wrong, "%s", wrong);
    REJECTS(check_records(second, "first", 2), "the other trace's records");
    trace_end(second);
    run_copies(stream, "third", 1); /* AddressSanitizer: an ended trace is not told of it */
    sim_end(sim);
}

/* ---- what an observer learns ---- */

static void count_finished(void *self, struct op *op)
{
    int *finished = self;
    finished[op->kind]++;
}

UNIT(marks_finish_unobserved)
{
    int finished[OP_TOUCH + 1] = {0};
    const struct op_observer observer = {.self = finished, .finished = count_finished};
    start();
    struct stream *stream = stream_new(process, 0, STREAM_NON_BLOCKING, 0);
    op_observe(&observer);
    run_copies(stream, "copy", 2);
    struct op *mark = stream_mark(stream, 0);
    EXPECT(mark->finished && finished[OP_COPY] == 2 && finished[OP_MARK] == 0,
           "%d copies and %d marks", finished[OP_COPY], finished[OP_MARK]);
    op_drop(mark);
    op_unobserve(&observer);
    sim_end(sim);
}

/* ---- checks ---- */

static struct checks *new_checks(void)
{
    struct checks *checks = checks_new();
    EXPECT(checks, "%s", "no memory for checks");
    checks_start_races(checks);
    return checks;
}

/* How many races are reported of a copy in a stream of its own. */
static int count_races(void)
{
    struct stream *stream = stream_new(process, 0, STREAM_NON_BLOCKING, 0);
    EXPECT(stream, "%s", "no memory");
    race_reports = 0;
    run_copies(stream, "copy", 1);
    return race_reports;
}

static void take_memory_anew(void)
{
    uint64_t before = memory[1];
    EXPECT(memory_give(&process->memory, before), "%s", "not given back");
    memory[1] = memory_take(&process->memory, 1, 4096, 0);
    EXPECT(memory[1] == before, "%s", "other memory");
}

UNIT(checks_of_two_nodes_are_apart)
{
    start();
    struct checks *first = new_checks(), *second = new_checks();
    checks_observe(first);
    EXPECT(count_races() == 0 && count_races() == 1, "%d races in one node", race_reports);
    checks_end(first);
    EXPECT(count_races() == 0, "%d races after the end of the checks", race_reports);
    checks_observe(second);
    EXPECT(count_races() == 0, "%d races with what the other has seen", race_reports);
    EXPECT(count_races() == 1, "%d races in the other node", race_reports);
    checks_end(second);
    sim_end(sim);
}

/* Memory that is given back is forgotten, also after other checks have ended. */
UNIT(checks_that_end_leave_others_their_memory)
{
    start();
    struct checks *first = new_checks(), *second = new_checks();
    checks_observe(first);
    EXPECT(count_races() == 0, "%d races of one copy", race_reports);
    checks_end(second);
    take_memory_anew();
    EXPECT(count_races() == 0, "%d races with memory that was given back", race_reports);
    EXPECT(count_races() == 1, "%d races in new memory", race_reports);
    checks_end(first);
    sim_end(sim);
}
