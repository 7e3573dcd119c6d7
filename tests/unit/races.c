/* SPDX-License-Identifier: MIT
 * races.c: which accesses race.c reports, against all pairs of random graphs: an operation is
 * told of just when some earlier one uses a byte of it, one of the two writes, and nothing orders
 * them.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "device_memory.h"
#include "machine.h"
#include "order.h"
#include "process.h"
#include "race.h"
#include "race_report.h"
#include "races.h"
#include "unit.h"

enum { OPS = 90, STREAMS = 4, GRAPHS = 40, BYTES = 4096 };

static struct topology topology;
static struct process *process;
static uint64_t memory;
static struct vclocks *clocks;
static struct races *detector;
int race_reports;

/* What the linker puts in the place of race_report (--wrap): the sentence itself is not tested. */
void __wrap_race_report(const struct access *a, const struct access *b, const struct place *place);
void __wrap_race_report(const struct access *a, const struct access *b, const struct place *place)
{
    (void)a, (void)b, (void)place;
    race_reports++;
}

static struct {
    struct op *op;
    struct vgpu_span span;
} made[OPS];
static bool before[OPS][OPS];
static int last[STREAMS];
static uint32_t lines[STREAMS];

static void start(void)
{
    char error[512];
    EXPECT(topology_load(&topology, UNIT_ROOT "/vgpu/nodes", "hgx-h200-4", error, sizeof error) ==
               0,
           "%s", error);
    EXPECT(memory_start(&topology.info, error, sizeof error) == 0, "%s", error);
    machine = &topology;
    clocks = vclocks_new();
    detector = races_new(clocks);
    EXPECT(clocks && detector, "%s", "no memory");
    vclocks_start(clocks);
    process = process_new(order_new(), 1, "races", error, sizeof error);
    EXPECT(process, "%s", error);
    process->checks = VGPU_CHECK_ORDER;
    memory = memory_take(&process->memory, 0, BYTES, 0);
    EXPECT(memory, "%s", "no device memory");
}

static void come_after(int op, int dep)
{
    vclocks_after(clocks, made[op].op, made[dep].op);
    before[dep][op] = true;
    for (int a = 0; a < OPS; a++)
        before[a][op] |= before[a][dep];
}

static struct vgpu_span any_span(void)
{
    struct vgpu_span s = {.address = memory + 8 * unit_dice(120), .bytes = 4 + unit_dice(60)};
    s.stride = s.bytes + unit_dice(90);
    s.count = 1 + unit_dice(unit_dice(3) ? 2 : 12);
    s.use = unit_dice(5) < 3 ? VGPU_USE_READ : unit_dice(3) ? VGPU_USE_WRITE : VGPU_USE_ATOMIC;
    return s;
}

static bool touches_byte(const struct vgpu_span *s, uint64_t address)
{
    return address >= s->address && (address - s->address) / s->stride < s->count &&
           (address - s->address) % s->stride < s->bytes;
}

static bool share_a_byte(const struct vgpu_span *a, const struct vgpu_span *b)
{
    for (uint64_t at = memory; at < memory + BYTES; at++)
        if (touches_byte(a, at) && touches_byte(b, at))
            return true;
    return false;
}

/* What the detector has to find out about operation `i`. */
static bool races(int i)
{
    for (int k = 0; k < i; k++) {
        const struct vgpu_span *a = &made[i].span, *b = &made[k].span;
        bool reads = a->use == VGPU_USE_READ && b->use == VGPU_USE_READ;
        bool atomics = a->use == VGPU_USE_ATOMIC && b->use == VGPU_USE_ATOMIC;
        if (!before[k][i] && !reads && !atomics && share_a_byte(a, b))
            return true;
    }
    return false;
}

static bool detected(int i)
{
    race_reports = 0;
    races_note_spans(detector, made[i].op, &made[i].span, 1);
    return race_reports > 0;
}

static void issue(int i)
{
    int stream = (int)unit_dice(STREAMS);
    made[i].op = op_new(process, 0, OP_KERNEL);
    made[i].span = any_span();
    if (last[stream] >= 0)
        come_after(i, last[stream]);
    for (int n = 0; n < 2 && i > 0; n++)
        if (unit_dice(3) == 0)
            come_after(i, (int)unit_dice((uint64_t)i));
    vclocks_issue(clocks, made[i].op, lines[stream]);
    last[stream] = i;
}

/* How wrong the detector is made for the test of the test. */
enum wrong { RIGHT, DEAF, SUSPICIOUS, CONFUSED };

static bool answer(enum wrong wrong, int i)
{
    bool found = detected(i);
    return wrong == DEAF         ? false
           : wrong == SUSPICIOUS ? true
           : wrong == CONFUSED   ? found && unit_dice(50) > 0
                                 : found;
}

static const char *check_graph(uint64_t seed, enum wrong wrong)
{
    const char *found = NULL;
    unit_seed(seed);
    memset(before, 0, sizeof before);
    for (int s = 0; s < STREAMS; s++) {
        last[s] = -1;
        lines[s] = vclocks_component(clocks);
    }
    int count = 0;
    for (; count < OPS && !found; count++) {
        issue(count);
        bool expected = races(count);
        if (answer(wrong, count) != expected)
            found = unit_says("graph %llu: operation %d %s", (unsigned long long)seed, count,
                              expected ? "is in a race, and nothing is told"
                                       : "is in no race, and something is told");
    }
    races_forget(detector, memory);
    for (int i = 0; i < count; i++)
        vclocks_free(made[i].op), op_drop(made[i].op);
    for (int s = 0; s < STREAMS; s++)
        vclocks_component_end(clocks, lines[s]);
    vclocks_all_seen(clocks);
    return found;
}

UNIT(races_are_found_and_nothing_else)
{
    start();
    for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
        const char *wrong = check_graph(seed, RIGHT);
        EXPECT(!wrong, "%s", wrong);
    }
}

/* Two nodes in one process: what one keeps is no race of the other's. */
UNIT(races_of_two_nodes_are_apart)
{
    start();
    struct races *other = races_new(clocks);
    struct op *writer = op_new(process, 0, OP_KERNEL), *reader = op_new(process, 0, OP_KERNEL);
    struct vgpu_span write = {memory, 64, 64, 1, VGPU_USE_WRITE},
                     read = {memory, 64, 64, 1, VGPU_USE_READ};
    vclocks_issue(clocks, writer, vclocks_component(clocks));
    vclocks_issue(clocks, reader, vclocks_component(clocks));
    race_reports = 0;
    races_note_spans(detector, writer, &write, 1);
    races_note_spans(other, reader, &read, 1);
    EXPECT(race_reports == 0, "%d races between two nodes", race_reports);
    races_note_spans(detector, reader, &read, 1);
    EXPECT(race_reports == 1, "%d races in one node", race_reports);
    races_end(other);
    races_end(detector);
    vclocks_free(writer), op_drop(writer);
    vclocks_free(reader), op_drop(reader);
    vclocks_end(clocks);
}

UNIT(wrong_race_detectors_are_rejected)
{
    start();
    REJECTS(check_graph(1, DEAF), "a detector that finds nothing");
    REJECTS(check_graph(2, SUSPICIOUS), "a detector that suspects everything");
    REJECTS(check_graph(3, CONFUSED), "a detector that forgets one race in fifty");
}
