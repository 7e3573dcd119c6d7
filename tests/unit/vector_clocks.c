/* SPDX-License-Identifier: MIT
 * vector_clocks.c: what vector_clock.c knows to come before what, against the transitive closure of
 * random graphs.
 */
#include "vector_clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

enum { OPS = 120, STREAMS = 6, GRAPHS = 60 };

static struct vclocks *clocks;

static struct vclocks *new_clocks(void)
{
    struct vclocks *v = vclocks_new();
    EXPECT(v, "%s", "no memory");
    vclocks_start(v);
    return v;
}

static bool is_ordered(const struct op *a, const struct op *b)
{
    return vclocks_ordered(clocks, a, b);
}

/* A graph of operations, as streams, events and waits of the host make them. */
static struct op *ops[OPS];
static bool before[OPS][OPS]; /* [a][b]: a comes before b */
static bool seen[OPS];        /* the host knows that it is over */
static int last[STREAMS];     /* of each stream; -1: none */
static uint32_t lines[STREAMS];

static void come_after(int op, int dep)
{
    if (dep < 0 || before[dep][op])
        return;
    vclocks_after(clocks, ops[op], ops[dep]);
    before[dep][op] = true;
    for (int a = 0; a < OPS; a++)
        before[a][op] |= before[a][dep];
}

/* The host waits for some operation: all that comes before it is over, too. */
static void see(int op)
{
    vclocks_seen(clocks, ops[op]);
    seen[op] = true;
    for (int a = 0; a < OPS; a++)
        seen[a] |= before[a][op];
}

static void issue(int op)
{
    int stream = (int)unit_dice(STREAMS);
    come_after(op, last[stream]);
    for (int i = 0; i < 3 && op > 0; i++)
        if (unit_dice(4) == 0)
            come_after(op, (int)unit_dice((uint64_t)op));
    for (int a = 0; a < op; a++)
        before[a][op] |= seen[a];
    vclocks_issue(clocks, ops[op], lines[stream]);
    last[stream] = op;
    if (unit_dice(5) == 0)
        see((int)unit_dice((uint64_t)op + 1));
}

static void make_graph(uint64_t seed)
{
    unit_seed(seed);
    memset(before, 0, sizeof before);
    memset(seen, 0, sizeof seen);
    for (int s = 0; s < STREAMS; s++) {
        last[s] = -1;
        lines[s] = vclocks_component(clocks);
    }
    for (int i = 0; i < OPS; i++) {
        ops[i] = calloc(1, sizeof *ops[i]);
        ops[i]->refs = 1;
        issue(i);
    }
}

static void end_graph(void)
{
    see(last[0] < 0 ? 0 : last[0]);
    for (int i = 0; i < OPS; i++) {
        vclocks_free(ops[i]);
        free(ops[i]);
    }
    vclocks_all_seen(clocks);
    for (int s = 0; s < STREAMS; s++)
        vclocks_component_end(clocks, lines[s]);
}

typedef bool comparison(const struct op *a, const struct op *b);

/* NULL: `says_before` and `says_ordered` say what the closure says. */
static const char *check_graph(comparison *says_before, comparison *says_ordered)
{
    for (int a = 0; a < OPS; a++)
        for (int b = 0; b < OPS; b++) {
            if (a == b)
                continue;
            if (says_before(ops[a], ops[b]) != before[a][b])
                return unit_says("operation %d %s before %d", a, before[a][b] ? "is" : "is not", b);
            if (says_ordered(ops[a], ops[b]) != (before[a][b] || before[b][a]))
                return unit_says("operations %d and %d %s ordered", a, b,
                                 before[a][b] || before[b][a] ? "are" : "are not");
        }
    for (int a = 0; a < OPS; a++) {
        struct vgpu_step step = {.component = ops[a]->check.component,
                                 .number = ops[a]->check.number};
        if (vclocks_known_to_host(clocks, ops[a]) != seen[a] ||
            vclocks_known_step(clocks, step) != seen[a])
            return unit_says("the host %s that operation %d is over",
                             seen[a] ? "knows" : "does not know", a);
    }
    return NULL;
}

UNIT(vector_clocks_are_the_transitive_closure)
{
    clocks = new_clocks();
    for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
        make_graph(seed);
        const char *wrong = check_graph(vclocks_before, is_ordered);
        EXPECT(!wrong, "graph %llu: %s", (unsigned long long)seed, wrong);
        end_graph();
    }
}

/* Mistakes: the order of issue, one line for all, and each line alone. */
static bool by_issue(const struct op *a, const struct op *b)
{
    return a->check.number < b->check.number || vclocks_before(a, b);
}

static bool by_line(const struct op *a, const struct op *b)
{
    return a->check.component == b->check.component && a->check.number < b->check.number;
}

static bool never(const struct op *a, const struct op *b)
{
    (void)a, (void)b;
    return false;
}

UNIT(wrong_orders_are_rejected)
{
    clocks = new_clocks();
    make_graph(1);
    REJECTS(check_graph(by_issue, is_ordered), "the order of issue");
    REJECTS(check_graph(by_line, is_ordered), "streams that never wait for each other");
    REJECTS(check_graph(vclocks_before, never), "an order of nothing");
    end_graph();
}

UNIT(a_new_stream_on_an_old_line_comes_after_its_past)
{
    clocks = new_clocks();
    make_graph(3);
    end_graph();
    make_graph(4); /* on the lines that were given back */
    const char *wrong = check_graph(vclocks_before, is_ordered);
    EXPECT(!wrong, "%s", wrong);
    end_graph();
}

/* Kernels tell each other by memory: what the storing one knew, the polling one hears of, if there
 * was a fence. */
static struct op *kernel(int device)
{
    struct op *op = calloc(1, sizeof *op);
    op->kind = OP_KERNEL;
    op->refs = 2;
    op->device = device;
    vclocks_issue(clocks, op, vclocks_component(clocks));
    return op;
}

static struct vgpu_signals stores(uint64_t address, bool fenced)
{
    struct vgpu_signals signals = {.stored_count = 1, .fenced = fenced};
    signals.stored[0] = address;
    return signals;
}

static struct vgpu_signals polls(uint64_t address)
{
    struct vgpu_signals signals = {.polled_count = 1};
    signals.polled[0] = address;
    return signals;
}

UNIT(kernels_hear_of_each_other_by_memory)
{
    const uint64_t flag = VGPU_ARENA_VA + 64, other = VGPU_ARENA_VA + 128;
    clocks = new_clocks();
    struct op *writer = kernel(0), *reader = kernel(1), *deaf = kernel(1), *unfenced = kernel(0),
              *late = kernel(1);
    struct vgpu_signals signals = stores(flag, true);
    vclocks_signals(clocks, writer, &signals);
    signals = polls(flag);
    vclocks_signals(clocks, reader, &signals);
    signals = polls(other);
    vclocks_signals(clocks, deaf, &signals);
    EXPECT(!is_ordered(writer, reader), "%s", "by the graph nothing orders them");
    EXPECT(vclocks_ordered_by_memory(clocks, writer, reader), "%s",
           "the reader has not heard of the writer");
    EXPECT(!vclocks_ordered_by_memory(clocks, writer, deaf), "%s", "it polled another word");
    signals = stores(other, false);
    vclocks_signals(clocks, unfenced, &signals);
    signals = polls(other);
    vclocks_signals(clocks, late, &signals);
    EXPECT(!vclocks_ordered_by_memory(clocks, unfenced, late), "%s",
           "without a fence nothing is told to another GPU");
    EXPECT(vclocks_unfenced(unfenced, late), "%s", "that the fence is missing is not known");
    struct op *all[] = {writer, reader, deaf, unfenced, late};
    for (int i = 0; i < 5; i++)
        vclocks_seen(clocks, all[i]);
    vclocks_all_seen(clocks);
    vclocks_quiescent(clocks);
    for (int i = 0; i < 5; i++) {
        EXPECT(all[i]->refs == 2, "kernel %d is kept after the host knows it to be over", i);
        vclocks_free(all[i]);
        free(all[i]);
    }
}

/* Two nodes in one process: what one learns the other does not. */
UNIT(clocks_of_two_nodes_are_apart)
{
    struct vclocks *first = new_clocks(), *second = new_clocks();
    for (uint64_t seed = 1; seed <= 4; seed++) {
        clocks = seed % 2 ? first : second;
        make_graph(seed);
        const char *wrong = check_graph(vclocks_before, is_ordered);
        EXPECT(!wrong, "graph %llu: %s", (unsigned long long)seed, wrong);
        end_graph();
    }
    uint32_t learned = vclocks_learned(second);
    vclocks_all_seen(first);
    EXPECT(vclocks_learned(second) == learned, "%s",
           "the second learns of what the first has seen");
    vclocks_end(first);
    vclocks_end(second);
}
